"""Tells, of JSON that is no Kineto trace, what it is instead."""

from __future__ import annotations

import re

MEMORY_TIMELINE = "a bare memory timeline (torch's export_memory_timeline)"

_FORMATS = (
    (re.compile(rb"speedscope\.app|\"profiles\"\s*:\s*\["), "a speedscope profile"),
    (re.compile(rb"\"schema\"\s*:\s*\"[^\"]*chakra|\"nodes\"\s*:\s*\["), "a Chakra (or PyTorch) execution trace"),
    (re.compile(rb"\s*\[\s*\["), MEMORY_TIMELINE),
    (re.compile(rb"\"segments\"\s*:\s*\[|\"device_traces\"\s*:"), "a memory snapshot"),
    (re.compile(rb"\"cells\"\s*:\s*\["), "a Jupyter notebook"),
    (re.compile(rb"\s*<"), "HTML or XML, not JSON"),
)


def describe(head: bytes) -> str:
    """One phrase for the file whose first bytes are `head`."""
    for pattern, what in _FORMATS:
        if pattern.match(head) if pattern.pattern.startswith(rb"\s*") else pattern.search(head):
            return f"this is {what}"
    return "JSON without `traceEvents`" if head.lstrip()[:1] in (b"{", b"[") else "this is not JSON"


def is_memory_timeline(events: bytes) -> bool:
    """Whether a list, whose text behind the first `[` is given, holds lists instead of events."""
    return events.lstrip()[:1] == b"["
