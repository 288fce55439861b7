from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.capture.stacks.spy_trace import first_us, read_stacks

FRAMES = st.lists(st.tuples(st.sampled_from(["a.py", "b.py"]), st.sampled_from("fgh"), st.integers(1, 4)), max_size=4)


def written(stacks: list[list[tuple[str, str, int]]], step_us: int = 10, thread: int = 7) -> bytes:
    """As py-spy writes it: at each change what has ended, then what has begun."""
    events: list[dict[str, Any]] = []
    before: list[tuple[str, str, int]] = []
    for number, now in enumerate([*stacks, []]):
        at = number * step_us
        same = next((i for i, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), None)
        kept = min(len(before), len(now)) if same is None else same
        changes = [("E", frame) for frame in reversed(before[kept:])] + [("B", frame) for frame in now[kept:]]
        for phase, (file, name, line) in changes:
            args = {"filename": file, "line": line}
            events.append({"args": args, "cat": "py-spy", "name": name, "ph": phase, "pid": 1, "tid": thread, "ts": at})
        before = now
    return json.dumps(events).encode()


@given(st.lists(FRAMES, max_size=8))
def test_the_stacks_come_back_as_they_were(stacks: list[list[tuple[str, str, int]]]) -> None:
    found = {}
    for since, until, stack in read_stacks(written(stacks), 7):
        for at in range(since, until, 10):
            found[at // 10] = list(stack)
    assert found == {number: stack for number, stack in enumerate(stacks) if stack}


def test_other_threads_are_left_out() -> None:
    raw = written([[("a.py", "f", 1)]], thread=8)
    assert list(read_stacks(raw, 7)) == []
    assert first_us(raw) == 0
    assert first_us(b"[]") is None


@pytest.mark.parametrize("raw", [b"", b"{", b'[{"name": 3}]', b"[1]"])
def test_what_is_no_trace_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        list(read_stacks(raw, 7))
