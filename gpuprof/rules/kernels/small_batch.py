"""The kernels are too small to fill the device, and its memory is mostly free.

What it finds
    Most of the kernel time goes into kernels whose grid has fewer thread blocks than the device holds at once (under
    one wave, or nearly so), while the peak of memory stays under half of the device.

Why it costs
    Such a kernel uses a part of the multiprocessors and takes nearly as long as one several times its size: more
    samples a step cost little more time.

What to do
    Raise the batch size until memory or the time per sample sets the limit, and adapt the learning rate. Where the
    batch cannot grow, run several models or sequences side by side.

When to leave it
    When the batch size is part of the method, when a larger one trains worse, or in inference for one user at a time:
    training dynamics change with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.saving.scope import Scope


@dataclass(frozen=True)
class SmallBatch(Rule):
    """See the module."""

    small_share: float = threshold(
        0.5, "of the kernel time in kernels under one wave: they are what the step is made of"
    )
    waves: float = threshold(0.9, "of a full wave: kernels that stay on the device leave some places to whole clusters")
    compute_share: float = threshold(0.3, "of the step: below it something else holds up the device")
    memory_share: float = threshold(0.5, "of the device at the peak: above it a doubled batch may not fit")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge how far the kernels fill the device."""
        activity, kernels, scope = results.get(DeviceActivity), results.get(Kernels), Scope.of(results)
        device = activity.primary
        if device is None:
            return without_device(self.name, results, "the device’s kernels")
        if not kernels.total_ns:
            return None
        computing = scope.share(intervals.intersect(device.compute, scope.within).total_ns)
        table = kernels.table
        under = table["waves"] < self.waves
        small = int(table["total_ns"][under].sum())
        if computing < self.compute_share or small < self.small_share * kernels.total_ns:
            return None
        memory = results.get(MemoryPeak).primary
        peak = memory.whole_peak_bytes if memory else None
        if memory is None or not peak or not memory.limit_bytes:
            return Abstention(
                self.name,
                "the peak of device memory: whether a larger batch would fit",
                "Profile the cell with `%%gpuprofile --memory`.",
            )
        if peak > self.memory_share * memory.limit_bytes:
            return None
        waves = float(np.average(table["waves"][under], weights=table["total_ns"][under]))
        return self._finding(results, scope, memory, small / kernels.total_ns, waves)

    def _finding(self, results: Results, scope: Scope, memory: MemoryUse, share: float, waves: float) -> Finding:
        peak, limit = known(memory.whole_peak_bytes), known(memory.limit_bytes)
        small_ns = share * results.get(Kernels).total_ns
        sizes = [loader.batch_size for loader in results.context.loaders if loader.batch_size]
        factor = memory.batches_that_fit
        to = f"from {sizes[0]} " if sizes else ""
        most = f" By the memory measured, about {factor}× as many samples fit." if factor else ""
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM,
            title=f"Small kernels leave most of the device unused in {units.percent(share)} of the kernel time",
            explanation=(
                f"Kernels in {units.percent(share)} of the kernel time have too few thread blocks to fill the device "
                f"({waves:.2f} waves on average), while memory peaks at {units.size(peak)} of {units.size(limit)}."
            ),
            evidence={
                "small_kernel_share": round(share, 4),
                "waves": round(waves, 3),
                "peak_allocated_bytes": peak,
                "memory_bytes": limit,
                **({"batch_size": sizes[0]} if sizes else {}),
                **({"batches_that_fit": factor} if factor else {}),
            },
            where=Where(lines=_lines(results)),
            change=f"Raise the batch size {to}step by step (doubling it) and watch samples per second.{most} "
            f"{RunWords.of(results).batch_note}".rstrip(),
            saving=scope.saving(
                0,
                small_ns * (1 - waves),
                small_ns * (1 - waves),
                "upper bound, for the same number of samples: these kernels fill the device",
            ),
        )


def _lines(results: Results) -> tuple[int, ...]:
    """The lines that launch the kernels of less than one wave."""
    kernels = results.get(Kernels)
    return results.get(LaunchPlaces).lines(kernels.rows_named(kernels.table["name"][kernels.table["waves"] < 1]))
