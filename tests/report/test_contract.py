"""The object of `gpuprof findings --json`: its shape, its sums, plain JSON."""

from __future__ import annotations

import json
import math

import pytest

from gpuprof.report import Report
from tests.support.trace_builder import TraceBuilder

KEYS = {"schema", "source", "devices", "time_budget", "findings", "abstained", "trust"}
SOURCE_KEYS = {"path", "kind", "ranks", "torch", "truncated", "span_ms", "steps", "step_ms"}
DEVICE_KEYS = {"id", "name", "busy_ms", "idle_ms", "busy_share", "kernels", "kernel_ms", "copies"}
COPY_KEYS = {"count", "bytes", "ms", "pageable", "pinned", "unknown"}
FINDING_KEYS = {"rule", "severity", "title", "evidence", "where", "change", "diff", "saving"}


def check_shape(told):
    assert set(told) == KEYS
    assert told["schema"] == 1
    assert set(told["source"]) == SOURCE_KEYS
    for device in told["devices"]:
        assert set(device) == DEVICE_KEYS
        assert set(device["copies"]) == {"h2d", "d2h", "d2d"}
        assert all(set(totals) == COPY_KEYS for totals in device["copies"].values())
        assert device["busy_ms"] + device["idle_ms"] == pytest.approx(told["source"]["span_ms"], rel=1e-6, abs=1e-4)
    for finding in told["findings"]:
        assert set(finding) == FINDING_KEYS
        assert finding["severity"] in {"high", "medium", "low"}
        assert set(finding["where"]) == {"lines", "ranges_ms"}
        if finding["saving"] is not None:
            assert set(finding["saving"]) == {
                "low_ms",
                "central_ms",
                "high_ms",
                "share",
                "low_share",
                "high_share",
                "grade",
            }
            assert finding["saving"]["low_ms"] <= finding["saving"]["central_ms"] <= finding["saving"]["high_ms"]
            assert finding["saving"]["low_share"] <= finding["saving"]["share"] <= finding["saving"]["high_share"]
    assert all(set(entry) == {"rule", "needs", "how"} for entry in told["abstained"])
    assert set(told["trust"]) == {"launches_with_kernel_share", "clock_ok", "replay_error", "notes"}


def test_a_small_device_run_is_told_whole():
    # GIVEN one step with one kernel of 50 µs in 100 µs
    trace = (
        TraceBuilder()
        .device(0, "Test GPU")
        .step(0, 100)
        .operator("aten::mm", 0, 100)
        .kernel("sgemm", 20, 50, launch_at_us=5)
        .build()
    )

    # WHEN it is told
    told = Report.of(trace).to_dict()

    # THEN the figures are in milliseconds and add up
    check_shape(told)
    assert told["source"]["span_ms"] == pytest.approx(0.1)
    assert told["source"]["steps"] == 1
    assert told["devices"][0]["busy_ms"] == pytest.approx(0.05)
    assert told["devices"][0]["busy_share"] == pytest.approx(0.5)
    assert sum(entry["ms"] for entry in told["time_budget"]) == pytest.approx(0.1)


def test_a_host_only_run_has_no_device():
    told = Report.of(TraceBuilder().operator("aten::mm", 0, 100).build()).to_dict()
    check_shape(told)
    assert told["devices"] == []
    assert {entry["category"] for entry in told["time_budget"]} <= {
        "operators", "input_wait", "compiling", "host_other", "outside_steps"
    }  # fmt: skip


def test_an_empty_trace_is_told_without_failing():
    told = Report.of(TraceBuilder().build()).to_dict()
    check_shape(told)
    assert told["source"]["steps"] == 0
    assert told["source"]["step_ms"] is None


def test_every_shared_trace_is_plain_json_and_adds_up(any_shared_trace):
    report = Report.of(any_shared_trace)
    told = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    check_shape(told)
    total = math.fsum(entry["ms"] for entry in told["time_budget"])
    assert total == pytest.approx(sum(entry.ns for entry in report.budget.entries) / 1e6, rel=1e-6)
    if told["devices"]:
        assert total == pytest.approx(told["source"]["span_ms"], rel=1e-3)


def test_no_shared_trace_without_a_device_is_called_idle(any_shared_trace):
    report = Report.of(any_shared_trace)
    if not report.to_dict()["devices"]:
        words = f"{report.verdict} {' '.join(report.trust.notes)}".lower()
        assert "0 % busy" not in words
        assert "computes" not in words
        assert "no gpu" in words or "not captured" in words or "no device" in words
