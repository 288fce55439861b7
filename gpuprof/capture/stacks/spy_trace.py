"""Reads what py-spy wrote in its `chrometrace` format: one thread's stacks and how long each lasted."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuprof.capture.stacks.folding import Frame


class _Place(msgspec.Struct, frozen=True):
    filename: str = ""
    line: int = 0


class _Event(msgspec.Struct, frozen=True):
    """`ts` is in µs since py-spy began; a frame begins (`B`) and ends (`E`) where the stack was seen to change."""

    name: str
    ph: str
    tid: int
    ts: int
    args: _Place = _Place()


def first_us(raw: bytes) -> int | None:
    """When the first stack of any thread was seen; None where none was. msgspec.DecodeError where it is no trace."""
    events = msgspec.json.decode(raw, type=list[_Event])
    return min((each.ts for each in events), default=None)


def read_stacks(raw: bytes, thread: int) -> Iterator[tuple[int, int, tuple[Frame, ...]]]:
    """Begin and end in µs and the frames, outermost first, of each stretch of `thread` (Python's identifier).

    msgspec.DecodeError where it is no trace.
    """
    stack: list[Frame] = []
    since = 0
    for event in msgspec.json.decode(raw, type=list[_Event]):
        if event.tid != thread:
            continue
        if event.ts > since and stack:
            yield since, event.ts, tuple(stack)
        since = event.ts
        if event.ph == "B":
            stack.append((event.args.filename, event.name, event.args.line))
        elif stack:
            stack.pop()
