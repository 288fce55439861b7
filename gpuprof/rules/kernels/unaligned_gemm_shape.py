"""Sizes that are no multiple of 8 keep matrix products from the fast kernels.

What it finds
    A device that is the bottleneck, of whose kernel time at least a tenth goes into tensor-core products that by their
    names read only one or two elements at a time (`…_align1`), because a row of a matrix does not begin at a multiple
    of 16 bytes.

Why it costs
    Tensor cores are fed 16 bytes at a time: 8 elements of bf16 or fp16, 4 of TF32. Where a row is 50,257 elements long,
    only every eighth row begins there, and the library falls back to kernels that read singly; some newer devices run
    those of two generations ago.

What to do
    Round the size up to a multiple of 8, better 64: the vocabulary (50,257 → 50,304), the number of classes, hidden
    sizes, input features (append zero columns), channels. Lengths of sequences can be padded by the tokenizer
    (`pad_to_multiple_of=8`). Padding adds work in proportion, which is next to nothing here.

When to leave it
    When the sizes belong to a trained model that must stay as it is; then pad only where the product is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.unaligned_products import UnalignedProducts, UnalignedShape
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed

_MOST_SHAPES = 3
_SPEEDS = "these products 1.1×, 1.5×, 3× as fast"


@dataclass(frozen=True)
class UnalignedGemmShape(Rule):
    """See the module."""

    unaligned_share: float = threshold(0.10, "of the kernel time: under it the change is hardly seen")
    high_share: float = threshold(0.50, "of the kernel time: then it is the first thing to mend")
    low_share: float = threshold(0.25, "of the kernel time: below it the gain is small")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in products on unaligned sizes."""
        compute = KernelTime.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(UnalignedProducts)
        share = compute.deciding(found.chosen, self.unaligned_share)
        if share is None:
            return None
        speeds = compute.taking(found.chosen, 1 / 1.1, 1 / 1.5, 1 / 3)
        finding = self._finding(compute, found, share)
        return retimed(results, finding, speeds, f"simulated with {_SPEEDS}", rest=WAITS_FOR_HOST)

    def _finding(self, compute: KernelTime, found: UnalignedProducts, share: float) -> Finding:
        spent, during = compute.sum_ns(found.chosen), compute.during(found.chosen)
        shapes = [shape for shape in found.shapes if shape.odd_sizes][:_MOST_SHAPES]
        sizes = ", ".join(dict.fromkeys(f"{size}" for shape in shapes for size in shape.odd_sizes))
        where = (
            f" The costliest: {'; '.join(_words(shape) for shape in shapes)}."
            if shapes
            else " Which sizes they are was not recorded: `%%gpuprofile --shapes` tells."
        )
        wall = during.total_ns
        return Finding(
            rule=self.name,
            severity=compute.severity(found.chosen, share, high=self.high_share, low=self.low_share),
            title=f"{units.percent(share)} of the kernel time goes into products on unaligned sizes",
            explanation=(
                f"Tensor-core products that read one or two elements at a time take {units.duration(spent)} of "
                f"{units.duration(compute.total_ns)} of kernels.{where}"
            ),
            evidence={
                "unaligned_ms": units.milliseconds(spent),
                "unaligned_share": round(share, 4),
                "kernel_ms": units.milliseconds(compute.total_ns),
                **({"sizes": sizes} if sizes else {}),
            },
            where=compute.where(found.chosen),
            during=during,
            change=f"Round {f'the sizes {sizes}' if sizes else 'the sizes of these products'} up to a multiple of 8, "
            "better 64: vocabulary, classes, features or channels in the model, lengths of sequences in the tokenizer "
            "(`pad_to_multiple_of=8`).",
            saving=compute.scope.saving(wall * 0.1, wall / 3, wall * 2 / 3, f"estimate: {_SPEEDS}"),
        )


def _words(shape: UnalignedShape) -> str:
    inputs = " with ".join(" × ".join(f"{size}" for size in dims) for dims in shape.shapes)
    return f"`{shape.operator}` of {inputs} ({units.duration(shape.ns)})"
