"""What the rules on the driver's memory calls share: what these cost in the steady steps."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.allocator_calls import AllocatorCalls
from gpuprof.model import intervals
from gpuprof.rules.base.finding import Finding, Saving
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope
from gpuprof.whatif.changes.trace_changes import calls_gone


@dataclass(frozen=True, eq=False)
class MemoryCalls:
    """`calls` of the steady steps, with the device idle for `idle_ns` in them; `share` of these steps, 0..1."""

    calls: AllocatorCalls
    idle_ns: int
    share: float
    results: Results

    @classmethod
    def of(cls, results: Results) -> MemoryCalls | None:
        """None without device activity: then nothing tells what they cost."""
        calls, device = results.get(AllocatorCalls), results.get(DeviceActivity).primary
        if device is None:
            return None
        idle = intervals.subtract(calls.host, device.busy).total_ns
        within = calls.within.total_ns
        return cls(calls, idle, idle / within if within else 0.0, results)

    def are_habit(self, steps_share: float) -> bool:
        """Whether at least that part of the steady steps has such calls."""
        return self.calls.steps > 0 and self.calls.steps_with >= steps_share * self.calls.steps

    @property
    def cost_words(self) -> str:
        """A sentence on what the host spent and the device lost."""
        return (
            f"The host spent {units.duration(self.calls.host.total_ns)} in these calls; the device was idle in "
            f"{units.duration(self.idle_ns)} of it."
        )

    def evidence(self) -> dict[str, float | int | str]:
        """How many a step, and what they cost."""
        return {
            "steps_with": self.calls.steps_with,
            "allocations_per_step": round(self.calls.allocations / self.calls.steps, 2),
            "frees_per_step": round(self.calls.frees / self.calls.steps, 2),
            "host_ms": units.milliseconds(self.calls.host.total_ns),
            "idle_ms": units.milliseconds(self.idle_ns),
            "idle_share": round(self.share, 4),
        }

    def saving(self) -> Saving:
        """An estimate; `retimed` has a better one where the graph can be trusted."""
        basis = "estimate: the device’s idle time within these calls"
        return Scope.of(self.results).saving(self.idle_ns * 0.5, self.idle_ns, self.calls.host.total_ns, basis)

    def retimed(self, found: Finding) -> Finding:
        """The finding with what the run would take without these calls."""
        return retimed(self.results, found, calls_gone(self.calls.rows), "simulated without these calls")
