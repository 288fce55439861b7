"""The DataLoader starts its workers anew for each pass over the data.

What it finds
    A DataLoader with workers and without `persistent_workers=True` that the cell iterates more than once, where
    ending one pass's workers, setting up the next pass and waiting longer for its first batch takes at least 3 % of
    the cell.

Why it costs
    At the end of a pass the workers end, and the next pass starts new processes: some 10 to 100 ms each where they
    are forked, seconds where they import everything afresh. Until the first batch is there nothing else happens.

What to do
    `persistent_workers=True`: the workers stay, and begin with the next pass's batches at once.

When to leave it
    When the dataset changes between passes: workers that stay keep the copy of it that they started with. They also
    keep its memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.worker_starts import WorkerStarts
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.scope import MOST_RANGES, graded


@dataclass(frozen=True)
class WorkersRestarted(Rule):
    """See the module."""

    guard = Guard.EXACT
    whole_cell = True

    restart_share: float = threshold(0.03, "of the cell: less is hardly measurable")
    high_share: float = threshold(0.20, "of the cell: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the passes after the first."""
        starts, pipeline = results.get(WorkerStarts), results.get(InputPipeline)
        if not results.context.loaders:
            slow = (pipeline.first_ns or 0) >= self.restart_share * results.span_ns > 0
            if pipeline.in_process is False and pipeline.first.sum() > 1 and slow:
                return Abstention(
                    self.name,
                    "the DataLoader’s settings",
                    "Profile the cell with `%%gpuprofile`; a trace file does not hold them.",
                )
            return None
        if starts.loader is None or starts.share is None or starts.share < self.restart_share:
            return None
        loader, passes = starts.loader, starts.restarts
        inside = [
            (max(a, results.span_start_ns), min(b, results.span_end_ns))
            for a, b in starts.ranges_ns
            if b > results.span_start_ns and a < results.span_end_ns
        ]
        return Finding(
            rule=self.name,
            severity=graded(starts.share, self.high_share),
            title=f"Starting the DataLoader’s workers anew takes {units.percent(starts.share)} of the cell",
            explanation=(
                f"The cell went over a DataLoader with {units.plural(loader.workers, 'worker')} "
                f"{units.plural(passes + 1, 'time')}, and started its workers each time. Ending them, setting up and "
                f"waiting longer for the first batch took {units.duration(starts.cost_ns)} in the later "
                f"{units.plural(passes, 'pass', 'passes')}, {units.duration(starts.cost_ns / passes)} each."
            ),
            evidence={
                "passes": passes + 1,
                "workers": loader.workers,
                "restarts_ms": units.milliseconds(starts.cost_ns),
                "restart_share_of_cell": round(starts.share, 4),
            },
            where=Where(lines=_lines(results, loader.line, inside), ranges_ns=tuple(inside[:MOST_RANGES])),
            change="Use `persistent_workers=True` for the DataLoader, and make it once, before "
            f"{RunWords.of(results).passes}.",
            diff=_diff(results, loader.line),
            # a fork costs afterwards as well, when pages are written to anew: how much is not seen
            saving=Saving(
                starts.cost_ns * 0.5,
                starts.cost_ns,
                starts.cost_ns * 1.5,
                starts.share,
                "C",
                "estimate: no start after the first pass",
                of_cell=True,
            ),
        )


def _diff(results: Results, line: int | None) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.loaders import set_loader

        return None if line is None else set_loader(source, line, persistent_workers="True")

    return cell_diff(results, edit)


def _lines(results: Results, known: int | None, ranges: list[tuple[int, int]]) -> tuple[int, ...]:
    started = Intervals(*np.array(ranges, np.int64).reshape(-1, 2).T)
    return (known,) if known else results.get(LinePlaces).cell_lines(started)
