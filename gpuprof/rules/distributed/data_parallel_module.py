"""The model is wrapped in torch.nn.DataParallel.

What it finds
    Calls of `DataParallel.forward` with work on two or more devices.

Why it costs
    In every step one process copies the whole model to the other devices, scatters the batch, runs a Python thread for
    each device (only one of which runs Python at a time), and gathers the outputs on the first device, whose memory
    fills up sooner.

What to do
    `torch.nn.parallel.DistributedDataParallel`, one process a device, started by `torchrun` or, in a notebook, by
    `accelerate.notebook_launcher`: the model stays where it is and only gradients are exchanged, under backward.

When to leave it
When the devices have no NVLink and the model is small: try a single device first.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.ranks.device_usage import DeviceUsage
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.scope import Scope, graded, worst


@dataclass(frozen=True)
class DataParallelModule(Rule):
    """See the module."""

    forward_share: float = threshold(0.03, "of the step in its forward: less is hardly worth a change")
    high_share: float = threshold(0.50, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the forward passes of DataParallel."""
        several, activity = results.get(DeviceUsage), results.get(DeviceActivity)
        if not several.data_parallel_calls or activity.recorded is None:
            return None
        device = activity.primary
        if device is None:
            return without_device(self.name, results, "on how many devices it ran")
        if len(several.used) < 2:
            return None
        scope = Scope.of(results)
        forward = intervals.intersect(several.data_parallel, scope.within)
        share = scope.share(forward.total_ns)
        if share < self.forward_share:
            return None
        idle = forward
        for use in activity.devices:
            idle = intervals.subtract(idle, use.busy)
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"torch.nn.DataParallel copies the model to {len(several.used)} devices in every step",
            explanation=(
                f"{units.plural(several.data_parallel_calls, 'call')} of `DataParallel.forward` took "
                f"{units.duration(forward.total_ns)} on the host, {units.percent(share)} of {scope.words}; all devices "
                f"were idle in {units.duration(idle.total_ns)} of it."
            ),
            evidence={
                "calls": several.data_parallel_calls,
                "devices": len(several.used),
                "forward_ms": units.milliseconds(forward.total_ns),
                "forward_share": round(share, 4),
                "idle_ms": units.milliseconds(idle.total_ns),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(forward), ranges_ns=worst(forward)),
            change="Use `torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank])` in one process a device, "
            f"started by `torchrun --nproc-per-node={len(several.used)}` or `accelerate.notebook_launcher`.",
            saving=scope.saving(
                0, idle.total_ns, forward.total_ns, "upper bound: none of its time on the host, the idle time at least"
            ),
        )
