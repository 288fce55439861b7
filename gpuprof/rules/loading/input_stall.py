"""The device (or, without one, the training loop) waits for the DataLoader.

What it finds
    The main thread sits inside the DataLoader's `__next__` while the device has nothing to do. On a run without a
    device the wait itself is counted, since nothing else happens in it; batches that are made, or handed over by
    workers that keep up, in a millisecond or two then count as part of the work until they take a fifth of it. The
    first batch of an iteration whose workers are still starting, and the last call that finds the loader exhausted,
    are left out, and so is one single wait that makes up most of them. It is a minor finding where workers wait for
    cores that other programs hold, and for a short wait without a device where no line is known to take most of it.

Why it costs
    The step cannot begin before its batch is there. Time in which the device is idle for want of data is lost; time in
    which the device still works off its queue is not, and does not count here.

What to do
    With `num_workers=0` each batch is made on the training thread itself: let worker processes make it ahead of time
    (`num_workers=N`, `persistent_workers=True`). N needs to be large enough that N workers make a batch in the time
    that the rest of a step takes; more do not help. Where that is more than the cores there are, where workers are
    there already, or where a batch is made in a millisecond or two (as long as a worker takes to hand it over), make
    the batch cheaper: transform whole batches instead of single samples (`__getitems__`, tensor operations), move
    transforms to the device, decode or resize once and store the result. Data that fit can stay on the device.

    Where one line of the dataset takes half of the wait or more, the finding names it, with what it calls: make that
    cheaper first. What it reads or decodes can be read once and kept, or stored so that it needs no decoding
    (`np.load(path, mmap_mode="r")`). What it computes can be computed once, or for whole batches. On a run without a
    device that work is the cost, wherever it runs: reduce it. Workers are offered as far as cores were free while the
    cell ran, by what it and other programs used of them.

    `next(iter(loader))` in each step prepares a whole epoch for one batch: start the iterator once instead.

    Each worker reads all samples of an `IterableDataset`, unless that shares them out by
    `torch.utils.data.get_worker_info()`: for those no more than one worker is advised.

When to leave it
When the cell is short compared with the start of worker processes (a second or so each), or when the data cannot be
read in parallel. A class defined in the notebook cannot be sent to a worker on macOS and Windows: workers start from
scratch there and must import it from a module.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.analyses.loading.wait_lines import WaitLine, WaitLines
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.context import Environment
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.loading.sample_making import only_handed_over
from gpuprof.rules.loading.wait_line_words import (
    cell_lines,
    line_cheaper,
    line_evidence,
    line_explanation,
    line_leave_it,
)
from gpuprof.rules.loading.whole_batches import takes_index_lists
from gpuprof.rules.loading.worker_words import besides, why_no_workers
from gpuprof.rules.saving.plain_parts import PlainParts
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.batches import batches_at_once, batches_planned

_PASSING_ON = ("enumerate", "islice", "iter", "tqdm")
_FEW_SAMPLES = "Leave it when a batch has only a few samples, or when samples are asked for one by one elsewhere, too."
_ONE_ITERATOR = (
    "Start the iterator once: `for batch in loader:`, or `batches = iter(loader)` before the loop and `next(batches)` "
    "in it, with a new one only where it is exhausted."
)


@dataclass(frozen=True)
class InputStall(Rule):
    """See the module."""

    guard = Guard.EXACT

    stall_share: float = threshold(0.05, "of the step: under it the cure is hardly seen among other variation")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    batches: float = threshold(2, "one wait alone may be start-up")
    lone_factor: float = threshold(5, "median waits: a longer one that is most of the waiting is chance, not the data")
    waiting_share: float = threshold(0.5, "of the making of a batch, waited for a core: less leaves other causes")
    held_share: float = threshold(0.75, "of the cores, by this run: below it, others hold those its workers wait for")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the waits."""
        pipeline, activity, scope = results.get(InputPipeline), results.get(DeviceActivity), Scope.of(results)
        if pipeline.wait_ns is None or pipeline.batch.sum() < self.batches or not scope.total_ns:
            return None
        idle_ns = pipeline.device_idle_in_wait_ns
        whole_ns, usual = pipeline.wait_ns if idle_ns is None else idle_ns, self._usual_part(pipeline)
        stall_ns = int(whole_ns * usual)
        share = scope.share(stall_ns) * _without_recording(results, usual)
        if share < self.stall_share:
            return None
        if activity.recorded is False:
            return without_device(self.name, results, "the device’s activity during the waits for data")
        plan = results.get(WorkerPlan)
        handed_over = plan.handover_dominates or only_handed_over(results)
        stalling = results.get(StallingLoader)
        if idle_ns is None and handed_over and share < self.high_share and not stalling.iterator_each_batch:
            return None  # more workers would not help, and a batch made or handed over that fast is part of the work
        who = f"The {RunWords.of(results).loop} waits" if idle_ns is None else "The device waits"
        ranges = pipeline.waits
        line = None if stalling.iterator_each_batch else results.get(WaitLines).line
        by_rows = plan.loader is not None and takes_index_lists(results, plan.loader)
        change = _change(
            plan, on_device=idle_ns is not None, line=line, name=_loader_name(results, plan), by_rows=by_rows
        )
        found = Finding(
            rule=self.name,
            severity=self._severity(results, share, line, by_rows=by_rows),
            title=f"{who} for data {units.percent(share)} of {scope.words}",
            explanation=(
                f"{_explanation(results, pipeline, plan)}{line_explanation(line)}{_samples(plan, by_rows)}"
                f"{_iterators(stalling)}"
            ),
            evidence={**_evidence(pipeline, plan, share), **line_evidence(line), **_iterator_counts(stalling)},
            where=Where(lines=_lines(results, plan, ranges, line), ranges_ns=worst(ranges)),
            change=_ONE_ITERATOR if stalling.iterator_each_batch else change,
            diff=None if stalling.iterator_each_batch else _diff(results, plan, by_rows, on_device=idle_ns is not None),
            # what the plain iterations wait is known without such a wait
            saving=_saving(results, whole_ns if idle_ns is None and PlainParts.of(results) else stall_ns, by_rows),
            leave_it=_FEW_SAMPLES if by_rows else line_leave_it(line),
        )
        return found if idle_ns is None else _retimed(results, found, None if by_rows else plan, ranges)

    def _severity(self, results: Results, share: float, line: WaitLine | None, *, by_rows: bool) -> Severity:
        """Without a device, all that a worker computes is taken from the same cores, and the work of a dataset may have
        to be done: it has to be known what makes the batches slow, and how to be spared that."""
        plan, started = results.get(WorkerPlan), results.get(StallingLoader).iterator_each_batch
        on_device = results.get(InputPipeline).device_idle_in_wait_ns is not None
        known = on_device or line is not None or by_rows or started
        spared = on_device or by_rows or started or plan.suggested is not None or (line is not None and line.reads)
        # without a line, whole batches may be what it lacks
        minor = (not known and share < self.high_share) or (line is not None and not spared)
        return Severity.LOW if minor or self._held_by_others(results) else graded(share, self.high_share)

    def _usual_part(self, pipeline: InputPipeline) -> float:
        """Of the recorded waiting, 0..1: without one wait that is most of it."""
        waits = pipeline.duration_ns[pipeline.batch]
        longest, rest = int(waits.max()), int(waits.sum() - waits.max())
        lone = longest > rest and longest > self.lone_factor * (pipeline.median_ns or 0.0)
        return rest / (longest + rest) if lone else 1.0

    def _held_by_others(self, results: Results) -> bool:
        plan, cores = results.get(WorkerPlan), results.get(CpuContention)
        threads, ratio = cores.worker_threads or 0.0, cores.worker_wait_ratio or 0.0
        if not plan.starved or threads * ratio / (1 + ratio) < self.waiting_share:
            return False
        if plan.cores is None or cores.process_cores is None or cores.children_cores is None:
            return False
        return cores.process_cores + cores.children_cores < self.held_share * plan.cores


def _without_recording(results: Results, usual: float) -> float:
    """By what the share of the steps in which they wait is larger or smaller in iterations that were not recorded.
    `usual`: the part of the recorded waiting that is compared."""
    plain, pipeline = PlainParts.of(results), results.get(InputPipeline)
    recorded = (pipeline.wait_share or 0.0) * usual
    return plain.iteration.wait_share / recorded if plain and recorded else 1.0


def _lines(results: Results, plan: WorkerPlan, waits: Intervals, line: WaitLine | None) -> tuple[int, ...]:
    known = plan.loader.line if plan.loader else None
    return tuple(
        dict.fromkeys((*cell_lines(line), *((known,) if known else results.get(LinePlaces).cell_lines(waits))))
    )


def _explanation(results: Results, pipeline: InputPipeline, plan: WorkerPlan) -> str:
    made = {0: f"made on the {RunWords.of(results).thread} itself (num_workers=0)", None: "made by the loader"}
    how = made.get(plan.workers, f"made by {units.plural(plan.workers or 0, 'worker process', 'worker processes')}")
    idle_ns = pipeline.device_idle_in_wait_ns
    idle = f"; the device was idle in {units.duration(idle_ns)} of it" if idle_ns is not None else ""
    return (
        f"{units.plural(int(pipeline.batch.sum()), 'batch', 'batches')} {how} took {units.duration(pipeline.wait_ns)} "
        f"of waiting{idle}. The median wait is {units.duration(pipeline.median_ns)}; the work between two waits takes "
        f"{units.duration(plan.rest_ns)}."
    )


def _samples(plan: WorkerPlan, by_rows: bool) -> str:
    if not by_rows or plan.loader is None:
        return ""
    made = units.plural(plan.loader.batch_size or 0, "sample")
    return f" Each batch is {made}, taken one by one of tensors that the dataset holds, and then put together."


def _iterators(stalling: StallingLoader) -> str:
    loader = stalling.loader
    if loader is None or not stalling.iterator_each_batch:
        return ""
    started, read = loader.iterations_started, units.plural(loader.batches_read, "batch", "batches")
    workers = " and starts its worker processes" if loader.workers and not loader.persistent_workers else ""
    return (
        f" An iterator is started for every batch: {units.count(started)} for {read}. Each one prepares a whole epoch "
        f"(a shuffled order of all samples, for one){workers}, and is dropped after its first batch."
    )


def _iterator_counts(stalling: StallingLoader) -> dict[str, float | int | str]:
    loader = stalling.loader
    if loader is None or not stalling.iterator_each_batch:
        return {}
    of_epoch = {"batches_in_epoch": loader.batches} if loader.batches else {}
    return {"iterators_started": loader.iterations_started, **of_epoch}


def _evidence(pipeline: InputPipeline, plan: WorkerPlan, share: float) -> dict[str, float | int | str]:
    times = {
        "wait_ms": pipeline.wait_ns,
        "device_idle_in_wait_ms": pipeline.device_idle_in_wait_ns,
        "wait_median_ms": pipeline.median_ns,
        "wait_p95_ms": pipeline.p95_ns,
        "work_between_waits_ms": plan.rest_ns,
    }
    counts = {"workers": plan.workers, "workers_needed": plan.needed, "cores": plan.cores}
    return {
        "stall_share": round(share, 4),
        "batches": int(pipeline.batch.sum()),
        **{name: units.milliseconds(value) for name, value in times.items() if value is not None},
        **{name: value for name, value in counts.items() if value is not None},
    }


def _loader_name(results: Results, plan: WorkerPlan) -> str:
    """What the line that iterates the loader calls it, as far as the text shows that; else `loader`."""
    cell, line = results.context.cell, plan.loader.line if plan.loader else None
    head = expressions_at(cell.source, line) if cell is not None and line is not None else []
    iterated = [each.iter for each in head if isinstance(each, ast.For | ast.comprehension)]
    iterated += [each for each in head if isinstance(each, ast.Call) and dotted(each.func) == "iter"]
    node = iterated[0] if len(iterated) == 1 else None
    while isinstance(node, ast.Call) and node.args and dotted(node.func).rpartition(".")[2] in _PASSING_ON:
        node = node.args[0]
    return (dotted(node) if node is not None else "") or "loader"


def _change(
    plan: WorkerPlan, *, on_device: bool, line: WaitLine | None = None, name: str = "loader", by_rows: bool = False
) -> str:
    anew = plan.loader is not None and plan.loader.samples_same < plan.loader.samples_compared
    if by_rows:
        return f"{_whole_batches(plan, name)}."
    cheaper = (
        _cheaper(plan, on_device=on_device) if line is None else line_cheaper(line, on_device=on_device, anew=anew)
    )
    if plan.handover_dominates and on_device:
        cheaper += ", or keep the data on the device if they fit and take batches by index"
    if plan.suggested is None or plan.needed is None:
        return f"{cheaper}.{why_no_workers(plan)}"
    limits = besides(plan)
    arguments = f"`num_workers={plan.suggested}, persistent_workers=True` for the DataLoader"
    if not on_device:
        return (
            f"{cheaper}. Besides, {arguments} makes batches while the loop computes, as far as a core is free then: "
            f"without a device both share the cores.{limits}"
        )
    if plan.suggested < plan.needed:
        short = plan.possible is not None and plan.possible < plan.needed
        lack = f", and this process has {units.plural(plan.cores or 0, 'core')}" if short else ""
        return (
            f"{cheaper}; it would take {units.plural(plan.needed, 'worker')} to keep up{lack}. Besides, {arguments} "
            f"can hide a part of it.{limits}"
        )
    if line is not None:
        return f"{cheaper}. Besides, {arguments} can hide what is left of the wait.{limits}"
    if plan.possible is None:
        return (
            f"Use {arguments}: so many make a batch in the time of the work between two waits, if that many cores are "
            f"free (take at most the cores of this process less one).{limits}"
        )
    return f"Use {arguments}: so many make a batch in the time of the work between two waits.{limits}"


def _whole_batches(plan: WorkerPlan, loader: str) -> str:
    name = (plan.loader.dataset if plan.loader else None) or "the dataset"
    return (
        f"Ask `{name}` for whole batches: `DataLoader({loader}.dataset, batch_size=None, "
        f"sampler={loader}.batch_sampler)` gives the same batches in the same order, and takes the rows of a batch at "
        "once (pass its other arguments again, but no `shuffle` and no `drop_last`). So does taking rows of the "
        "tensors in the loop"
    )


def _cheaper(plan: WorkerPlan, *, on_device: bool) -> str:
    name = plan.loader.dataset if plan.loader else None
    of = f"the batches of `{name}`" if name else "the batches"
    iterable = plan.loader is not None and plan.loader.iterable
    how = "yield whole batches, with `batch_size=None`" if iterable else "`__getitems__`, tensor operations"
    return (
        f"Make {of} cheaper: transform whole batches instead of single samples ({how})"
        f"{', move transforms to the device' if on_device else ''}, or precompute what does not change"
    )


def _diff(results: Results, plan: WorkerPlan, by_rows: bool, *, on_device: bool) -> str | None:
    """Whole batches where the dataset has them; with a device, worker processes that surely can make its batches.

    Not for iterable datasets (each worker would give all of their samples), nor where batches are made on the device,
    nor where workers are not forked: those cannot see the classes of a notebook.
    """
    loader = plan.loader
    if by_rows and loader is not None and loader.line is not None:
        at = loader.line
        return cell_diff(results, lambda source: _fetching_whole(source, at))
    if not on_device:
        return None
    if plan.suggested is None or plan.possible is None or not loader or loader.line is None or loader.samples is None:
        return None
    if not _forks(results.context.environment) or results.get(InputPipeline).launched_in_waits:
        return None
    line, workers = loader.line, str(plan.suggested)

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.loaders import set_loader

        return set_loader(source, line, num_workers=workers, persistent_workers="True")

    return cell_diff(results, edit)


def _fetching_whole(source: str, line: int) -> str | None:
    from gpuprof.code_edits.data.whole_batches import fetch_whole_batches

    return fetch_whole_batches(source, line)


def _forks(environment: Environment | None) -> bool:
    """Whether worker processes start as copies of this one: on Linux, until Python 3.14 changed it."""
    if environment is None or not environment.system.startswith("Linux"):
        return False
    version = environment.python.split(".")
    return len(version) > 1 and version[0] == "3" and version[1].isdecimal() and int(version[1]) < 14


def _saving(results: Results, stall_ns: int, by_rows: bool) -> Saving:
    scope, pipeline, plan = Scope.of(results), results.get(InputPipeline), results.get(WorkerPlan)
    each = results.get(StallingLoader).iterator_each_batch
    if each or by_rows or plan.saved_per_batch_ns is None or pipeline.device_idle_in_wait_ns is None:
        return scope.saving(0, stall_ns, stall_ns, "upper bound: all of the wait", part_of=pipeline.waits)
    hidden = min(stall_ns, plan.saved_per_batch_ns * int(pipeline.batch.sum()))
    workers = units.plural(plan.suggested or 0, "worker")
    return scope.saving(hidden / 3, hidden, hidden, f"upper bound: {workers}, as fast as this thread")


def _retimed(results: Results, found: Finding, plan: WorkerPlan | None, waits: Intervals) -> Finding:
    """With the waits that the suggested workers leave; where none are, without any: that is then the most."""
    made_ahead = batches_planned(plan, waits) if plan is not None else None
    if plan is None or made_ahead is None or results.get(StallingLoader).iterator_each_batch:
        basis, unknown = "upper bound: simulated without these waits", "how much cheaper a batch can be is not known"
        return retimed(results, found, batches_at_once(waits), basis, assumed=unknown)
    return retimed(
        results,
        found,
        made_ahead,
        f"upper bound: simulated with {units.plural(plan.suggested or 0, 'worker')} as fast as this thread; at "
        "worst a third of that",
        assumed="how fast worker processes are is assumed, not recorded",
    )
