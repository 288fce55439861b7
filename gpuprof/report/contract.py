"""The stable object that other programs rely on. A change of shape needs a new SCHEMA number.

`findings.schema.json`, beside this module, describes it as JSON Schema.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.analyses.accounts.cell_memory import CellMemory, MemoryAt
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.hot_spot import CalledFrom, HotSpot
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.idle_work import DeviceIdleWork
from gpuprof.analyses.accounts.memory_by_phase import MemoryByPhase
from gpuprof.analyses.accounts.run_kind import RunKind
from gpuprof.analyses.basics.device_activity import CopyTotals, DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.run.examined import Examined
from gpuprof.analyses.run.operators import Operators
from gpuprof.analyses.run.plain_budget import PlainBudget
from gpuprof.model.measured import Measured
from gpuprof.report.facts.bandwidth import bandwidth_dict
from gpuprof.report.facts.device_spots import device_spots
from gpuprof.report.facts.efficiency import efficiency_dict, rate_dict
from gpuprof.report.facts.looked_efficiency import looked_efficiency_dict
from gpuprof.report.facts.ranks import rank_collectives
from gpuprof.report.largest_shares import explained_share
from gpuprof.report.module_list import modules_dict
from gpuprof.report.report import Report
from gpuprof.report.saving_words import measure_words, shown
from gpuprof.report.source_place import SourcePlace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import all_rules
from gpuprof.units import NS_PER_S, milliseconds

SCHEMA = 2
MOST_ROWS = 10  # of operators and of lines
MOST_ITERATIONS = 1000


def json_schema() -> str:
    """The JSON Schema (2020-12) of the object, as text."""
    return Path(__file__).with_name("findings.schema.json").read_text(encoding="utf-8")


def to_dict(report: Report) -> dict[str, Any]:
    """Plain JSON types only; unknown is null, never NaN."""
    return {
        "schema": SCHEMA,
        "source": _source(report),
        "devices": [_device(report, use) for use in report.results.get(DeviceActivity).devices],
        "validity": _validity(report),
        "time_budget": [
            {"category": entry.category, "ms": milliseconds(entry.ns), "share": entry.share}
            for entry in report.budget.entries
        ],
        "run_kind": report.results.get(RunKind).kind.value,
        "phases": _phases(report),
        "hot_spots": [_hot_spot(spot) for spot in report.results.get(HotSpots).spots],
        "gpu_idle": [
            {"share": each.share, "ms": milliseconds(each.ns), "what": each.what, "line": each.line}
            for each in report.results.get(DeviceIdleWork).work
        ],
        "device_spots": device_spots(report.results),
        "modules": modules_dict(report.results),
        "examined": _examined(report),
        "rate": rate_dict(report.results),
        "efficiency": efficiency_dict(report.results),
        "efficiency_by_look": looked_efficiency_dict(report.results),
        "bandwidth": bandwidth_dict(report.results),
        "process_memory": _process_memory(report),
        "memory_by_phase": _memory_by_phase(report),
        "rank_collectives": rank_collectives(report.results),
        "plain_iteration": _plain_iteration(report),
        "iterations": _iterations(report),
        "verdict": {"headline": report.verdict.headline, "advice": report.verdict.advice},
        "findings": [_finding(report, number, finding) for number, finding in enumerate(report.findings, 1)],
        "abstained": [_abstention(abstention) for abstention in report.abstained],
        "top_operators": _top_operators(report),
        "top_lines": _top_lines(report),
        "trust": {
            "launches_with_kernel_share": report.trust.launches_with_kernel_share,
            "clock_ok": report.trust.clock_ok,
            "replay_error": report.trust.replay_error,
            "notes": list(report.trust.notes),
        },
    }


def _plain_iteration(report: Report) -> dict[str, Any] | None:
    plain = report.results.get(PlainBudget)
    if plain.total_ns is None:
        return None
    return {
        "ms": milliseconds(plain.total_ns),
        "error_share": plain.error,
        "shares": [{"category": category, "share": share} for category, share in plain.shares.items()],
    }


def _iterations(report: Report) -> dict[str, Any] | None:
    found = report.results.get(Iterations)
    run = found.main
    if run is None or run.median_ns is None:
        return None
    return {
        "count": run.count,
        "median_ms": milliseconds(run.median_ns),
        "spread_ms": None if run.spread_ns is None else milliseconds(run.spread_ns),
        "how": run.how,
        "line": run.line,
        "file": run.file or None,
        "covered_share": found.covered_share,
        "ms": [milliseconds(each) for each in run.durations_ns[:MOST_ITERATIONS].tolist()],
    }


def _phases(report: Report) -> list[dict[str, Any]]:
    return [
        {"phase": each.phase.value, "ms": milliseconds(each.ns), "share": each.share, "error": each.error}
        for each in report.results.get(CellPhases).phases
    ]


def _examined(report: Report) -> dict[str, Any]:
    found = report.results.get(Examined)
    return {
        "recorded_share": found.recorded,
        "looked_share": found.looked,
        "placed_share": found.placed,
        "left": [{"phase": phase.value, "share": share} for phase, share in found.left],
        "explained_share": explained_share(report.results, report.findings),
        "rules": len(all_rules()),
        "rules_abstained": len(report.abstained),
    }


def _process_memory(report: Report) -> dict[str, Any] | None:
    found = report.results.get(CellMemory)
    if found.peak_bytes is None:
        return None
    return {
        "start_bytes": found.start_bytes,
        "peak_bytes": found.peak_bytes,
        "end_bytes": found.end_bytes,
        "peak": None if found.peak is None else _memory_at(found.peak),
        "grown": [_memory_at(each) for each in found.grown],
    }


def _memory_by_phase(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "place": each.place,
            "grown_bytes": each.grown_bytes,
            "end_bytes": each.end_bytes,
            "phases": [{"phase": phase.value, "bytes": grown} for phase, grown in each.phases],
            "parts": dict(each.parts),
            "rest_bytes": each.rest_bytes,
            "names": [{"name": name, "bytes": held} for name, held in each.names],
            "earlier": [{"name": name, "bytes": held} for name, held in each.earlier],
        }
        for each in report.results.get(MemoryByPhase).places
    ]


def _memory_at(at: MemoryAt) -> dict[str, Any]:
    return {
        "bytes": at.bytes,
        "phase": at.phase.value,
        "profiled": at.is_cell,
        "cell": at.execution_count,
        "file": None if at.is_cell or at.execution_count is not None else at.source_file,
        "line": at.line,
    }


def _hot_spot(spot: HotSpot) -> dict[str, Any]:
    return {
        "share": spot.share,
        "error": spot.error,
        "ms": milliseconds(spot.ns),
        "phase": spot.phase.value if spot.phase else None,
        "phase_share": spot.phase_share,
        "gpu_idle": spot.idle,
        "profiled": spot.is_cell,
        "cell": spot.execution_count,
        "file": None if spot.is_cell or spot.execution_count is not None else spot.source_file,
        "line": spot.line,
        "lines": [{"line": line, "share": share} for line, share in spot.lines],
        "cell_line": spot.cell_line,
        "called_from": _called_from(spot.called_from),
        "function": spot.function,
        "what": spot.what,
        "what_share": spot.what_share,
        "what_by_text": spot.by_text,
    }


def _called_from(at: CalledFrom | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return {
        "profiled": at.is_cell,
        "cell": at.execution_count,
        "file": None if at.is_cell or at.execution_count is not None else at.source_file,
        "line": at.line,
    }


def _validity(report: Report) -> dict[str, Any]:
    gate = report.gate
    return {
        "state": gate.validity.state,
        "doubts": [
            {
                "code": doubt.code,
                "cannot_judge": doubt.cannot_judge,
                "sentence": doubt.sentence,
                "remedy": doubt.remedy,
                "spoils": sorted(str(each) for each in doubt.spoils),
                "handling": doubt.handling.name.lower(),
            }
            for doubt in gate.doubts
        ],
        "withheld": [{"rule": finding.rule, "title": finding.title} for finding in gate.withheld],
        "lowered": list(gate.lowered),
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


def _finding(report: Report, number: int, finding: Finding) -> dict[str, Any]:
    origin = report.trace.span_start_ns
    return {
        "rule": finding.rule,
        "severity": finding.severity.label,
        "title": finding.title,
        "explanation": finding.explanation,
        "evidence": {name: _number(value) for name, value in finding.evidence.items()},
        "where": {
            "lines": list(finding.where.lines),
            "ranges_ms": [[milliseconds(t0 - origin), milliseconds(t1 - origin)] for t0, t1 in finding.where.ranges_ns],
        },
        "change": finding.change or None,
        "diff": finding.diff,
        "leave_it": finding.leave_it or None,
        "saving": _saving(report, number, finding),
        "measured": _measured(report.measured_of(number, finding)),
    }


def _saving(report: Report, number: int, finding: Finding) -> dict[str, Any] | None:
    saving, told = finding.saving, shown(report.results, finding)
    if saving is None or told is None:
        return None
    return {
        "low_ms": milliseconds(saving.low_ns),
        "central_ms": milliseconds(saving.central_ns),
        "high_ms": milliseconds(saving.high_ns),
        "share": saving.share,
        "low_share": saving.least_share,
        "high_share": saving.most_share,
        "grade": saving.grade,
        "basis": saving.basis,
        "calibrated": saving.calibrated,
        "of_cell": saving.of_cell,
        "share_of_steps": min(saving.share * saving.per_step, 1.0) if saving.per_step else None,
        "expected_low_share": told.low_share,
        "expected_high_share": told.high_share,
        "range_shown": told.hidden is None,
        "central_shown": told.about,
        "hidden_because": told.hidden.value if told.hidden else None,
        "measure": measure_words(report.trace, report.results, finding, number).replace("`", "") or None,
    }


def _measured(made: Measured | None) -> dict[str, Any] | None:
    if made is None:
        return None
    return {"text": made.text, "created_s": round(made.created_ns / NS_PER_S, 3), "measurement": made.measurement}


def _top_operators(report: Report) -> list[dict[str, Any]]:
    uses = report.results.get(Operators).uses
    whole = sum(use.self_ns for use in uses)
    return [
        {
            "name": use.name,
            "count": use.count,
            "self_ms": milliseconds(use.self_ns),
            "share": use.self_ns / whole if whole else None,
        }
        for use in uses[:MOST_ROWS]
    ]


def _top_lines(report: Report) -> list[dict[str, Any]]:
    costs = report.results.get(LineCosts)
    table = costs.table
    order = np.lexsort((-table["device_ns"], -table["host_ns"]))[:MOST_ROWS]
    return [_line(report, costs, row) for row in order.tolist()]


def _line(report: Report, costs: LineCosts, row: int) -> dict[str, Any]:
    place = SourcePlace.of(report.trace, int(costs.table["source_file"][row]))
    host_ns, device_ns = int(costs.table["host_ns"][row]), int(costs.table["device_ns"][row])
    return {
        "profiled": place is not None and place.profiled,
        "cell": place.cell if place else None,
        "file": place.file if place else None,
        "line": int(costs.table["line"][row]),
        "ms": milliseconds(host_ns),
        "share": host_ns / costs.within_ns if costs.within_ns else None,
        "device_ms": milliseconds(device_ns),
    }


def _abstention(abstention: Abstention) -> dict[str, Any]:
    return {"rule": abstention.rule, "needs": abstention.needs, "how": abstention.how}


def _number(value: float | int | str) -> float | int | str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
