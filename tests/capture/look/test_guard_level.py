"""A look that begins or ends within an inference mode leaves torch as it was, and sees what comes after."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.guard_level import guarded, sees_modes
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_captured
from tests.capture.look.test_look_watch import NewSession


@pytest.fixture(autouse=True)
def whole() -> Any:
    """Operators work, and no mode is left, whatever was tried."""
    yield
    assert not guarded() and not sees_modes() and not torch._C._len_torch_dispatch_stack()
    assert (torch.ones(2) + 1).tolist() == [2, 2]


def test_it_does_not_end_within_a_guard_that_began_after_it() -> None:
    look = CloseLook(__file__)
    assert look.start()

    def guarded_work() -> None:
        with torch.inference_mode():
            torch.ones(2) + 1
            assert not look.stop() and look.installed

    guarded_work()
    assert look.stop() and not look.installed


def test_it_ends_within_the_guard_in_which_it_began() -> None:
    look = CloseLook(__file__)
    with torch.inference_mode():
        assert look.start()
        torch.ones(2) + 1

        def deeper() -> None:
            with torch.inference_mode():
                assert not look.stop()

        deeper()
        assert look.stop() and not look.installed
        assert (torch.ones(2) + 1).tolist() == [2, 2]


@pytest.mark.parametrize("guard", [torch.inference_mode, torch.no_grad])
def test_where_it_began_within_a_guard_it_wakes_after_it(guard: Callable[[], Any]) -> None:
    look = CloseLook(__file__)
    with guard():
        assert look.start()
        torch.ones(2) + 1
    assert look.asleep is (guard is torch.inference_mode)
    torch.ones(3) + 1
    with torch.inference_mode():
        assert look.wake() is (guard is torch.no_grad)
    assert look.wake() and not look.asleep
    with torch.inference_mode():
        torch.ones(4) * 2
    assert look.stop()
    operators, *_ = look.result()[0]
    assert len(operators) == (4 if guard is torch.inference_mode else 6)


def test_asleep_it_can_end_anywhere() -> None:
    look = CloseLook(__file__)
    with torch.inference_mode():
        assert look.start()
    with torch.inference_mode():
        assert look.stop() and not look.installed


def test_a_session_sees_functions_in_inference_mode(new_session: NewSession) -> None:
    """GIVEN a loop that spends nearly all of its time within the guard: there the look begins, and has to end."""
    table = torch.randn(300, 300)

    @torch.inference_mode()
    def evaluate(start: int) -> torch.Tensor:
        scores = table.roll(start)
        for _ in range(10):
            scores = scores @ table
        return scores.sort(dim=1).values

    def cell() -> None:
        end, looked_at = time.monotonic() + 60, False
        while time.monotonic() < end and not (looked_at and not torch._C._len_torch_dispatch_stack()):
            evaluate(1).sum()
            looked_at = looked_at or torch._C._len_torch_dispatch_stack() > 0

    session: Session = new_session(close_look=True)
    session.start()
    try:
        cell()
    finally:
        trace = load_captured(session.stop())
    look = trace.context.look
    assert look is not None and look.ended_by == "seconds" and look.iterations
    assert {"aten::roll", "aten::sort", "aten::sum"} <= set(trace.names_of(trace.looked_operators))
