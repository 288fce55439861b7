"""Convolutions of fixed shapes run with the algorithm that cuDNN guesses, not the one that is fastest here.

What it finds
    A device that is the bottleneck, of whose kernel time at least a tenth are convolutions with the same shapes in
    nearly every step, while `torch.backends.cudnn.benchmark` is off.

Why it costs
    cuDNN has several algorithms for a convolution and picks one by rules of thumb. With `benchmark` on, torch times
    them once for each new shape and keeps the fastest. Often the guess was right already; sometimes it was not.

What to do
    `torch.backends.cudnn.benchmark = True` before the first step, and compare: it is a switch that costs nothing to
    try.

When to leave it
When shapes vary, when results must repeat bit by bit, or when memory is short. Each new shape is timed again, which
is slow, and the trials take workspace.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.convolutions import Convolutions
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.kernel_time import KernelTime


@dataclass(frozen=True)
class ConvAutotuneOff(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    convolution_share: float = threshold(0.10, "of the kernel time: less is hardly worth a change")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the setting where convolutions matter."""
        compute, found = KernelTime.of(results), results.get(Convolutions)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        share = compute.deciding(found.chosen, self.convolution_share)
        if share is None or compute.device.is_amd or not found.fixed_shapes:
            return None
        environment = results.context.environment
        if environment is None or environment.cudnn_benchmark is None:
            return Abstention(
                self.name,
                "the setting `torch.backends.cudnn.benchmark`",
                "A trace does not hold it; `%%gpuprofile` records it.",
            )
        if environment.cudnn_benchmark or environment.deterministic:
            return None
        during = compute.during(found.chosen)
        return Finding(
            rule=self.name,
            severity=Severity.LOW,
            title="cuDNN does not try out which convolution algorithms are fastest",
            explanation=(
                f"Convolutions take {units.percent(share)} of the kernel time, with the same shapes in nearly every "
                "step, and `torch.backends.cudnn.benchmark` is off. Whether another algorithm is faster is not known "
                "until it is tried."
            ),
            evidence={
                "convolution_ms": units.milliseconds(compute.sum_ns(found.chosen)),
                "convolution_share": round(share, 4),
                "cudnn_benchmark": "off",
            },
            where=compute.where(found.chosen),
            during=during,
            diff=cell_diff(results, _edit),
            change="Set `torch.backends.cudnn.benchmark = True` before the first step, and compare the step times.",
            saving=compute.scope.saving(
                0,
                during.total_ns * 0.05,
                during.total_ns * 0.2,
                "estimate: convolutions up to 20 % faster, often no difference",
            ),
        )


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.loops.switches import try_out_convolutions

    return try_out_convolutions(source)
