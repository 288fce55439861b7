"""Attention on a CPU as the close look has seen it: shared by no other rule than eager_attention."""

from __future__ import annotations

import bisect
from collections.abc import Callable

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.written_attention import WrittenAttention, WrittenOut
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.looked import cell_lines, line_words, without_look
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded

# of its time, forward and backward, by how many times as many keys as numbers in a head: see
# benchmarks/written_attention.py
_SAVED = ((4, 0.1), (8, 0.2), (16, 0.35), (32, 0.5))
_FEWEST_KEYS = 64
_IN_MODULE = (
    "Call `torch.nn.MultiheadAttention` with `need_weights=False`: nobody reads the attention weights, and without "
    "them one fused kernel does the work."
)
MASK_AND_SCALE = (
    "A mask goes in as `attn_mask=`, boolean with True where a position may be read (`tril.bool()`, `~padding`): a "
    "float mask is added to the scores. Or set `is_causal=True`, where each position reads itself and those before it. "
    "Pass `scale=` where you do not divide by the square root of the head width."
)
_WRITE_IT = (
    "Replace product, softmax and product by `torch.nn.functional.scaled_dot_product_attention(q, k, v)`, with q, k "
    f"and v of four axes: batch, heads, positions, width. {MASK_AND_SCALE}"
)


def judge_look(
    rule: str, results: Results, least_share: float, high_share: float, edit: Callable[[str], str | None]
) -> Finding | Abstention | None:
    """What the look shows of attention that could be one call."""
    if results.get(DeviceActivity).recorded is not None or without_look(rule, results) is not None:
        return without_device(rule, results, "the device’s kernels")
    found = [each for each in results.get(WrittenAttention).found if _can_be_fused(each)]
    share = sum(each.share for each in found)
    if share < least_share:
        return None
    part = _saved(found[0])
    where, in_module = line_words(results.get(LookedLines).line(found[0].place)), found[0].in_module
    finding = Finding(
        rule=rule,
        severity=graded(part * share, high_share),
        title=f"Attention at {where} is written out and takes {units.percent(share)} of the operators’ time",
        explanation=_explained(found, share, where),
        evidence={
            "attentions": sum(each.times for each in found),
            "attention_share": round(share, 4),
            "keys": found[0].shape[-1],
            "head_width": found[0].width,
            "saved_share": part,
        },
        where=Where(lines=cell_lines(results, found[0].places)),
        change=_IN_MODULE if in_module else _WRITE_IT,
        diff=None if in_module else cell_diff(results, edit),
    )
    among = np.ones(len(results.get(ValueGraph).operators), bool)
    return valued(results, finding, part * share, [each.rows for each in found], among, part=part)


def _can_be_fused(found: WrittenOut) -> bool:
    """On the CPU torch has no fused kernel with dropout or a learned bias, and none gives the weights."""
    usual = len(found.shape) >= 2 and found.shape[-1] >= _FEWEST_KEYS and _saved(found) > 0
    return usual and not (found.dropout or found.bias_learned or found.weights_read)


def _saved(found: WrittenOut) -> float:
    at = bisect.bisect_right([each for each, _ in _SAVED], found.shape[-1] / max(found.width, 1)) - 1
    return _SAVED[at][1] if at >= 0 else 0.0


def _explained(found: list[WrittenOut], share: float, where: str) -> str:
    first = found[0]
    shape = " × ".join(f"{size:,}" for size in first.shape)
    return (
        f"In the close look, product, softmax and product at {where} ran as operators of their own: with their "
        f"gradients they take {units.percent(share)} of the operators’ time. Each of them writes or reads all scores, "
        f"{shape}. A fused kernel never writes them."
    )
