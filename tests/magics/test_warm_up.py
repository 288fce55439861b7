"""Imports are brought in while nothing runs, in a kernel only."""

import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from gpuprof.magics import warm_up
from gpuprof.magics.warm_up import WarmUp


class Loop:
    """A kernel's loop whose time stands still until `run`."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def call_later(self, _: float, call: Callable[[], None]) -> None:
        self.waiting.append(call)

    def run(self) -> None:
        """Everything that waits now."""
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            call()


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(warm_up, "_bring", names.append)
    return names


def kernel(loop: Loop) -> SimpleNamespace:
    return SimpleNamespace(kernel=SimpleNamespace(io_loop=loop))


def test_everything_is_brought_in_while_the_kernel_is_idle(brought: list[str]) -> None:
    loop = Loop()
    WarmUp(kernel(loop), lambda: False).begin()
    for _ in range(10_000):
        loop.run()

    assert not loop.waiting
    assert brought[0] == "gpuprof.profiling"
    assert "gpuprof.rules.loading.input_stall" in brought and "gpuprof.code_edits.loops.optimizers" in brought
    assert "matplotlib.figure" in brought
    assert not any(name.startswith("torch") for name in brought)


def test_nothing_is_brought_in_while_a_cell_runs(brought: list[str]) -> None:
    loop, running = Loop(), [True]
    WarmUp(kernel(loop), lambda: bool(running)).begin()
    for _ in range(5):
        loop.run()
    assert brought == []

    running.clear()
    loop.run()
    assert brought


def test_nothing_more_after_the_end(brought: list[str]) -> None:
    loop = Loop()
    warming = WarmUp(kernel(loop), lambda: False)
    warming.begin()
    warming.end()
    loop.run()

    assert brought == [] and not loop.waiting


def test_without_a_kernel_nothing_happens(brought: list[str]) -> None:
    WarmUp(SimpleNamespace(), lambda: False).begin()

    assert brought == []


def test_what_a_verdict_needs_is_brought_in_once(brought: list[str]) -> None:
    warming = WarmUp(SimpleNamespace(), lambda: False)
    warming.finish_verdict()
    first = len(brought)
    warming.finish_verdict()

    assert len(brought) == first > 60


def test_a_library_that_is_missing_is_left_to_whoever_needs_it() -> None:
    warm_up._bring("gpuprof_has_no_such_module")

    assert "gpuprof_has_no_such_module" not in sys.modules
