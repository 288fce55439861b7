"""More worker threads compute than this process has cores, and they, or the training loop, wait for a core.

What it finds
    While they make batches, the DataLoader's workers together want at least one and a half times the cores that this
    process may use, and the kernel's scheduler says that they waited for a core for at least half of the time that they
    computed. Besides, the main thread waited for a core itself, or the steps wait for data. Workers that wait for a
    disk or a network want no core and do not count. The first batches of each worker are measured, on Linux.

    Or: such workers, more than one and a half times the cores, whose starting and ending takes at least 5 % of the cell
    beyond what as many as there are cores for would take.

Why it costs
    A core computes one thread at a time: more workers than cores make no more batches in a second. They only take
    turns, use memory, and take the core from the training thread just when it has work to launch. Each is a process
    that is started before the first batch and ended after the last, one after the other.

What to do
    No more workers than cores (one less where the training thread keeps one busy), and one thread in each: torch's own
    default in a worker, but a `worker_init_fn`, OpenCV (`cv2.setNumThreads(0)`) or a BLAS library (`OMP_NUM_THREADS=1`)
    may start more. Where the steps wait for data, fewer workers do not make batches faster: the wait is what the
    batches cost on these cores. Make them cheaper, move transforms to the device, or take a machine with more cores. A
    sample's own times are true only once it no longer waits for a core: profile again before you look for the slow
    transform.

When to leave it
    When the cores were only short because something else ran on the machine meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.sample_cost import SampleCost
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.analyses.loading.worker_starts import WorkerUpkeep
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.scope import Scope, graded

_SEVERAL = 1.5  # threads that compute at once in a worker


@dataclass(frozen=True)
class WorkersOversubscribed(Rule):
    """See the module."""

    guard = Guard.EXACT
    whole_cell = True

    wanted_per_core: float = threshold(1.5, "threads that compute: a few more than cores even out uneven samples")
    wait_ratio: float = threshold(0.5, "of the workers’ computing: less is the ordinary taking of turns")
    used_share: float = threshold(0.4, "of the cores, by workers in the steps: else others hold them")
    main_share: float = threshold(0.05, "of the step, waited for a core by the main thread: less is noise")
    stall_share: float = threshold(0.05, "of the step, waited for data: less is hardly felt")
    high_share: float = threshold(0.20, "of the step, both together: then it is the first thing to mend")
    start_share: float = threshold(0.05, "of the cell, to start and end workers too many: less is hardly felt")
    computing: float = threshold(
        0.5, "of the time in which a worker has the cores it wants: below it more workers than cores may help"
    )
    readings: float = threshold(5, "of the main thread in the steps: fewer say too little")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the workers of the awaited loader."""
        plan, waits = results.get(WorkerPlan), results.get(CpuContention)
        if not plan.workers and (plan.loader or results.get(InputPipeline).in_process is not False):
            return None
        threads, ratio = waits.worker_threads, waits.worker_wait_ratio
        if not plan.workers or plan.cores is None or threads is None or ratio is None:
            return Abstention(
                self.name,
                "how long the worker processes waited for a core",
                "Profile the cell that makes the DataLoader with `%%gpuprofile`, on Linux with forked workers; those "
                "that ran before the cell, and those of iterable datasets, are not timed.",
            )
        # a little above 1 is the thread that hands the batches over
        wanted = plan.workers * (1.0 if 1 < threads < _SEVERAL else threads)
        used = waits.children_cores
        if plan.workers >= self.wanted_per_core * plan.cores and _computes(results) >= self.computing:
            spare = self._too_many(results)
            if spare is not None:
                return spare
        held_by_others = used is not None and used < self.used_share * plan.cores
        if wanted < self.wanted_per_core * plan.cores or ratio < self.wait_ratio or held_by_others:
            return None
        main = (waits.main_wait_share or 0.0) if waits.readings >= self.readings else 0.0
        stall = Scope.of(results).share(results.get(SampleCost).stall_ns or 0)
        main, stall = (main if main >= self.main_share else 0.0), (stall if stall >= self.stall_share else 0.0)
        return self._finding(results, wanted, main, stall) if main or stall else None

    def _too_many(self, results: Results) -> Finding | None:
        plan, upkeep = results.get(WorkerPlan), results.get(WorkerUpkeep)
        fits = _fitting(results, 0.0)
        if fits is None or upkeep.share is None or upkeep.cost_ns is None or not plan.workers or plan.cores is None:
            return None
        part = (plan.workers - fits) / plan.workers
        share = upkeep.share * part
        if share < self.start_share:
            return None
        saved, line = upkeep.cost_ns * part, plan.loader.line if plan.loader else None
        cores = units.plural(plan.cores, "core")
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Starting {plan.workers} workers for {cores} takes {units.percent(upkeep.share)} of the cell",
            explanation=(
                f"Starting and ending {units.plural(plan.workers, 'worker')} took {units.duration(upkeep.cost_ns)}. "
                f"They compute rather than wait, so that no more than {cores} of them work at a time."
            ),
            evidence={
                "workers": plan.workers,
                "cores": plan.cores,
                "start_and_end_ms": units.milliseconds(upkeep.cost_ns),
                "start_and_end_share_of_cell": round(upkeep.share, 4),
            },
            where=Where(lines=(line,) if line else ()),
            change=f"Use `num_workers={fits}`: that leaves a core for the {RunWords.of(results).thread}, and more only "
            "take turns.",
            diff=_diff(results, 0.0),
            saving=Saving(
                saved * 0.5,
                saved,
                saved,
                share,
                "C",
                "estimate: starting and ending take as long for each worker",
                of_cell=True,
            ),
            leave_it="Leave it when the cell is a short trial of a long run: workers are started once a pass.",
        )

    def _finding(self, results: Results, wanted: float, main: float, stall: float) -> Finding:
        plan, waits, scope = results.get(WorkerPlan), results.get(CpuContention), Scope.of(results)
        assert plan.workers and plan.cores and waits.worker_threads and waits.worker_wait_ratio
        line = plan.loader.line if plan.loader else None
        cores = units.plural(plan.cores, "core")
        felt = [f"the main thread waited for a core {units.percent(main)} of the steps’ time"] * bool(main)
        felt += [f"the steps waited for data {units.percent(stall)} of theirs"] * bool(stall)
        return Finding(
            rule=self.name,
            severity=graded(main + stall, self.high_share),
            title=f"{units.plural(plan.workers, 'worker')} want {wanted:.0f} cores at once, and there are {plan.cores}",
            explanation=(
                f"While it makes a batch a worker has {waits.worker_threads:.1f} threads that compute or would, on "
                f"average; {units.plural(plan.workers, 'worker')} on {cores} waited for a core "
                f"{waits.worker_wait_ratio:.1f} times as long as they computed. Meanwhile {', and '.join(felt)}."
            ),
            evidence=_evidence(plan, waits, wanted, stall),
            where=Where(lines=(line,) if line else ()),
            change=_change(results, stall),
            diff=_diff(results, stall),
            saving=None if stall else _saving(scope, main),
            leave_it="Leave it when something else that ran on the machine took the cores only for now.",
        )


def _computes(results: Results) -> float:
    """What a worker computes of the time that is left of the making of batches without its waits for a core."""
    loading = results.get(SampleCost).loading
    if loading is None or loading.cpu_ns <= 0:
        return 0.0
    rest_ns = loading.sample_ns + loading.collate_ns - (loading.core_wait_ns or 0)
    return loading.cpu_ns / max(rest_ns, loading.cpu_ns)


def _threads_are_many(plan: WorkerPlan) -> bool:
    return plan.threads > 1


def _fitting(results: Results, stall: float) -> int | None:
    """Workers of one thread that there are cores for; None where there are no more than that.

    While the training thread waits for data it needs no core of its own.
    """
    plan = results.get(WorkerPlan)
    assert plan.workers and plan.cores
    fits = max(plan.cores if stall else plan.cores - 1, 1)
    return fits if fits < plan.workers else None


def _change(results: Results, stall: float) -> str:
    plan, cost, fits = results.get(WorkerPlan), results.get(SampleCost), _fitting(results, stall)
    steps = []
    if _threads_are_many(plan):
        steps.append(
            f"Let each worker compute with one thread instead of about {plan.threads}: `torch.set_num_threads(1)` in "
            "its `worker_init_fn`, `cv2.setNumThreads(0)` for OpenCV, `OMP_NUM_THREADS=1` for NumPy’s libraries."
        )
    if fits is not None:
        enough = (
            "so many keep these cores busy" if stall else f"that leaves a core for the {RunWords.of(results).thread}"
        )
        steps.append(f"Use `num_workers={fits}`: {enough}, and more only take turns.")
    if stall:
        slow = cost.slowest if cost.slowest and (cost.slowest_share or 0.0) >= 0.5 else None
        named = f" (`{slow.name}` takes {units.percent(cost.slowest_share or 0.0)} of their time)" if slow else ""
        device = ", move transforms to the device" if results.get(DeviceActivity).primary is not None else ""
        steps.append(
            "The wait for data that remains is what the batches cost on these cores: more workers cannot shorten it, "
            f"cheaper batches can{named}: transform whole batches instead of single samples{device}, or precompute "
            "what does not change."
        )
    return " ".join(steps)


def _evidence(plan: WorkerPlan, waits: CpuContention, wanted: float, stall: float) -> dict[str, float | int | str]:
    facts = {
        "workers": plan.workers,
        "cores": plan.cores,
        "cores_wanted": round(wanted, 1),
        "threads_per_worker": round(waits.worker_threads or 0.0, 2),
        "worker_core_wait_per_cpu": round(waits.worker_wait_ratio or 0.0, 2),
        "main_core_wait_share": None if waits.main_wait_share is None else round(waits.main_wait_share, 4),
        "worker_cores_used": None if waits.children_cores is None else round(waits.children_cores, 2),
        "stall_share": round(stall, 4) if stall else None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _diff(results: Results, stall: float) -> str | None:
    """The number of workers, where it alone is the cure."""
    plan, fits = results.get(WorkerPlan), _fitting(results, stall)
    if fits is None or _threads_are_many(plan) or plan.loader is None or plan.loader.line is None:
        return None
    line, workers = plan.loader.line, str(fits)

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.loaders import set_loader

        return set_loader(source, line, num_workers=workers)

    return cell_diff(results, edit)


def _saving(scope: Scope, main: float) -> Saving | None:
    """The main thread's own waiting. Where it waits for data, it would only wait for them longer: no number then."""
    if not main:
        return None
    waited = main * scope.total_ns
    return scope.saving(0, waited, waited, "upper bound: the main thread never waits for a core")
