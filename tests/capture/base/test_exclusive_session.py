from __future__ import annotations

import os

import psutil
import pytest
import torch

from gpuprof.capture.base import exclusive_session
from gpuprof.errors import ProfilerBusyError


def test_one_owner_at_a_time() -> None:
    first, second = object(), object()
    exclusive_session.claim(first)
    with pytest.raises(ProfilerBusyError):
        exclusive_session.claim(second)
    exclusive_session.release(second)
    with pytest.raises(ProfilerBusyError):
        exclusive_session.claim(second)
    exclusive_session.release(first)
    exclusive_session.claim(second)
    exclusive_session.release(second)


def in_child(check: object) -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0 if check() else 1)  # type: ignore[operator]
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def records_nothing() -> bool:
    """A recorded operator takes some 220 bytes that nobody would ever read: 22 MB a round, in every round."""
    grown = []
    for _ in range(4):
        before = psutil.Process().memory_info().rss
        for _ in range(100_000):
            torch.ones(1)
        grown.append(psutil.Process().memory_info().rss - before)
    # a large process also grows by pages that the child touches for the first time, but only once
    return exclusive_session.forked() and min(grown) < 8_000_000


def test_a_child_knows_that_it_is_one_and_does_not_record() -> None:
    owner = object()
    profiler = torch.autograd.profiler.profile(use_kineto=True)
    exclusive_session.claim(owner)
    profiler.__enter__()
    try:
        assert in_child(records_nothing) == 0
    finally:
        profiler.__exit__(None, None, None)
        exclusive_session.release(owner)
    assert not exclusive_session.forked()


def test_a_child_of_an_unprofiled_process_is_free() -> None:
    def check() -> bool:
        exclusive_session.claim(check)
        return not exclusive_session.forked()

    assert in_child(check) == 0
