"""Attention or products in fp32, in a model that otherwise multiplies in bf16 or fp16.

What it finds
    A device whose kernels hold up the run. By the kernels' names at least half of the time in matrix products is in
    bf16, fp16 or fp8, and at least a tenth of the kernel time is attention or products on fp32 operands.

Why it costs
    An operator on a bf16 and an fp32 tensor gives an fp32 one. One table, scale or mask in fp32 (rotary positions, a
    temperature, a positional bias) so widens what follows it: attention then leaves its fast kernels, products their
    tensor cores, and every tensor on the way takes twice the memory.

What to do
    Cast the operands back where they were widened (`q.to(v.dtype)`), or keep the table in the model's type.

When to leave it
    When that part needs fp32: a softmax over many classes, a loss, a norm. These are no products, and are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.fp32_operands import Fp32Operands
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.saving.scope import graded
from gpuprof.whatif.changes.kernel_times import kernels_taking

# bf16 attention against fp32 of the same shape: 2.5× to 10× on A100 and H100 by published figures
_SPEEDS = "these kernels 1.5×, 3×, 6× as fast"


@dataclass(frozen=True)
class Fp32BesideHalf(Rule):
    """See the module."""

    fp32_share: float = threshold(0.10, "of the kernel time: under it the change is hardly seen")
    high_share: float = threshold(0.40, "of the kernel time: then it is the first thing to mend")
    half_share: float = threshold(0.50, "of the time in products: then the model is meant to compute in half precision")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge attention and products on fp32 by the number format of the other products."""
        device, compute = results.get(DeviceActivity).primary, KernelTime.of(results)
        if device is None or compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found, total_ns = results.get(Fp32Operands), results.get(Kernels).total_ns
        if not found.half_ns or found.half_ns < self.half_share * found.products_ns:
            return None
        share = found.fp32_ns / total_ns
        if share < self.fp32_share or not compute.limits(found.rows):
            return None
        return retimed(
            results,
            self._finding(compute, found, total_ns, share),
            kernels_taking(found.rows, 1 / 1.5, 1 / 3, 1 / 6),
            f"simulated with {_SPEEDS}",
            rest=WAITS_FOR_HOST,
        )

    def _finding(self, compute: KernelTime, found: Fp32Operands, total_ns: int, share: float) -> Finding:
        fp32_ns = found.fp32_ns
        where = f"line {found.lines[0]} has such an operand" if len(found.lines) == 1 else "they have such an operand"
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{units.percent(share)} of the kernel time goes to fp32 operands in a half-precision model",
            explanation=(
                f"Attention and products on fp32 operands take {units.duration(fp32_ns)} of "
                f"{units.duration(total_ns)} of kernels; products in bf16, fp16 or fp8 take "
                f"{units.duration(found.half_ns)}. An fp32 tensor on the way, such as a position table or a scale, "
                f"widens whatever it is combined with; {where}."
            ),
            evidence={
                "fp32_ms": units.milliseconds(fp32_ns),
                "half_ms": units.milliseconds(found.half_ns),
                "kernel_ms": units.milliseconds(total_ns),
                "fp32_share": round(share, 4),
            },
            where=Where(lines=found.lines),
            change="Cast the operands back to the model’s type where they were widened (`q.to(v.dtype)`), or keep the "
            "table or scale in that type.",
            saving=compute.scope.saving(fp32_ns / 3, fp32_ns * 2 / 3, fp32_ns * 5 / 6, f"estimate: {_SPEEDS}"),
        )
