"""Attention is written out as product, softmax, product, instead of one fused kernel.

What it finds
    A device that is the bottleneck, and batched products with a softmax between them (and whatever scales and masks
    the scores) that take at least 5 % of its kernel time, their gradients included. Without a device, the same in the
    close look, with 10% of the operators' time or more.

Why it costs
    The scores have one element for each pair of positions. Each of these operators writes all of them to memory and
    the next one reads them back; for training they are also kept. A fused kernel never writes them: it is faster the
    longer the sequences are, and its memory grows with the length instead of its square.

What to do
    `torch.nn.functional.scaled_dot_product_attention(q, k, v)` in place of the three operators. A mask goes in as
    `attn_mask`: a boolean one is True where a position may be read, a float one is added to the scores. For a causal
    mask `is_causal=True`. It divides the scores by the square root of the head width; pass `scale=` for another factor.
    Dropout goes in as `dropout_p`, which is 0 outside training. In Hugging Face models `attn_implementation="sdpa"`;
    `torch.nn.MultiheadAttention` takes that way with `need_weights=False`.

When to leave it
When the attention weights themselves are used, or when scores are modified in a way a mask or bias cannot express.
`torch.nn.attention.flex_attention` may still express it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.eager_attention import AttentionBlock, AttentionBlocks
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.kernels.attention_looked import MASK_AND_SCALE, judge_look
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.whatif.changes.kernel_times import attention_fused

_SAVED = "30 % to all of the time in the softmax and masks, at best half of the products’ as well"
_WRITE_IT = (
    "Replace the three operators by `torch.nn.functional.scaled_dot_product_attention(q, k, v)`; in a Hugging Face "
    'model that has it pass `attn_implementation="sdpa"`, in `torch.nn.MultiheadAttention` `need_weights=False`. '
    f"{MASK_AND_SCALE}"
)
_FELL_BACK = (
    "`scaled_dot_product_attention` is already called, but no fused kernel took these inputs: "
    "`with torch.nn.attention.sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):` around one call says why (data type, head "
    "size, a mask of another type than the queries)."
)


@dataclass(frozen=True)
class EagerAttention(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    attention_share: float = threshold(0.05, "of the kernel time: less is hardly worth a change")
    high_share: float = threshold(0.30, "of the kernel time: then it is the first thing to mend")
    looked_share: float = threshold(0.10, "of the operators’ time, without a device: up to half of it can be gained")
    looked_high_share: float = threshold(0.20, "of the operators’ time can be gained, without a device: fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in attention that is written out."""
        compute = KernelTime.of(results)
        if compute is None:
            return judge_look(self.name, results, self.looked_share, self.looked_high_share, _edit)
        found = results.get(AttentionBlocks)
        share = compute.deciding(found.chosen, self.attention_share)
        if not found.blocks or share is None:
            return None
        scores, products = found.chosen & ~found.products, found.products
        strengths = attention_fused(compute.rows(scores), compute.rows(products))
        finding = self._finding(compute, found, share)
        return retimed(results, finding, strengths, f"simulated without {_SAVED}", rest=WAITS_FOR_HOST)

    def _finding(self, compute: KernelTime, found: AttentionBlocks, share: float) -> Finding:
        spent, products = compute.sum_ns(found.chosen), compute.sum_ns(found.products)
        during = compute.during(found.chosen)
        other = during.total_ns * (1 - products / spent)
        largest = max(found.blocks, key=lambda block: block.scores_bytes or 0)
        fell_back = sum(block.fallback for block in found.blocks) * 2 > len(found.blocks)
        return Finding(
            rule=self.name,
            severity=compute.severity(found.chosen, share, high=self.high_share),
            title=f"Attention without a fused kernel takes {units.percent(share)} of the kernel time",
            explanation=(
                f"{units.plural(len(found.blocks), 'attention')} "
                f"{'is' if len(found.blocks) == 1 else 'are'} computed as product, softmax, product: "
                f"{units.duration(spent)} of {units.duration(compute.total_ns)} of kernels, "
                f"{units.duration(spent - products)} of it in the softmax and what scales or masks the scores."
                f"{_scores(largest)}"
            ),
            evidence={
                "attentions": len(found.blocks),
                "attention_ms": units.milliseconds(spent),
                "attention_share": round(share, 4),
                "products_ms": units.milliseconds(products),
                "softmax_and_masks_ms": units.milliseconds(spent - products),
                **({"scores_bytes": largest.scores_bytes} if largest.scores_bytes else {}),
            },
            where=compute.where(found.chosen),
            during=during,
            change=_FELL_BACK if fell_back else _WRITE_IT,
            diff=None if fell_back else cell_diff(compute.results, _edit),
            saving=compute.scope.saving(
                other * 0.3,
                other,
                other + (during.total_ns - other) / 2,
                f"estimate: {_SAVED}",
            ),
        )


def _scores(block: AttentionBlock) -> str:
    if block.scores is None or block.scores_bytes is None:
        return ""
    shape = " × ".join(f"{size}" for size in block.scores)
    return f" The largest scores, {shape}, are {units.size(block.scores_bytes)} in memory each time."


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.models.attention import fuse_attention

    return fuse_attention(source)
