"""Inference reads all weights for a handful of rows: the time is that of the weights' bytes.

What it finds
    A run without backward pass on a device that is the bottleneck, of whose kernel time at least half goes into
    products of at most 16 rows (tokens, samples) with matrices of weights.

Why it costs
    Each weight is read from memory and used once a row. With so few rows the arithmetic is next to nothing, and the
    device's memory bandwidth sets the pace: twice the rows would take hardly longer, half the bytes half the time.

What to do
    Handle several requests at once, if there are any. Otherwise make the weights smaller: bf16 instead of fp32,
    weight-only int8 or int4 quantisation (`torchao.quantization.quantize_`), a pruned or distilled model. In text
    generation keep a KV cache, so that one row a token is enough, and consider speculative decoding, which checks
    several tokens in one pass.

When to leave it
When the answer comes fast enough, or when a loss in quality cannot be accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.weight_products import WeightProducts
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.kernel_time import KernelTime

_MIB = 1 << 20
_FP32_BYTES = 4


@dataclass(frozen=True)
class WeightsBoundInference(Rule):
    """See the module."""

    weights_share: float = threshold(0.5, "of the kernel time: then the weights set the pace")
    high_share: float = threshold(0.8, "of the kernel time: hardly anything else is left to mend")
    weight_mib: float = threshold(4, "mean matrix: smaller ones stay in the device’s cache, and launching costs more")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in products of few rows."""
        compute = KernelTime.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(WeightProducts)
        if results.get(GradientRecording).backward:
            return None
        if not found.shapes_known and compute.deciding(found.vector_products, self.weights_share) is not None:
            return Abstention(
                self.name,
                "the shapes of the matrix products: how many rows the weights are read for",
                "Record the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
            )
        share = compute.deciding(found.chosen, self.weights_share)
        if share is None or found.bytes < self.weight_mib * _MIB * found.count:
            return None
        return self._finding(compute, found, share)

    def _finding(self, compute: KernelTime, found: WeightProducts, share: float) -> Finding:
        spent, during = compute.sum_ns(found.chosen), compute.during(found.chosen)
        wide = found.element_bytes is not None and found.element_bytes >= _FP32_BYTES
        rate = f", {units.rate(found.bytes_per_s)}" if found.bytes_per_s else ""
        return Finding(
            rule=self.name,
            severity=compute.severity(found.chosen, share, high=self.high_share),
            title=f"Reading weights for few rows takes {units.percent(share)} of the kernel time",
            explanation=(
                f"{units.plural(found.count, 'product')} with {found.rows or 0:.0f} rows (median) read "
                f"{units.size(found.bytes)} of weights in {units.duration(spent)}{rate}: memory bandwidth, not "
                "arithmetic, sets the pace."
            ),
            evidence={
                "products": found.count,
                "rows": found.rows or 0.0,
                "weights_bytes": found.bytes,
                "weights_ms": units.milliseconds(spent),
                "weights_share": round(share, 4),
                **({"bandwidth_gb_per_s": round(units.gigabytes(found.bytes_per_s), 1)} if found.bytes_per_s else {}),
            },
            where=compute.where(found.chosen),
            during=during,
            change=(
                "Convert the model to bf16 first (`model.to(torch.bfloat16)`), which halves the bytes; then "
                if wide
                else "Handle several requests at once where there are any; else "
            )
            + "quantise the weights to int8 or int4 (`torchao.quantization.quantize_`), and compare the quality.",
            saving=compute.scope.saving(
                during.total_ns * 0.2,
                during.total_ns * 0.4,
                during.total_ns * 0.7,
                "estimate: half the bytes (int8) save 40 % of this time, a quarter (int4) up to 70 %",
            ),
        )
