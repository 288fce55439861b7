"""How long threads ran and waited for a core, from Linux's scheduler."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gpuprof.capture.process import core_times
from gpuprof.capture.process.core_times import own_waits, thread_times, waited_between

linux = pytest.mark.skipif(
    thread_times(os.getpid(), os.getpid()) is None, reason=f"{sys.platform}: the scheduler's figures are not to be had"
)


@linux
def test_the_main_thread_ran_and_never_runs_backwards() -> None:
    before = thread_times(os.getpid(), os.getpid())
    until = time.thread_time_ns() + 20_000_000
    while time.thread_time_ns() < until:
        pass
    after = thread_times(os.getpid(), os.getpid())
    assert before is not None and after is not None
    assert after[0] - before[0] >= 15_000_000
    assert after[1] >= before[1]


@linux
def test_every_thread_of_this_process() -> None:
    assert os.getpid() in own_waits()


@pytest.mark.parametrize(
    ("text", "times"),
    [("5 7 3\n", (5, 7)), ("0 0 0\n", None), ("", None), ("a b c\n", None)],
    ids=["known", "not kept by this kernel", "empty", "foreign"],
)
def test_what_the_kernel_may_say(monkeypatch: pytest.MonkeyPatch, text: str, times: tuple[int, int] | None) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: text.encode())
    assert core_times.thread_times(1, 1) == times


def test_a_process_that_is_not_there() -> None:
    assert thread_times(2**22 + 1, 1) is None


def test_threads_that_began_or_ended_in_between() -> None:
    assert waited_between({1: 10, 2: 5}, {1: 30, 3: 4}) == 24
    assert waited_between({}, {1: 30}) is None
