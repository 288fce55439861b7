"""A dataset makes the same samples again in every pass.

What it finds
    A DataLoader without workers reads a dataset more than once in the cell, the same index gave samples with the same
    content each time (up to 64 are compared), and making them takes 8% of the cell or more: they are decoded, resampled
    or converted again in every epoch.

Why it costs
    What does not change from epoch to epoch has to be done once. Ten epochs do it ten times, before each batch.

What to do
    Make the samples once, before the loop over epochs, and let the loader read the results. Random changes
    (augmentation) stay in the loop, after what is kept.

When to leave it
    When the finished samples of the whole dataset fit neither into memory nor onto a fast disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.samples_made import SamplesMade
from gpuprof.model import intervals
from gpuprof.model.context import Loader
from gpuprof.rules.advice.loader_text import loader_made_at
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.saving.scope import graded, worst

_LINES = 3
_ERRORS = 2
# assumed: to read a finished sample from a list
_READING_NS = 10_000
_AT_WORST = 0.8
# of the machine's memory
_FITS = 0.25
_OTHERS = "Leave the other DataLoaders as they are: their samples differ from pass to pass, or were not compared."


@dataclass(frozen=True)
class SamplesMadeAgain(Rule):
    """See the module."""

    cell_share: float = threshold(0.08, "of the cell: less is not worth another copy of the data")
    high_share: float = threshold(0.20, "of the cell: then it is the first thing to change")
    compared: float = threshold(16, "samples: fewer may be the same by chance")
    sample_us: float = threshold(50, "to make one: reading a finished one takes a good part of less")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in the items of datasets, but for the first pass."""
        found = results.get(SamplesMade)
        loaders = [each for each in results.context.loaders if not each.workers and each.iterations_started > 1]
        if not found.total_ns:
            how = "They come from samples of its stack. `gpuprof doctor` tells why none were taken."
            return Abstention(self.name, "the phases of the whole cell", how) if loaders else None
        if found.repeated_share is None or sum(each.samples_compared for each in found.repeated) < self.compared:
            return None
        read = sum(each.batches_read * (each.batch_size or 1) for each in results.context.loaders if not each.workers)
        each_ns = found.making_ns / max(read, 1)
        if each_ns < 1_000 * self.sample_us:
            return None
        part = found.repeated_share * (1 - _READING_NS / each_ns)
        saved = part * found.share
        if saved < max(self.cell_share, _ERRORS * found.error):
            return None
        return self._finding(results, found, saved, each_ns)

    def _finding(self, results: Results, found: SamplesMade, saved: float, each_ns: float) -> Finding:
        largest = found.repeated[0]
        dataset, compared = largest.dataset or "dataset", sum(each.samples_compared for each in found.repeated)
        name, only = f"`{dataset}`{_of_loader(results, found)}", ""
        if name != f"`{dataset}`":
            only = f" {_OTHERS}"
        ns, waits = saved * found.total_ns, intervals.union(results.get(InputPipeline).waits)
        basis = "estimate: samples are made once, their part of the sampled time"
        return Finding(
            rule=self.name,
            severity=graded(saved, self.high_share),
            title=f"{name} makes the same samples again in every pass",
            explanation=(
                f"Making samples takes {units.percent(found.share)} of the cell, {units.duration(each_ns)} each. "
                f"{units.plural(compared, 'sample')} of later passes were compared with the first: all had the same "
                "content."
            ),
            evidence={
                "making_ms": units.milliseconds(found.making_ns),
                "making_share": round(found.share, 4),
                "repeated_share": round(found.repeated_share or 0.0, 4),
                "sample_us": round(each_ns / 1_000, 1),
                "compared_samples": compared,
                **_needed(largest),
            },
            where=Where(lines=tuple(line for line, _ in found.lines[:_LINES]), ranges_ns=worst(waits)),
            change=(
                f"Make the samples of {name} once, before {RunWords.of(results).passes}: `samples = [loader.dataset[i] "
                f"for i in range(len(loader.dataset))]`, where `loader` is the DataLoader{_at_line(largest)}. "
                f"Make that DataLoader of `samples` in place of its dataset{_makers(results, found)}.{_each(found)} "
                f"{_memory(results, found.repeated)}"
            ).rstrip()
            + only,
            during=waits if waits.total_ns else None,
            saving=Saving(_AT_WORST * ns, ns, ns, saved, "C", basis, of_cell=True),
        )


def _of_loader(results: Results, found: SamplesMade) -> str:
    """` of the DataLoader at line 84`, where another loader reads the same kind of data set, whose samples differ."""
    largest = found.repeated[0]
    alike = [each for each in results.context.loaders if each.dataset == largest.dataset and each.batches_read]
    others = len(alike) > len([each for each in found.repeated if each.dataset == largest.dataset])
    return f" of the DataLoader at line {largest.line}" if others and largest.line is not None else ""


def _at_line(loader: Loader) -> str:
    return f" in line {loader.line}" if loader.line is not None else ""


def _each(found: SamplesMade) -> str:
    """Where several DataLoaders make theirs again."""
    lines = dict.fromkeys(each.line for each in found.repeated[1:] if each.line is not None)
    if not lines:
        return ""
    where = f"in {'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines))}"
    return f" Do the same for the DataLoader {where}, with a list of its own."


def _makers(results: Results, found: SamplesMade) -> str:
    """`, in lines 58 and 59`: where the text makes these DataLoaders."""
    cell, read = results.context.cell, {each.line for each in found.repeated if each.line is not None}
    made = {loader_made_at(cell.source, line) for line in read} if cell is not None else set()
    lines = [str(each) for each in sorted(made - {0})]
    if not lines or 0 in made:
        return ""
    return f", in line {lines[0]}" if len(lines) == 1 else f", in lines {', '.join(lines[:-1])} and {lines[-1]}"


def _needed(loader: Loader) -> dict[str, int]:
    if loader.sample_bytes is None or loader.samples is None:
        return {}
    return {"samples_bytes": loader.sample_bytes * loader.samples}


def _memory(results: Results, loaders: Sequence[Loader]) -> str:
    """Of one DataLoader at each line: an evaluation may make its own anew each time."""
    each = {(one.line, one.dataset): _needed(one).get("samples_bytes") for one in loaders}
    environment = results.context.environment
    if None in each.values() or not each:
        return ""
    needed = sum(number or 0 for number in each.values())
    memory = environment.host_memory_bytes if environment else None
    if memory and needed > _FITS * memory:
        return (
            f"The samples take {units.size(needed)}, a large part of the memory: keep them in a file (`numpy.memmap`)."
        )
    return f"The samples take {units.size(needed)} of memory."
