"""What the rules on kernels judge by: the kernels within the scope, and whether their speed decides anything."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.model import intervals
from gpuprof.model.device import Device
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Severity, Where
from gpuprof.rules.saving.launch_waits import waits_for_launches
from gpuprof.rules.saving.retimed import best_share
from gpuprof.rules.saving.scope import Scope, graded, share_of, worst
from gpuprof.whatif.changes.kernel_times import kernels_taking
from gpuprof.whatif.changes.trace_changes import operations_gone
from gpuprof.whatif.predict import MINOR_SHARE, Range

# of the time in which either the device computes or the host is late with launches: below it faster kernels only wait,
# unless simulation shows otherwise
_COMPUTES_SHARE = 0.5
# of the scope: what takes less cannot be of more than low severity, whatever its part of the kernel time is
_HARDLY_SEEN_SHARE = 0.03


@dataclass(frozen=True, eq=False)
class KernelTime:
    """The kernels of the first device (collectives left out) that began within the scope.

    `inside`: boolean mask over `kernels`; `total_ns` the sum of their durations. `computes`: the device is not waiting
    for launches most of the time.
    """

    scope: Scope
    device: Device
    kernels: KernelOrigins
    inside: Array
    total_ns: int
    computes: bool
    results: Results

    @classmethod
    def of(cls, results: Results) -> KernelTime | None:
        """None without device activity."""
        use, scope, kernels = results.get(DeviceActivity).primary, Scope.of(results), results.get(KernelOrigins)
        if use is None:
            return None
        late = intervals.intersect(waits_for_launches(results), scope.within).total_ns
        computing = intervals.intersect(use.compute, scope.within).total_ns
        inside = scope.inside(kernels.start_ns)
        return cls(
            scope=scope,
            device=results.device(use.id),
            kernels=kernels,
            inside=inside,
            total_ns=int(kernels.duration_ns[inside].sum()),
            computes=computing > 0 and computing >= _COMPUTES_SHARE * (computing + late),
            results=results,
        )

    def sum_ns(self, chosen: Array) -> int:
        """Durations of the chosen kernels (boolean mask over `kernels`) within the scope, added."""
        return int(self.kernels.duration_ns[chosen & self.inside].sum())

    def share(self, chosen: Array) -> float:
        """Of the kernel time within the scope, 0..1; 0 without kernels."""
        return share_of(self.sum_ns(chosen), self.total_ns)

    def during(self, chosen: Array) -> Intervals:
        """When the chosen ones ran, within the scope; a union."""
        return intervals.intersect(self.kernels.union(chosen & self.inside), self.scope.within)

    def lines(self, chosen: Array) -> tuple[int, ...]:
        """The lines of the cell that launched most of the chosen ones, by their time."""
        return self.results.get(LaunchPlaces).lines(self.rows(chosen))

    def where(self, chosen: Array) -> Where:
        """Those lines, and when the chosen ones ran longest."""
        return Where(lines=self.lines(chosen), ranges_ns=worst(self.during(chosen)))

    def deciding(self, chosen: Array, least: float) -> float | None:
        """Their share of the kernel time; None where it is under `least`, or their speed does not hold up the run."""
        share = self.share(chosen)
        return share if share >= least and self.limits(self.rows(chosen)) else None

    def limits(self, rows: Array) -> bool:
        """Whether the speed of these device events matters: `computes`, or a run simulated without them is shorter."""
        return self.computes or (len(rows) > 0 and best_share(self.results, operations_gone(rows)) >= MINOR_SHARE)

    def rows(self, chosen: Array) -> Array:
        """The chosen ones within the scope, as rows of device events."""
        return self.kernels.event[chosen & self.inside]

    def taking(self, chosen: Array, worst: float, usual: float, best: float) -> Range:
        """The change after which the chosen kernels within the scope take these shares of their time."""
        return kernels_taking(self.rows(chosen), worst, usual, best)

    def severity(self, chosen: Array, share: float, *, high: float, low: float = 0.0) -> Severity:
        """`graded(share, high, low)`, but LOW where the chosen kernels run for a few per cent of the scope only."""
        if self.scope.share(self.during(chosen).total_ns) < _HARDLY_SEEN_SHARE:
            return Severity.LOW
        return graded(share, high, low)
