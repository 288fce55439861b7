"""The reader reads its own process here: what it says is compared with what Python says."""

from __future__ import annotations

import inspect
import io
import itertools
import os
import select
import threading
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gpuprof.capture.stacks import frame_reader
from gpuprof.capture.stacks.frame_layout import frame_layout, thread_state
from gpuprof.capture.stacks.frame_reader import Reader, looked, watch

NO_TEXT = b"\xff" * 40  # the bits of no text stand where a text has its state


@pytest.fixture
def reader() -> Iterator[Reader]:
    own = Reader(os.getpid(), [int(each) for each in frame_layout().arguments(thread_state())])
    yield own
    os.close(own.memory)


def names(reader: Reader, stack: int) -> list[str]:
    return [reader.codes[code][1].decode() for code in reader.stacks[stack][::2]]


def from_c(action: Callable[[], Any]) -> Any:
    """Through `sorted`, a generator and a class: frames that do not lie side by side, or are the interpreter's own."""

    def generator() -> Iterator[Any]:
        yield action()

    class Asked:
        def __len__(self) -> int:
            found.append(next(generator()))
            return 1

    found: list[Any] = []
    sorted([1], key=lambda _: len(Asked()))
    return found[0]


def deep(depth: int, action: Callable[[], Any]) -> Any:
    return action() if depth == 0 else deep(depth - 1, action)


def test_the_frames_are_those_of_the_stack(reader: Reader) -> None:
    def here() -> tuple[int, list[str]]:
        expected = [each.frame.f_code.co_qualname for each in inspect.stack(0)]
        return reader.sample(), expected

    for _ in range(2):  # one by one, then in one go
        for way in (lambda action: action(), from_c, lambda action: deep(30, action)):
            stack, expected = way(here)
            found = [each for each in names(reader, stack) if each != "<interpreter trampoline>"]
            assert found[found.index(expected[0]) :] == expected


def test_file_line_and_texts_of_any_alphabet(reader: Reader) -> None:
    for name in ("plain", "latin_\xe9", "wide_\u0151\u4e2d", "four_\U00010400"):
        source = f"\n\ndef {name}(sample):\n    return (\n        sample())\n"
        space: dict[str, Any] = {}
        exec(compile(source, f"<cell {name}>", "exec"), space)
        function = space[name]
        stack = function(reader.sample)
        places = reader.stacks[stack]
        at = names(reader, stack).index(name)
        file, _, lines, first = reader.codes[places[2 * at]]
        assert file.decode() == f"<cell {name}>"
        assert first == 3
        assert lines == function.__code__.co_linetable
        known = [line for start, end, line in function.__code__.co_lines() if start <= places[2 * at + 1] < end]
        assert known == [5]


def test_the_same_stack_has_one_number(reader: Reader) -> None:
    deep(3, reader.sample)  # the first look reads the frames one by one
    found = {deep(3, reader.sample) for _ in range(5)}
    assert len(found) == 1
    other = deep(4, reader.sample)
    assert other not in found
    assert len({code for stack in reader.stacks for code in stack[::2]}) == len(reader.codes)


def test_what_is_no_frame_is_no_stack(reader: Reader) -> None:
    reader.thread = 8  # no such memory
    assert looked(reader) == -1
    assert not reader.stacks


def test_a_stack_without_end_is_none(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_reader, "MOST_FRAMES", 10)
    assert deep(20, lambda: looked(reader)) == -1


def test_a_stack_without_its_outer_frames_is_read_again(reader: Reader) -> None:
    reader.check([11, 1, 7, 2])
    for cut in ([], [11, 1]):
        with pytest.raises(ValueError, match="cut"):
            reader.check(cut)
    reader.check([12, 1, 7, 3])
    # another thread's outermost frame, say: twice in a row it is no accident
    with pytest.raises(ValueError, match="cut"):
        reader.check([11, 1, 9, 2])
    reader.check([13, 4, 9, 2])
    reader.check([9, 2])


def test_no_text_where_none_is(reader: Reader) -> None:
    with pytest.raises(ValueError, match="no text"):
        reader.text(id(NO_TEXT))
    assert reader.data(id(b"")) == b"" and reader.data(id(b"some")) == b"some"


class Clock:
    """Time that passes only while the reader waits, and what it takes for a look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, waits: int, cost_s: float = 0.0) -> None:
        self.now_s, self.looks, self.waits, self.cost_s = 1000.0, 0, waits, cost_s
        self.due: list[float] = []
        monkeypatch.setattr(frame_reader, "time", self)
        monkeypatch.setattr(select, "select", self.select)

    def monotonic(self) -> float:
        return self.now_s

    def time_ns(self) -> int:
        return int(self.now_s * 1e9)

    def process_time(self) -> float:
        return len(self.due) * self.cost_s

    def select(self, read: Any, write: Any, errors: Any, seconds: float) -> tuple[list[int], list[int], list[int]]:
        self.now_s += seconds
        self.due.append(self.now_s)
        return ([0] if len(self.due) == self.waits else []), [], []

    def period_s(self) -> float:
        """Of the last half of the looks, on average."""
        half = self.due[len(self.due) // 2 :]
        return (half[-1] - half[0]) / (len(half) - 1)


def test_it_looks_once_in_each_period_until_a_byte_comes(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, waits=200)
    times, seen, count, torn = watch(reader)
    assert count == 200 and torn == 0
    assert isinstance(times, array) and len(times) == len(seen) >= 1
    assert all(one != other for one, other in itertools.pairwise(seen))
    places = [(due - 1000) / frame_reader.LEAST_PERIOD_S for due in clock.due]
    assert [int(each) for each in places] == list(range(1, 201))
    assert min(each % 1 for each in places) < 0.1 and max(each % 1 for each in places) > 0.9


def test_what_a_look_takes_sets_how_often(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    for cost_s, period_s in [
        (frame_reader.SHARE * 0.05, 0.05),
        (frame_reader.SHARE, frame_reader.MOST_PERIOD_S),
        (0.0, frame_reader.LEAST_PERIOD_S),
    ]:
        clock = Clock(monkeypatch, waits=300, cost_s=cost_s)
        watch(reader)
        assert clock.period_s() == pytest.approx(period_s, rel=0.05)


def test_with_many_stretches_it_looks_less_often(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    monkeypatch.setattr(Reader, "sample", lambda self: next(numbers))
    for many, times_as_long in [(1000, 1), (300, 2)]:
        monkeypatch.setattr(frame_reader, "MANY", many)
        clock = Clock(monkeypatch, waits=600)
        watch(reader)
        assert clock.period_s() == pytest.approx(times_as_long * frame_reader.LEAST_PERIOD_S, rel=0.05)


def test_looks_that_fail_are_counted(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    reader.thread = 8
    Clock(monkeypatch, waits=10)
    times, seen, count, torn = watch(reader)
    assert (len(times), len(seen), count, torn) == (0, 0, 10, 10)


def test_what_it_writes_is_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    import msgspec

    from gpuprof.capture.stacks.memory_sampler import _Seen

    written = io.StringIO()
    monkeypatch.setattr(written, "close", lambda: None)
    monkeypatch.setattr(os, "fdopen", lambda *_: written)
    monkeypatch.setattr(select, "select", lambda *_: ([0], [], []))
    monkeypatch.setattr("sys.argv", ["", str(os.getpid()), *frame_layout().arguments(thread_state())])
    frame_reader.main()

    seen = msgspec.json.decode(written.getvalue(), type=_Seen)
    assert seen.count == 1 and seen.torn == 0 and seen.stretches == [0]
    assert seen.times[0] <= seen.end_ns and seen.cpu_ns > 0
    assert {bytes.fromhex(each.name).decode() for each in seen.codes} >= {"main", "watch", "looked"}


def test_another_thread_is_read_as_well() -> None:
    ready, done = threading.Event(), threading.Event()
    states: list[int] = []

    def waits() -> None:
        states.append(thread_state())
        ready.set()
        done.wait(30)

    thread = threading.Thread(target=waits)
    thread.start()
    ready.wait(30)
    try:
        reader = Reader(os.getpid(), [int(each) for each in frame_layout().arguments(states[0])])
        found = names(reader, reader.sample())
    finally:
        done.set()
        thread.join()
    assert "test_another_thread_is_read_as_well.<locals>.waits" in found
    os.close(reader.memory)
