"""Kernels work in double precision.

What it finds
    A device that is the bottleneck, and kernels on fp64 data that take at least 2 % of its kernel time.

Why it costs
    fp64 moves twice the bytes of fp32 and has no tensor cores in most libraries. Arithmetic is half as fast on data
    centre devices (V100, A100, H100) and 1/32 to 1/64 as fast on the others (T4, A10, L4, GeForce). Mostly nobody asked
    for it: NumPy makes float64 by default, and one such tensor turns whatever it meets into fp64.

What to do
    Find where it enters: `torch.from_numpy(a)` or `torch.tensor(a)` of a NumPy array, `torch.linspace` and friends with
    `dtype=torch.float64`, `torch.set_default_dtype`. Convert there (`a.astype("float32")`, `.float()`), before the copy
    to the device.

When to leave it
    When the method needs fp64: solvers, long sums, some physics.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.float64_kernels import Float64Kernels
from gpuprof.analyses.result import Results
from gpuprof.model.device import Device
from gpuprof.rules.absence import without_device
from gpuprof.rules.compute import Compute
from gpuprof.rules.finding import Abstention, Finding
from gpuprof.rules.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.rule import Rule, threshold
from gpuprof.whatif.changes import unchanged
from gpuprof.whatif.predict import Range

_MOST_OPERATORS = 3
_SPEEDS = "these kernels at the speed of fp32, twice as fast (half the bytes) or, where arithmetic limits them, more"
# data centre devices: fp64 at half the rate of fp32; every other capability has 1/32 or 1/64
_HALF_RATE = ((6, 0), (7, 0), (8, 0), (9, 0), (10, 0))


@dataclass(frozen=True)
class Float64Compute(Rule):
    """See the module."""

    float64_share: float = threshold(0.02, "of the kernel time: fp64 that nobody asked for seldom costs less")
    high_share: float = threshold(0.25, "of the kernel time: then it is the first thing to mend")
    low_share: float = threshold(0.10, "of the kernel time: below it the gain is small")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in fp64 kernels."""
        compute = Compute.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(Float64Kernels)
        share = compute.deciding(found.chosen, self.float64_share)
        if share is None:
            return None
        speeds = Range(unchanged, *compute.taking(found.chosen, 1 / 2, 1 / 32 if _is_slow(compute.device) else 1 / 4))
        finding = self._finding(compute, found, share)
        return retimed(results, finding, speeds, f"re-timed with {_SPEEDS}", rest=WAITS_FOR_HOST)

    def _finding(self, compute: Compute, found: Float64Kernels, share: float) -> Finding:
        during, spent = compute.during(found.chosen), compute.sum_ns(found.chosen)
        products = compute.sum_ns(found.products)
        operators = ", ".join(name for name, _ in found.operators[:_MOST_OPERATORS])
        wall = during.total_ns
        return Finding(
            rule=self.name,
            severity=compute.severity(found.chosen, share, high=self.high_share, low=self.low_share),
            title=f"{units.percent(share)} of the kernel time is double precision",
            explanation=(
                f"Kernels on fp64 data take {units.duration(spent)} of {units.duration(compute.total_ns)}"
                f"{f', most of it in {operators}' if operators else ''}."
            ),
            evidence={
                "float64_ms": units.milliseconds(spent),
                "float64_share": round(share, 4),
                "float64_products_ms": units.milliseconds(products),
                "kernel_ms": units.milliseconds(compute.total_ns),
                **({"operators": operators} if operators else {}),
            },
            where=compute.where(found.chosen),
            change="Find where fp64 enters, mostly a NumPy array (float64 by default): convert it there with "
            '`a.astype("float32")` or `.float()`, before it is copied to the device.',
            saving=compute.scope.saving(
                0,
                wall / 2,
                wall * (31 / 32 if _is_slow(compute.device) else 3 / 4),
                f"estimate: {_SPEEDS}",
            ),
            leave_it="Leave it when the method needs fp64 (solvers, long sums).",
        )


def _is_slow(device: Device) -> bool:
    """Whether fp64 is known to be far slower than half the speed of fp32."""
    capability = device.compute_capability
    return capability is not None and not device.is_amd and capability not in _HALF_RATE
