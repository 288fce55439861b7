"""Tensors are reordered for every convolution, because they are in the other layout.

What it finds
    A device that is the bottleneck, and kernels of cuDNN or MIOpen that only turn NCHW tensors into NHWC and back for
    a convolution, with at least 2 % of its kernel time.

Why it costs
    Tensor cores want the channels of a pixel side by side (NHWC). torch's default is NCHW, so the library turns inputs
    and weights before each convolution and the result after it: memory traffic without any arithmetic.

What to do
    `model.to(memory_format=torch.channels_last)` once, and `x = x.to(device, memory_format=torch.channels_last)`
    for each batch. What follows keeps the layout. Batch norm, pooling and activations work in it as well.

When to leave it
When much of the model has no channels_last version: then the copies only move. Without autocast on devices before
Ampere, too: fp32 convolutions are fast in NCHW there.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.convolutions import Convolutions
from gpuprof.analyses.transfers.largest_copy import LargestCopy
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed

_IMAGE_DIMENSIONS = 4
_CHANGE = (
    "Convert the model once, `model = model.to(memory_format=torch.channels_last)`, and each batch, "
    "`x = x.to(device, memory_format=torch.channels_last)`."
)
_ON_AMD = (
    " Older builds of torch for ROCm only use that layout with `PYTORCH_MIOPEN_SUGGEST_NHWC=1` in the environment."
)


@dataclass(frozen=True)
class NchwConvolution(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    layout_share: float = threshold(0.02, "of the kernel time: it is pure loss, and two lines mend it")
    high_share: float = threshold(0.20, "of the kernel time: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in kernels that change layouts."""
        compute = KernelTime.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(Convolutions)
        share = compute.deciding(found.layout, self.layout_share)
        if share is None or found.nchw_given is False:
            return None
        spent, during = compute.sum_ns(found.layout), compute.during(found.layout)
        number = int((found.layout & compute.inside).sum())
        wall = during.total_ns
        finding = Finding(
            rule=self.name,
            severity=compute.severity(found.layout, share, high=self.high_share),
            title=f"Reordering tensors for convolutions takes {units.percent(share)} of the kernel time",
            explanation=(
                f"{units.plural(number, 'kernel')} do nothing but change the layout between NCHW and NHWC: "
                f"{units.duration(spent)}, beside {units.duration(compute.sum_ns(found.chosen))} of convolutions."
            ),
            evidence={
                "layout_kernels": number,
                "layout_ms": units.milliseconds(spent),
                "layout_share": round(share, 4),
                "convolution_ms": units.milliseconds(compute.sum_ns(found.chosen)),
            },
            where=compute.where(found.layout),
            during=during,
            diff=_diff(results),
            change=_CHANGE + (_ON_AMD if compute.device.is_amd else ""),
            saving=compute.scope.saving(
                wall * 0.3, wall * 0.8, wall, "upper bound: none of these kernels, the convolutions as fast as now"
            ),
        )
        strengths = compute.taking(found.layout, 0.7, 0.2, 0.0)
        basis = "upper bound: simulated without these kernels, the convolutions as fast as now"
        return retimed(results, finding, strengths, basis, rest=WAITS_FOR_HOST)


def _diff(results: Results) -> str | None:
    """Model and batches, or the model alone where it is not known that a batch is images."""
    if not results.get(Convolutions).only_of_images:
        return None
    images = len(results.get(LargestCopy).shape or ()) == _IMAGE_DIMENSIONS

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.models.modules import lay_out_channels_last, lay_out_model

        known = known_models(results)
        return (lay_out_channels_last(source, known) if images else None) or lay_out_model(source, known)

    return cell_diff(results, edit)
