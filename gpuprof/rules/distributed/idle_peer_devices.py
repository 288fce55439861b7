"""Other devices that this process may use stand idle while one trains.

What it finds
    Two or more visible devices of which one trains, computing for at least half of the step, while the driver's
    readings show another one without any kernel and without any process on it.

Why it costs
    Data-parallel training on n devices takes up to n times as many readings a second, less what the gradients' exchange
    costs.

What to do
    Run one process a device with `torch.nn.parallel.DistributedDataParallel`, started by `torchrun` or, in a notebook,
    by `accelerate.notebook_launcher`. Not with `torch.nn.DataParallel`: it copies the model in every step, in one
    process. First mend what else this report finds: several devices that wait are no faster than one.

When to leave it
    When the devices are meant for others, when the model trains in minutes, or when a batch that is n times as large
    does not train as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.device_usage import DeviceUsage, Peer
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.scope import Scope

GIB = 1 << 30


@dataclass(frozen=True)
class IdlePeerDevices(Rule):
    """See the module."""

    idle_share: float = threshold(0.95, "of a peer's readings without any kernel: a display may wake it now and then")
    readings: float = threshold(5, "readings: fewer do not show that nobody uses it")
    compute_share: float = threshold(0.5, "of the step: below it the one device waits, and two would wait as well")
    used_gib: float = threshold(2, "in use on a peer: then somebody's process is there, whether listed or not")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the devices beside the one that works."""
        several, device = results.get(DeviceUsage), results.get(DeviceActivity).primary
        if several.distributed or (several.visible is not None and several.visible < 2):
            return None
        if device is None:
            return without_device(self.name, results, "which devices did any work")
        if len(several.used) > 1 or not results.get(OptimizerSteps).uses:
            return None
        scope = Scope.of(results)
        computing = scope.share(intervals.intersect(device.compute, scope.within).total_ns)
        if computing < self.compute_share:
            return None
        if several.visible is None or all(peer.idle_share is None for peer in several.peers):
            return Abstention(
                self.name,
                "the driver’s readings of the other devices",
                "Profile the cell with `%%gpuprofile`, without `--no-nvml`; a trace does not hold them.",
            )
        idle = [peer for peer in several.peers if self._is_idle(peer)]
        return self._finding(several, idle, computing) if idle else None

    def _is_idle(self, peer: Peer) -> bool:
        return (
            peer.readings >= self.readings
            and (peer.idle_share or 0) >= self.idle_share
            and not peer.processes
            and (peer.used_bytes or 0) < self.used_gib * GIB
        )

    def _finding(self, several: DeviceUsage, idle: list[Peer], computing: float) -> Finding:
        number = len(idle) + 1
        named = ", ".join(f"{peer.device}" + (f" ({peer.name})" if peer.name else "") for peer in idle)
        return Finding(
            rule=self.name,
            severity=Severity.LOW,
            title=f"{units.plural(len(idle), 'visible device')} {'stands' if len(idle) == 1 else 'stand'} idle while "
            "one trains",
            explanation=(
                f"Device {several.used[0]} computes for {units.percent(computing)} of the step; the driver saw no "
                f"kernel and no process on device {named}."
            ),
            evidence={
                "visible_devices": several.visible or 0,
                "idle_devices": len(idle),
                "compute_share": round(computing, 4),
                "readings": min(peer.readings for peer in idle),
            },
            change=f"Train on {number} devices with `DistributedDataParallel`, one process each: "
            f"`torchrun --nproc-per-node={number}`, or `accelerate.notebook_launcher(train, num_processes={number})` "
            "in the notebook, before the first use of CUDA. Not with `torch.nn.DataParallel`.",
        )
