"""What one sample of the awaited dataset costs: its reading, its transforms, and whether it computes or waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.loading import Loading, TransformTime
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class SampleCost(Result):
    """Of the dataset whose loader the steps waited for longest. Shares are 0..1; None is *unknown*.

    `loading`: what was timed; None where nothing was, or where two datasets cannot be told apart. `slowest`: the
    transform that takes longest, `slowest_share` of reading and collating. `transforms_share`: all of them.
    `processors_used`: processor time of the process, and its waiting for a core, ÷ wall time of reading and collating;
    above 1 where several threads compute. `blocked_per_sample`: waits for something else
    than a processor, per sample.
    `stall_ns`: the wait for batches within the steps in which the device, if there is one, was idle.
    `workers_suffice`: as many workers as there are cores for can hide all of it.
    """

    loading: Loading | None
    slowest: TransformTime | None
    slowest_share: float | None
    transforms_share: float | None
    processors_used: float | None
    blocked_per_sample: float | None
    stall_ns: int | None
    workers_suffice: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the timed batches of a live run."""
        plan, loading = results.get(WorkerPlan), results.get(StallingLoader).loading
        suffice = plan.suggested is not None and plan.needed is not None and plan.suggested >= plan.needed
        stall_ns = _stall(results)
        wall = loading.sample_ns + loading.collate_ns if loading else 0
        if loading is None or wall <= 0 or not loading.samples:
            return cls(None, None, None, None, None, None, stall_ns, suffice)
        slowest = max(loading.transforms, key=lambda each: each.duration_ns, default=None)
        return cls(
            loading=loading,
            slowest=slowest,
            slowest_share=slowest.duration_ns / wall if slowest else None,
            transforms_share=sum(each.duration_ns for each in loading.transforms) / wall,
            processors_used=(loading.cpu_ns + (loading.core_wait_ns or 0)) / wall,
            blocked_per_sample=None if loading.blocked is None else loading.blocked / loading.samples,
            stall_ns=stall_ns,
            workers_suffice=suffice,
        )


def _stall(results: Results) -> int | None:
    pipeline = results.get(InputPipeline)
    if results.get(DeviceActivity).recorded is False:
        return None
    idle_ns = pipeline.device_idle_in_wait_ns
    return pipeline.wait_ns if idle_ns is None else idle_ns
