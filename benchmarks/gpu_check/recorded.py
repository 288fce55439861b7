"""Reads of one run what the checks compare, and keeps the run, trimmed, for the archive."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu_check.check import Check
from benchmarks.gpu_check.trim import trim
from gpuprof.analyses.run.launches import Launches
from gpuprof.errors import GpuprofError
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.trace import Trace
from gpuprof.run import Run
from gpuprof.whatif.grade import grade
from gpuprof.whatif.predict import Replay


def keep(check: Check, run: Run, name: str) -> None:
    """Put the trimmed run, the whole run's findings and its text into the archive; what fails is noted."""
    if run.folder is None:
        check.note(**{f"not_kept_{name}": run.unsaved or "the run was not saved"})
        return
    try:
        trim(run.folder, check.folder / name)
    except (GpuprofError, OSError, ValueError) as error:
        check.note(**{f"not_kept_{name}": f"{type(error).__name__}: {error}"})
        return
    (check.folder / name / "report.txt").write_text(run.text(), encoding="utf-8")


def describe(run: Run) -> dict[str, Any]:
    """Counts, links, clocks, trust and findings of one run."""
    trace = run.trace
    launches = run.report_data.results.get(Launches)
    context = trace.context
    return {
        "device_recorded": trace.device_recorded,
        "operators": len(trace.operators),
        "calls": len(trace.calls),
        "syncs": len(trace.syncs),
        "device_events": counts(trace),
        "launches": launches.launches,
        "launches_with_kernel_share": launches.launches_with_kernel_share,
        "clock_ok": launches.clock_ok,
        "lags_ns": lags(trace),
        "clock_offset_ns": context.sampling.get("clock_offset_ns"),
        "steps": len(trace.steps),
        "steps_from": trace.steps_from,
        "lines": context.lines.how if context.lines else None,
        "trust": list(run.report_data.trust.notes),
        "findings": findings(run),
        "abstained": [each.rule for each in run.abstained],
        "replay": replay(run),
    }


def counts(trace: Trace) -> dict[str, int]:
    """Device events by kind."""
    kinds = trace.device_events["kind"]
    return {kind.name.lower(): int((kinds == kind).sum()) for kind in DeviceEventKind}


def lags(trace: Trace) -> dict[str, Any]:
    """How the two clocks lie to each other: launch → kernel begin, and end of the work awaited → return of the wait.

    Where all work is on one stream, a negative least lag of either kind is a fault of the clocks; both positive bound
    their skew from both sides. A wait awaits what was launched before it began.
    """
    calls, events = trace.calls, trace.device_events
    linked = events.take((events["call"] >= 0) & (events["kind"] == DeviceEventKind.KERNEL))
    launch = linked["start_ns"] - calls["start_ns"][linked["call"]] if len(linked) else np.empty(0, np.int64)
    waits = calls.take(calls["kind"] == CallKind.SYNCHRONIZE)
    work = events.take(events["call"] >= 0)
    launched = calls["start_ns"][work["call"]] if len(work) else np.empty(0, np.int64)
    order = np.argsort(launched, kind="stable")
    ends = np.maximum.accumulate((work["start_ns"] + work["duration_ns"])[order])
    last = np.searchsorted(launched[order], waits["start_ns"], side="right") - 1
    returns = waits["start_ns"] + waits["duration_ns"]
    after = (returns - ends[np.maximum(last, 0)])[last >= 0] if len(ends) else np.empty(0, np.int64)
    return {"launch_to_kernel": _spread(launch), "end_to_return": _spread(after)}


def _spread(values: Any) -> dict[str, int] | None:
    if not len(values):
        return None
    points = {"least": 0, "p5": 5, "median": 50, "p95": 95, "most": 100}
    return {name: int(np.percentile(values, point)) for name, point in points.items()}


def findings(run: Run) -> list[dict[str, Any]]:
    """As `gpuprof findings --json` has them, without the texts."""
    kept = ("rule", "severity", "evidence", "saving", "where")
    return [{name: each[name] for name in kept} for each in run.to_dict()["findings"]]


def replay(run: Run) -> dict[str, Any] | None:
    """How well the what-if graph gives the run back; None where host or device were not recorded."""
    found = run.report_data.results.get(Replay)
    if not found.possible:
        return None
    facts = found.facts
    judged = grade(facts)
    return {
        "span_ns": facts.span_ns,
        "span_error": facts.span_error,
        "worst_step_error": facts.error,
        "unexplained_share": facts.unexplained_share,
        "idle_ns": facts.idle_ns,
        "step_spread": facts.step_spread,
        "grade": judged.letter,
        "reasons": list(judged.reasons),
    }
