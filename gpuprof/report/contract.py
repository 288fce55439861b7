"""The stable object that other programs rely on. A change of shape needs a new SCHEMA number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gpuprof.analyses.basics.device_activity import CopyTotals, DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.rules.base.finding import Abstention, Finding, Saving
from gpuprof.units import milliseconds

if TYPE_CHECKING:
    from gpuprof.report.report import Report

SCHEMA = 1


def to_dict(report: Report) -> dict[str, Any]:
    """Plain JSON types only; unknown is null, never NaN."""
    return {
        "schema": SCHEMA,
        "source": _source(report),
        "devices": [_device(report, use) for use in report.results.get(DeviceActivity).devices],
        "time_budget": [
            {"category": entry.category, "ms": milliseconds(entry.ns), "share": entry.share}
            for entry in report.budget.entries
        ],
        "findings": [_finding(report, finding) for finding in report.findings],
        "abstained": [_abstention(abstention) for abstention in report.abstained],
        "trust": {
            "launches_with_kernel_share": report.trust.launches_with_kernel_share,
            "clock_ok": report.trust.clock_ok,
            "replay_error": report.trust.replay_error,
            "notes": list(report.trust.notes),
        },
    }


def _source(report: Report) -> dict[str, Any]:
    source, steps = report.trace.source, report.results.get(StepTime)
    return {
        "path": source.path,
        "kind": source.kind,
        "ranks": list(report.ranks) or ([] if source.rank is None else [source.rank]),
        "torch": source.torch,
        "truncated": source.truncated,
        "span_ms": milliseconds(report.trace.span_ns),
        "steps": steps.count,
        "step_ms": None if steps.median_ns is None else milliseconds(steps.median_ns),
    }


def _device(report: Report, use: DeviceTotals) -> dict[str, Any]:
    return {
        "id": use.id,
        "name": use.name,
        "busy_ms": milliseconds(use.busy_ns),
        "idle_ms": milliseconds(use.idle_ns),
        "busy_share": use.busy_share,
        "kernels": use.kernels,
        "kernel_ms": milliseconds(use.kernel_ns),
        "copies": {"h2d": _copies(use.h2d), "d2h": _copies(use.d2h), "d2d": _copies(use.d2d)},
    }


def _copies(totals: CopyTotals) -> dict[str, Any]:
    return {
        "count": totals.count,
        "bytes": totals.bytes,
        "ms": milliseconds(totals.ns),
        "pageable": totals.pageable,
        "pinned": totals.pinned,
        "unknown": totals.unknown,
    }


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    origin = report.trace.span_start_ns
    return {
        "rule": finding.rule,
        "severity": finding.severity.label,
        "title": finding.title,
        "evidence": {name: _number(value) for name, value in finding.evidence.items()},
        "where": {
            "lines": list(finding.where.lines),
            "ranges_ms": [[milliseconds(t0 - origin), milliseconds(t1 - origin)] for t0, t1 in finding.where.ranges_ns],
        },
        "change": finding.change or None,
        "diff": finding.diff,
        "saving": None if finding.saving is None else _saving(finding.saving),
    }


def _saving(saving: Saving) -> dict[str, Any]:
    return {
        "low_ms": milliseconds(saving.low_ns),
        "central_ms": milliseconds(saving.central_ns),
        "high_ms": milliseconds(saving.high_ns),
        "share": saving.share,
        "low_share": saving.least_share,
        "high_share": saving.most_share,
        "grade": saving.grade,
    }


def _abstention(abstention: Abstention) -> dict[str, Any]:
    return {"rule": abstention.rule, "needs": abstention.needs, "how": abstention.how}


def _number(value: float | int | str) -> float | int | str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
