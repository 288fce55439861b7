"""Matrix products and convolutions run in full fp32 on a device with tensor cores.

What it finds
    A device whose kernels hold up the run, of whose kernel time at least a tenth goes into matrix products or
    convolutions that, by their kernels' names, multiply in fp32 without tensor cores, although the device has them.

Why it costs
    Tensor cores multiply several times faster: on an A100 TF32 has 8 times the peak of fp32, bf16 16 times. What is
    really gained is less, since memory bandwidth and the other kernels remain.

What to do
    From Ampere on, `torch.set_float32_matmul_precision("high")` lets fp32 products use TF32 (10 bits of mantissa), and
    `torch.autocast("cuda", dtype=torch.bfloat16)` halves the memory traffic as well. Before Ampere (V100, T4) only
    fp16 has tensor cores: `torch.autocast("cuda", dtype=torch.float16)` with `torch.amp.GradScaler`.

When to leave it
When the calculation needs fp32's precision (solvers, some physics). Compare the loss after the change. Where the host
is the bottleneck this rule is silent: faster kernels would not end the run earlier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.model.device import Device
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import Precision
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.saving.scope import Scope, graded
from gpuprof.whatif.changes.kernel_times import kernels_taking

_TENSOR_CORES, _AMPERE = (7, 0), (8, 0)
_SPEEDS = "these kernels 1.5×, 3× (a published case), 8× as fast"


@dataclass(frozen=True)
class Fp32Matmul(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    fp32_share: float = threshold(0.10, "of the kernel time: under it the change is hardly seen")
    high_share: float = threshold(0.50, "of the kernel time: then it is the first thing to mend")
    unknown_share: float = threshold(0.30, "of the kernel time in products of unreadable precision: then no verdict")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the precision of the products."""
        activity, kernels, compute = results.get(DeviceActivity), results.get(Kernels), KernelTime.of(results)
        device = activity.primary
        if device is None or compute is None:
            return without_device(self.name, results, "the device’s kernels")
        if not kernels.total_ns:
            return None
        fp32_ns = kernels.by_precision.get(Precision.FP32, 0)
        share = fp32_ns / kernels.total_ns
        facts = results.device(device.id)
        unreadable = facts.is_amd or share < self.fp32_share
        if (
            unreadable
            and compute.computes
            and kernels.by_precision.get(Precision.UNKNOWN, 0) / kernels.total_ns >= self.unknown_share
        ):
            return Abstention(
                self.name,
                "the number format of the matrix products, which most kernels’ names do not tell",
                'Look at it yourself: `torch.get_float32_matmul_precision()` should say "high" where fp32 is used.',
            )
        if share < self.fp32_share or facts.is_amd or not compute.limits(_rows(results)):
            return None
        if facts.compute_capability is None:
            return Abstention(
                self.name,
                "the device’s compute capability: whether it has tensor cores",
                "The trace has no `deviceProperties`; `%%gpuprofile` records them.",
            )
        return (
            None
            if facts.compute_capability < _TENSOR_CORES
            else self._finding(results, compute.scope, device, facts, share)
        )

    def _finding(self, results: Results, scope: Scope, device: DeviceTotals, facts: Device, share: float) -> Finding:
        kernels = results.get(Kernels)
        fp32_ns = kernels.by_precision[Precision.FP32]
        modern = facts.compute_capability is not None and facts.compute_capability >= _AMPERE
        change = (
            'Set `torch.set_float32_matmul_precision("high")` before the model runs, or wrap forward and loss in '
            '`torch.autocast("cuda", dtype=torch.bfloat16)`.'
            if modern
            else 'Wrap forward and loss in `torch.autocast("cuda", dtype=torch.float16)` and scale the loss with '
            "`torch.amp.GradScaler`; this device has tensor cores for fp16 only."
        )
        wall = min(fp32_ns, device.compute.total_ns)
        found = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{units.percent(share)} of the kernel time is fp32 arithmetic without tensor cores",
            explanation=(
                f"Matrix products and convolutions in fp32 take {units.duration(fp32_ns)} of "
                f"{units.duration(kernels.total_ns)} of kernels, on {facts.name or 'a device'} that has tensor cores "
                f"for {'TF32, bf16 and fp16' if modern else 'fp16'}."
            ),
            evidence={
                "fp32_ms": units.milliseconds(fp32_ns),
                "kernel_ms": units.milliseconds(kernels.total_ns),
                "fp32_share": round(share, 4),
                **_setting(results),
            },
            change=change,
            where=Where(lines=results.get(LaunchPlaces).lines(_rows(results))),
            during=_during(results),
            diff=_diff(results) if modern else None,
            saving=scope.saving(wall / 3, wall * 2 / 3, wall * 7 / 8, f"estimate: {_SPEEDS}"),
        )
        return retimed(
            results,
            found,
            kernels_taking(_rows(results), 1 / 1.5, 1 / 3, 1 / 8),
            f"simulated with {_SPEEDS}",
            rest=WAITS_FOR_HOST,
        )


def _rows(results: Results) -> Array:
    """The rows of `device_events` with kernels in fp32."""
    kernels = results.get(Kernels)
    table = kernels.table
    return kernels.rows_named(table["name"][table["precision"] == Precision.FP32])


def _during(results: Results) -> Intervals:
    kernels = results.get(KernelOrigins)
    return kernels.union(np.isin(kernels.event, _rows(results)))


def _diff(results: Results) -> str | None:
    """The precision of matrix products, where it is known to be the full one and convolutions may use TF32."""
    environment = results.context.environment
    if environment is None or environment.matmul_precision != "highest" or environment.tf32_cudnn is False:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.models.precision import set_matmul_precision

        return set_matmul_precision(source, "high")

    return cell_diff(results, edit)


def _setting(results: Results) -> dict[str, float | int | str]:
    environment = results.context.environment
    if environment is None or environment.matmul_precision is None:
        return {}
    return {"matmul_precision": environment.matmul_precision}
