"""The object of `gpuprof findings --json`: its shape, its sums, plain JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from gpuprof.model.context import Cell, FollowedLines, SourceFile
from gpuprof.model.measured import Measured
from gpuprof.report import Report
from gpuprof.report.contract import json_schema, to_dict
from gpuprof.rules.base.finding import Saving
from gpuprof.run import Run
from tests.support.reports import device_report, empty_report, host_report, nasty_report, with_findings
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder

SCHEMA = json.loads(json_schema())
VALIDATOR = Draft202012Validator(SCHEMA)


def check_shape(told):
    assert [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(told)] == []
    for device in told["devices"]:
        assert device["busy_ms"] + device["idle_ms"] == pytest.approx(told["source"]["span_ms"], rel=1e-6, abs=1e-4)
    for saving in (finding["saving"] for finding in told["findings"] if finding["saving"]):
        assert saving["low_ms"] <= saving["central_ms"] <= saving["high_ms"]
        assert saving["low_share"] <= saving["share"] <= saving["high_share"]
    for rows, key in (("top_operators", "self_ms"), ("top_lines", "ms")):
        times = [row[key] for row in told[rows]]
        assert times == sorted(times, reverse=True)


def objects(schema):
    """Every schema of an object within a schema."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for part in schema.values():
            yield from objects(part)


def test_the_schema_is_one_and_leaves_nothing_open():
    Draft202012Validator.check_schema(SCHEMA)
    found = list(objects(SCHEMA))
    assert len(found) > 10
    for each in found:
        assert each["additionalProperties"] is False and set(each["required"]) == set(each["properties"])


def test_what_drifts_from_the_schema_is_noticed():
    told = to_dict(Report.of(TraceBuilder().build()))
    for drifted in ({**told, "more": 1}, {key: told[key] for key in told if key != "trust"}, {**told, "schema": 3}):
        assert not VALIDATOR.is_valid(drifted)


def test_every_key_is_documented():
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "findings-json.md").read_text()
    assert f"| `schema` | {SCHEMA['properties']['schema']['const']} |" in page
    names = {name for each in objects(SCHEMA) for name in each["properties"]}
    assert {name for name in names if f"`{name}`" not in page} == set()


@pytest.mark.parametrize("make", [device_report, host_report, empty_report, nasty_report])
def test_every_make_of_report_fits_the_schema(make):
    for report in (make(), with_findings(make())):
        check_shape(json.loads(json.dumps(to_dict(report), allow_nan=False)))


def test_a_finding_is_told_whole():
    report = with_findings(device_report())
    tried = Measured(
        number=1, rule="input_stall", text="measured 1.2×", measurement={"schema": 1}, created_ns=1_500_000_000
    )
    again = msgspec.structs.replace(tried, text="measured 1.27×")
    told = to_dict(dataclasses.replace(report, measured=(tried, again)))
    check_shape(told)
    first, second = told["findings"]
    finding = report.findings[0]
    assert (first["explanation"], first["leave_it"]) == (finding.explanation, finding.leave_it)
    assert (first["saving"]["basis"], first["saving"]["calibrated"]) == ("upper bound: all of the wait", False)
    saving = first["saving"]
    assert (saving["expected_low_share"], saving["expected_high_share"]) == pytest.approx((0.22, 0.3828))
    assert (saving["range_shown"], saving["central_shown"]) == (True, True)
    assert (saving["hidden_because"], saving["measure"]) == (None, None)
    assert first["measured"] == {"text": "measured 1.27×", "created_s": 1.5, "measurement": {"schema": 1}}
    assert (second["measured"], second["leave_it"], second["saving"]) == (None, None, None)
    assert told["verdict"] == {"headline": report.verdict.headline, "advice": report.verdict.advice}


def test_a_hidden_range_says_why_and_how_to_measure():
    report = with_findings(device_report())
    first = dataclasses.replace(report.findings[0], saving=Saving(0, 3000, 5000, 0.3, "B", "simulated"))
    told = to_dict(dataclasses.replace(report, findings=(first,)))
    check_shape(told)
    saving = told["findings"][0]["saving"]
    assert (saving["range_shown"], saving["central_shown"], saving["hidden_because"]) == (False, True, "from_zero")
    assert saving["measure"] == "%gputry 1"


def test_the_operators_and_lines_that_cost_most_are_told():
    builder = TraceBuilder().line(1, 0).operator("aten::stack", 0, 10)
    builder.line(2, 100).operator("aten::mm", 110, 30).kernel("gemm", 150, 60, launch_at_us=120).line(-1, 200)
    files = (SourceFile(filename="cell.py"),)
    lines = FollowedLines(how="monitoring", start_ns=0, end_ns=200_000, files=files)
    builder.context(cell=Cell(source="a\nb", execution_count=7), lines=lines).source(kind="recording")
    told = to_dict(Report.of(builder.build()))
    check_shape(told)
    assert told["top_operators"] == [
        {"name": "aten::mm", "count": 1, "self_ms": 0.03, "share": 0.75},
        {"name": "aten::stack", "count": 1, "self_ms": 0.01, "share": 0.25},
    ]
    assert [(row["profiled"], row["cell"], row["file"], row["line"]) for row in told["top_lines"]] == [
        (True, 7, None, 2),
        (True, 7, None, 1),
    ]
    assert [(row["ms"], row["device_ms"]) for row in told["top_lines"]] == [(0.1, 0.06), (0.1, 0.0)]


def test_a_recording_fits_the_schema():
    told = Run.load(Path(__file__).parents[1] / "data" / "cpu-training").to_dict()
    check_shape(json.loads(json.dumps(told, allow_nan=False)))
    assert told["source"]["kind"] == "recording" and told["top_operators"]


@pytest.mark.recordings
def test_a_memory_snapshot_fits_the_schema():
    told = Run.load(shared_file("snapshots/cuda-memory-snapshot.pickle")).to_dict()
    check_shape(json.loads(json.dumps(told, allow_nan=False)))
    assert told["source"]["kind"] == "snapshot"


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
    told = to_dict(Report.of(trace))

    # THEN the figures are in milliseconds and add up
    check_shape(told)
    assert told["source"]["span_ms"] == pytest.approx(0.1)
    assert told["source"]["steps"] == 1
    assert told["devices"][0]["busy_ms"] == pytest.approx(0.05)
    assert told["devices"][0]["busy_share"] == pytest.approx(0.5)
    assert sum(entry["ms"] for entry in told["time_budget"]) == pytest.approx(0.1)


def test_a_host_only_run_has_no_device():
    told = to_dict(Report.of(TraceBuilder().operator("aten::mm", 0, 100).build()))
    check_shape(told)
    assert told["devices"] == []
    assert {entry["category"] for entry in told["time_budget"]} <= {
        "operators", "input_wait", "compiling", "host_other", "outside_steps"
    }  # fmt: skip


def test_an_empty_trace_is_told_without_failing():
    told = to_dict(Report.of(TraceBuilder().build()))
    check_shape(told)
    assert told["source"]["steps"] == 0
    assert told["source"]["step_ms"] is None


def test_every_shared_trace_is_plain_json_and_adds_up(any_shared_trace):
    report = Report.of(any_shared_trace)
    told = json.loads(json.dumps(to_dict(report), allow_nan=False))
    check_shape(told)
    total = math.fsum(entry["ms"] for entry in told["time_budget"])
    assert total == pytest.approx(sum(entry.ns for entry in report.budget.entries) / 1e6, rel=1e-6)
    if told["devices"]:
        assert total == pytest.approx(told["source"]["span_ms"], rel=1e-3)


def test_no_shared_trace_without_a_device_is_called_idle(any_shared_trace):
    report = Report.of(any_shared_trace)
    if not to_dict(report)["devices"]:
        words = f"{report.verdict} {' '.join(report.trust.notes)}".lower()
        assert "0 % busy" not in words
        assert "computes" not in words
        assert "no gpu" in words or "not captured" in words or "no device" in words


def test_iterations_are_told_where_no_steps_are_known():
    from tests.rules.cases.host.growing_iterations import fires

    told = to_dict(Report.of(fires()))
    VALIDATOR.validate(told)
    iterations = told["iterations"]
    assert iterations.pop("ms")[:2] == [0.1, 0.12]
    assert iterations == {
        "count": 30,
        "median_ms": 0.39,
        "spread_ms": 0.464,
        "how": "operators",
        "line": None,
        "file": None,
        "covered_share": 1.0,
    }
    assert to_dict(device_report())["iterations"] is None
