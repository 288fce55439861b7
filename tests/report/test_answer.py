"""Answers to a person's own questions, against runs of known costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.errors import UsageError
from gpuprof.report.answer import Answer, answer
from gpuprof.whatif.questions import Question
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import Program, run

STEP: Program = [("work", 300), ("kernel", 7, 300), ("sync_all",)]


def asked(program: Program, **question: Any) -> Answer:
    return answer(Results(run(program)), Question(**question))


def span_ns(program: Program) -> int:
    return Results(run(program)).span_ns


@pytest.mark.parametrize("factor", [0.0, 0.25, 0.5, 2.0])
def test_kernels_of_another_speed_give_the_run_that_would_have_been(factor: float) -> None:
    program = STEP * 20
    found = asked(program, kernel_time={"k": factor})
    true = 1 - span_ns([("work", 300), ("kernel", 7, 300 * factor), ("sync_all",)] * 20) / span_ns(program)
    assert found.central_share == pytest.approx(true, abs=0.01)
    assert found.low_share is not None and found.high_share is not None and found.central_share is not None
    assert found.low_share <= found.central_share <= found.high_share
    assert found.speedup == pytest.approx(1 / (1 - true), rel=0.02)


def test_a_wait_that_hides_work_is_worth_that_work() -> None:
    program = STEP * 20
    found = asked(program, no_waits=True)
    true = 1 - span_ns([("work", 300), ("kernel", 7, 300)] * 20) / span_ns(program)
    assert found.central_share == pytest.approx(true, abs=0.02)


def test_parts_are_simulated_together_not_added() -> None:
    program = STEP * 20
    alone = [asked(program, no_waits=True), asked(program, kernel_time={"k": 0.0})]
    both = asked(program, no_waits=True, kernel_time={"k": 0.0})
    assert both.central_share is not None
    assert both.central_share < sum(each.central_share or 0 for each in alone) - 0.3
    assert both.question == "kernels named k in 0 % of their time, without waits of the host for the device"


def test_a_loss_is_said_as_one() -> None:
    slower = asked(STEP * 20, kernel_time={"k": 3.0})
    assert slower.central_share is not None and slower.central_share < -0.5
    assert "takes longer by" in str(slower) and "-" not in str(slower).split("Basis")[0]


def test_what_changes_nothing_is_said_so() -> None:
    assert "changes less than 0.5 % of the recorded time" in str(asked(STEP * 20, kernel_time={"k": 1.0}))


def _host_run() -> Results:
    builder = TraceBuilder()
    for number in range(10):
        at = 1000 * number
        builder.line(2, at).operator("aten::mm", at, 600).line(3, at + 600).operator("aten::add", at + 600, 400)
    return Results(builder.build())


def test_without_a_device_the_time_of_the_line_is_what_it_saves() -> None:
    found = answer(_host_run(), Question(without_lines=(3,)))
    assert found.central_share == pytest.approx(0.4, abs=0.01)
    assert found.grade == "C" and found.whole == "the time without recording"
    assert "nothing is simulated without a device" in found.basis


def test_without_a_device_what_is_gone_cannot_be_halved_as_well() -> None:
    gone = answer(_host_run(), Question(without_lines=(3,)))
    both = answer(_host_run(), Question(without_lines=(3,), kernel_time={"aten::add": 0.5}))
    assert both.central_share == gone.central_share
    more = answer(_host_run(), Question(without_lines=(3,), kernel_time={"aten::*": 0.5}))
    assert more.central_share == pytest.approx(0.4 + 0.3, abs=0.02)


def test_without_a_device_slower_operators_are_a_loss() -> None:
    found = answer(_host_run(), Question(kernel_time={"aten::add": 2.0}))
    assert found.central_share == pytest.approx(-0.4, abs=0.02)
    assert found.low_share is not None and found.high_share is not None
    assert found.low_share <= found.central_share <= found.high_share < 0


def test_it_is_ready_for_json() -> None:
    told = json.loads(json.dumps(asked(STEP * 5, no_waits=True).to_dict()))
    assert told["question"] == "without waits of the host for the device" and told["speedup"] > 1


def test_a_run_that_cannot_be_retimed_says_so() -> None:
    builder = TraceBuilder()
    for number in range(5):
        builder.kernel("k", 100 * number, 50, launch_at_us=None)
    with pytest.raises(UsageError, match="cannot be simulated"):
        answer(Results(builder.build()), Question(kernel_time={"k": 0.5}))
