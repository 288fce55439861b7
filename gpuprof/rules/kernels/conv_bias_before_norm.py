"""Convolutions add a bias that the batch norm behind them takes away again.

What it finds
    A training run on a device that is the bottleneck, with convolutions that add a bias and are followed by a batch
    norm at once, where adding the biases and summing up their gradients takes at least 0.5 % of the time.

Why it costs
    Batch norm subtracts the mean of each channel, and with it any constant that was added to the channel. The bias has
    no effect and its gradient is zero up to rounding; yet every element is read and written once more in forward, and
    read once more in backward.

What to do
    `torch.nn.Conv2d(..., bias=False)` in front of a batch norm, whose own bias does the work.

When to leave it
When the weights come from a trained model, unless each bias is subtracted from its norm's running mean first.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.convolution_biases import ConvolutionBiases
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class ConvBiasBeforeNorm(Rule):
    """See the module."""

    guard = Guard.SEMANTIC  # fewer numbers are drawn at the start: the weights begin otherwise

    bias_share: float = threshold(0.005, "of the step: the change is one word, so that little is enough")
    low_share: float = threshold(0.03, "of the step: below it the gain is small")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in biases that have no effect."""
        compute = KernelTime.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(ConvolutionBiases)
        during = compute.during(found.adding | found.gradient)
        share = compute.scope.share(during.total_ns)
        if share < self.bias_share or not results.get(GradientRecording).backward:
            return None
        if not compute.limits(compute.rows(found.adding | found.gradient)):
            return None
        adding, gradient = compute.sum_ns(found.adding), compute.sum_ns(found.gradient)
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"Biases without effect take {units.percent(share)} of {compute.scope.words}",
            explanation=(
                f"{units.plural(found.count, 'convolution')} add a bias just before a batch norm, which subtracts it "
                f"again: {units.duration(adding)} to add the biases and {units.duration(gradient)} to sum up their "
                "gradients."
            ),
            evidence={
                "convolutions": found.count,
                "bias_ms": units.milliseconds(adding),
                "bias_gradient_ms": units.milliseconds(gradient),
                "bias_share": round(share, 4),
            },
            where=compute.where(found.adding | found.gradient),
            during=during,
            diff=cell_diff(results, _edit),
            change="Write `torch.nn.Conv2d(..., bias=False)` in front of each batch norm.",
            saving=compute.scope.saving(
                during.total_ns * 0.5, during.total_ns, during.total_ns, "upper bound: none of these kernels"
            ),
        )


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.models.biases import drop_bias_before_norm

    return drop_bias_before_norm(source)
