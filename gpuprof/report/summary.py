"""What a comparison and the history need of a Report: small enough to be kept beside every run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.run.work_rate import WorkRate
from gpuprof.model import intervals

if TYPE_CHECKING:
    from gpuprof.report.report import Report

FORMAT = 1
FILE = "summary.json"
_FEWEST_STEPS = 4
_COSTLY = ("memory", "stacks", "shapes", "no_lines")


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One run in few figures, all times in ns.

    `step_ns`: median of the steady recorded steps, `step_error_share` the standard error of that median over it:
    1.25 σ/√n with σ = inter-quartile range ÷ 1.35 (normal steps); None where there are too few. `cell_ns`: the whole
    cell; None for a trace. `step_budget_ns` divides an average steady step, `budget_ns` the recorded span.
    `peak_bytes`: allocated, of the first device, else the host. `findings`: the rules' names, best first.
    `plain_ns`, `plain_error_share`, `sample_ns`, `sample_error_share`, `batch_size`, `samples` and
    `sample_tokens`: see WorkRate. `steps_seen`: of the whole cell.
    `recorded_with`: the options that change what the recording costs. `core_share`: of the CPU time that it asked for
    (0..1), what the main thread got. `doubts`: codes of the validity gate.
    """

    format: int = FORMAT
    title: str
    path: str
    run_number: int | None = None
    source: str | None = None
    steps: int = 0
    step_ns: float | None = None
    step_error_share: float | None = None
    cell_ns: int | None = None
    span_ns: int = 0
    step_budget_ns: dict[str, float] = {}
    budget_ns: dict[str, float] = {}
    peak_bytes: int | None = None
    findings: tuple[str, ...] = ()
    plain_ns: float | None = None
    plain_error_share: float | None = None
    sample_ns: float | None = None
    sample_error_share: float | None = None
    batch_size: int | None = None
    samples: int | None = None
    sample_tokens: float | None = None
    steps_seen: int | None = None
    recorded_with: tuple[str, ...] = ()
    core_share: float | None = None
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(cls, report: Report) -> Self:
        """Take the figures from a Report."""
        trace, cell, window = report.trace, report.trace.context.cell, report.trace.context.window
        times, plain = report.results.get(StepTime), report.results.get(WorkRate)
        peaks = report.results.get(MemoryPeak)
        peak = peaks.primary or peaks.host
        return cls(
            title=report.title,
            path=trace.source.path,
            run_number=trace.context.run_number,
            source=cell.source if cell else None,
            steps=times.count,
            step_ns=report.step_ns,
            step_error_share=_median_error(times),
            cell_ns=window.cell_end_ns - window.cell_start_ns if window else None,
            span_ns=int(trace.span_ns),
            step_budget_ns=_step_budget(report, times),
            budget_ns={entry.category: float(entry.ns) for entry in report.budget.entries},
            peak_bytes=peak.peak_allocated_bytes if peak else None,
            findings=tuple(finding.rule for finding in report.findings),
            plain_ns=plain.median_ns,
            plain_error_share=plain.error_share,
            sample_ns=plain.sample_ns,
            sample_error_share=plain.sample_error_share,
            batch_size=plain.batch_size,
            samples=plain.samples,
            sample_tokens=plain.sample_tokens,
            steps_seen=window.steps_seen if window else None,
            recorded_with=tuple(name for name in _COSTLY if trace.context.options.get(name)),
            core_share=report.results.get(CpuContention).core_share,
            doubts=tuple(doubt.code for doubt in report.gate.doubts),
        )

    @property
    def usual_step_ns(self) -> float | None:
        """The median step as the cell runs without the recording where that is known, else of the recorded steps."""
        return self.step_ns if self.plain_ns is None else self.plain_ns

    @property
    def reference(self) -> str:
        """How a sentence calls it: `run 3`, or `before` where it has no number."""
        return f"run {self.run_number}" if self.run_number is not None else "before"


def write_summary(folder: Path, summary: Summary) -> None:
    """Put it beside the Recording; OSError where that cannot be."""
    (folder / FILE).write_bytes(msgspec.json.encode(summary))


def read_summary(folder: Path) -> Summary | None:
    """The Summary kept in a run's folder; None where there is none that this version can read."""
    try:
        summary = msgspec.json.decode((folder / FILE).read_bytes(), type=Summary)
    except (OSError, msgspec.DecodeError):
        return None
    return summary if summary.format == FORMAT else None


def _median_error(times: StepTime) -> float | None:
    durations = times.durations_ns[times.steady]
    if len(durations) < _FEWEST_STEPS or not times.median_ns:
        return None
    low, high = np.percentile(durations, [25, 75])
    return float(1.25 * (high - low) / 1.35 / math.sqrt(len(durations)) / times.median_ns)


def _step_budget(report: Report, times: StepTime) -> dict[str, float]:
    count = int(times.steady.sum())
    if not count:
        return {}
    steady = intervals.union(intervals.of(report.trace.steps.take(times.steady)))
    return {
        category: intervals.intersect(part, steady).total_ns / count
        for category, part in report.budget.parts.items()
        if not category.endswith("outside_steps")
    }
