"""Tells, of JSON that is no Kineto trace, what it is instead."""

from __future__ import annotations

import re

MEMORY_TIMELINE = "a bare memory timeline (torch's export_memory_timeline)"
NO_EVENTS = "this is JSON without a list of `traceEvents`"

_FORMATS = (
    (re.compile(rb"speedscope\.app|\"profiles\"\s*:\s*\["), "a speedscope profile"),
    (re.compile(rb"\"schema\"\s*:\s*\"[^\"]*chakra|\"nodes\"\s*:\s*\["), "a Chakra (or PyTorch) execution trace"),
    (re.compile(rb"\"segments\"\s*:\s*\[|\"device_traces\"\s*:"), "a memory snapshot"),
    (re.compile(rb"\"cells\"\s*:\s*\["), "a Jupyter notebook"),
)


def describe(head: bytes) -> str:
    """One phrase for the file whose first bytes are `head`."""
    start = head.lstrip()[:1]
    if start == b"<":
        return "this is HTML or XML, not JSON"
    if head[257:262] == b"ustar":
        return "this is a tar archive; unpack it first"
    if start not in (b"{", b"["):
        return "this is not JSON"
    return next((f"this is {what}" for pattern, what in _FORMATS if pattern.search(head)), NO_EVENTS)
