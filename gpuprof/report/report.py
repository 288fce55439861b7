"""Wires one Trace to its Results, Findings, verdict and trust line. Pure: the same Trace gives the same Report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model.measured import Measured
from gpuprof.model.trace import Trace
from gpuprof.report.gate import Gate
from gpuprof.report.trust import Trust
from gpuprof.report.verdict import Verdict
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import judge


@dataclass(frozen=True, eq=False)
class Report:
    """Everything a view needs. `findings` are best first; `budget` adds up to its whole exactly.

    `gate`: whether the recording can be judged; `findings` and `abstained` are what it left of them.

    `ranks`: those that were loaded together, ascending; the Report is of the trace's own rank.
    """

    trace: Trace
    results: Results
    findings: tuple[Finding, ...]
    abstained: tuple[Abstention, ...]
    budget: TimeBudget
    verdict: Verdict
    trust: Trust
    gate: Gate
    ranks: tuple[int, ...] = ()
    measured: tuple[Measured, ...] = ()

    @classmethod
    def of(
        cls,
        trace: Trace,
        ranks: tuple[int, ...] = (),
        *,
        others: Sequence[Trace] = (),
        measured: tuple[Measured, ...] = (),
    ) -> Self:
        """Analyse and judge a Trace; `others` are the other ranks' and `ranks` the numbers of all, its own included.

        `measured`: what `%gputry` made of its findings.
        """
        results = Results(trace, others)
        judgement = judge(results)
        budget, gate = results.get(TimeBudget), Gate.of(results, judgement)
        return cls(
            trace=trace,
            results=results,
            gate=gate,
            findings=gate.findings,
            abstained=gate.abstained,
            budget=budget,
            verdict=Verdict.of(trace, results, gate),
            trust=Trust.of(trace, results, ranks),
            ranks=ranks,
            measured=measured,
        )

    @property
    def title(self) -> str:
        """What was profiled: the cell's name or number, else the file."""
        cell = self.trace.context.cell
        if cell is None:
            return self.trace.source.path.rpartition("/")[2]
        number = f"In [{cell.execution_count}]" if cell.execution_count is not None else "cell"
        return f"{number} “{cell.name}”" if cell.name else number

    @property
    def error(self) -> str | None:
        """The class name of the exception that ended the cell, if one did."""
        outcome = self.trace.context.outcome
        return outcome.error if outcome else None

    def measured_of(self, number: int, finding: Finding) -> Measured | None:
        """The newest that `%gputry` measured of this finding, whose number is from 1; None where it was not tried."""
        tried = [each for each in self.measured if each.number == number and each.rule == finding.rule]
        return tried[-1] if tried else None

    @property
    def step_ns(self) -> float | None:
        """Median duration of a step; None where no steps were found."""
        return self.results.get(StepTime).median_ns
