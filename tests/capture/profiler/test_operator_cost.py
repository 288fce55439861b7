from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.capture.profiler.operator_cost import operator_cost_ns
from gpuprof.capture.session import watch
from gpuprof.capture.session.session import Session
from gpuprof.capture.session.steps import StepCount


def test_it_is_some_hundred_ns_to_some_us() -> None:
    cost = min(filter(None, (operator_cost_ns() for _ in range(3))))
    assert 50 < cost < 50_000
    assert not torch.autograd._profiler_enabled()  # type: ignore[attr-defined]


def test_the_users_random_numbers_stay_as_they_are() -> None:
    before = torch.get_rng_state()
    operator_cost_ns()
    assert torch.equal(before, torch.get_rng_state())


def test_another_profiler_is_left_alone() -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        assert operator_cost_ns() is None
        torch.ones(2).sum()
    assert any(each.key == "aten::sum" for each in theirs.key_averages())


def cell(steps: int) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 0.1)
    for _ in range(steps):
        optimizer.step()


def test_it_is_tried_out_where_no_iteration_was_plain(new_session: Callable[..., Session]) -> None:
    session = new_session()
    session.start()
    cell(3)
    cost = session.stop().context.cost
    assert cost is not None and cost.operator_ns is not None and cost.operator_ns >= 0


@pytest.mark.parametrize(
    ("recorded_ns", "plain_ns", "tried"),
    [(3e6, 1e6, False), (1e6, 1e6, False), (1e6, 3e6, True), (3e6, None, True), (None, 1e6, True)],
    ids=["slower", "alike", "faster with recording", "few plain steps", "few recorded steps"],
)
def test_it_is_tried_out_where_the_steps_do_not_show_it(
    new_session: Callable[..., Session],
    monkeypatch: pytest.MonkeyPatch,
    recorded_ns: float | None,
    plain_ns: float | None,
    tried: bool,
) -> None:
    monkeypatch.setattr(watch, "operator_cost_ns", lambda: 700.0)
    monkeypatch.setattr(StepCount, "median_ns", lambda *_: recorded_ns)
    monkeypatch.setattr(StepCount, "plain_median_ns", lambda *_: plain_ns)
    session = new_session(steps=3)
    session.start()
    cell(20)
    cost = session.stop().context.cost
    assert cost is not None and cost.operator_ns == (700.0 if tried else None)


def test_an_interrupt_while_it_ends_leaves_no_profiler_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(recording: KinetoRecording) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(KinetoRecording, "stop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        operator_cost_ns()
    assert not torch.autograd._profiler_enabled()  # type: ignore[attr-defined]
