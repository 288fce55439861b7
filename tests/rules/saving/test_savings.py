"""Predicted savings on recorded runs, against their cured twins and against what can be saved at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import judge
from gpuprof.whatif.predict import Replay, predict

SharedTrace = Callable[[str], Any]


def finding(trace: Any, rule: str) -> Finding:
    return next(each for each in judge(Results(trace), strict=True).findings if each.rule == rule)


def test_workers_bring_the_step_to_that_of_the_twin(shared_trace: SharedTrace) -> None:
    """The twin has four workers, which wait 1.4 ms a step and slow the host."""
    slow, cured = shared_trace("v100-resnet50-workers0"), shared_trace("v100-resnet50-workers4")
    saving = finding(slow, "input_stall").saving
    assert saving is not None and saving.grade == "C" and "1 worker" in saving.basis
    predicted = (slow.steps["duration_ns"].sum() - saving.central_ns) / len(slow.steps)
    assert predicted == pytest.approx(np.median(cured.steps["duration_ns"]), rel=0.07)


def test_pinned_copies_bring_the_step_near_that_of_the_twin(shared_trace: SharedTrace) -> None:
    """The twin's copies to the host, too, are pinned: 35 ms that hide the copies to the device become 18."""
    slow, cured = shared_trace("a100-copies-pageable"), shared_trace("a100-copies-pinned")
    saving = finding(slow, "pageable_h2d_copy").saving
    assert saving is not None
    assert cured.span_ns < slow.span_ns - saving.central_ns < 1.2 * cured.span_ns


def test_faster_kernels_are_not_promised_to_a_run_that_waits_for_its_host(shared_trace: SharedTrace) -> None:
    """Utilisation says 262 ms: two thirds of 393 ms. The host needs 917 of the 930 ms for itself."""
    found = finding(shared_trace("v100-resnet50-workers0"), "fp32_matmul")
    assert found.severity == Severity.LOW
    assert found.saving is not None and found.saving.share < 0.03
    assert "waits for something else" in found.explanation


def test_waits_without_effect_are_told_apart(shared_trace: SharedTrace) -> None:
    """31 ms idle after 132 reads; the other waits keep most of it."""
    found = finding(shared_trace("a100-sam-fewer-syncs"), "sync_in_step")
    assert found.saving is not None and found.saving.high_ns < float(found.evidence["idle_ms"]) * 0.5e6


@pytest.mark.parametrize("rule", ["input_stall", "sync_in_step", "launch_bound"])
def test_no_more_than_the_idle_time_is_saved_on_the_host(any_shared_trace: Any, rule: str) -> None:
    results = Results(any_shared_trace)
    device = results.get(DeviceActivity).primary
    for found in judge(results, strict=True).findings:
        if found.rule == rule and found.replay_edit and found.saving and device:
            assert found.saving.high_ns <= 1.02 * (any_shared_trace.span_ns - device.busy_ns)
            again = predict(results.get(Replay), found.replay_edit)
            assert again.central_ns == pytest.approx(found.saving.central_ns)
