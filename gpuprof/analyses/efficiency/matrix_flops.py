"""Floating-point operations of matrix products and fused attention, by shapes.

A multiplication and an addition count as two, as in torch.utils.flop_counter, whose formulas these are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType

from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.model.known_operators import ATTENTION_BACKWARDS, ATTENTION_FORWARDS

# where each operator has its two factors
FACTORS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "aten::mm": (0, 1),
        "aten::addmm": (1, 2),
        "aten::_addmm_activation": (1, 2),
        "aten::bmm": (0, 1),
        "aten::baddbmm": (1, 2),
        "aten::addbmm": (1, 2),
        "aten::mv": (0, 1),
        "aten::addmv": (1, 2),
        "aten::dot": (0, 1),
        "aten::vdot": (0, 1),
        "aten::_scaled_mm": (0, 1),
        "aten::_int_mm": (0, 1),
        "aten::linear": (0, 1),
    }
)
_BATCHES = 3


def product_flops(name: str, shapes: Sequence[Shape]) -> int | None:
    """2 · m · n · k, times the batch: `mm_flop` and `bmm_flop` of torch.utils.flop_counter.

    `aten::linear` has its weight as (n, k), and any number of dimensions before the last of its input. None for other
    operators, or shapes that do not fit.
    """
    places = FACTORS.get(name)
    if places is None or len(shapes) <= max(places):
        return None
    left, right = (shapes[place] for place in places)
    if not left or not right:
        return None
    if name == "aten::linear":
        return 2 * prod(left) * (right[0] if len(right) == 2 else 1) if right[-1] == left[-1] else None
    if left[-1] != (right[-2] if len(right) > 1 else right[0]) or len(left) > _BATCHES:
        return None
    if len(left) == _BATCHES and (len(right) != _BATCHES or left[0] != right[0]):
        return None
    return 2 * prod(left) * (right[-1] if len(right) > 1 else 1)


def attention_flops(name: str, shapes: Sequence[Shape], values: Sequence[str]) -> int | None:
    """Two products forward and five backward, over the pairs of queries and keys that the attention looks at.

    `sdpa_flop_count` and `sdpa_backward_flop_count` of torch.utils.flop_counter, but for causal attention, of which
    they count the masked half as well: fused kernels leave that out. Shapes are (batch, heads, length, head size);
    keys and values may have fewer heads. None where `is_causal` was not recorded and would matter.
    """
    backward = name in ATTENTION_BACKWARDS
    place = ATTENTION_BACKWARDS.get(name) if backward else ATTENTION_FORWARDS.get(name)
    if place is None or len(shapes) < 3 + backward:
        return None
    query, key, value = shapes[backward : 3 + backward]
    if not len(query) == len(key) == len(value) == 4 or query[0] != key[0] or query[3] != key[3] or key[2] != value[2]:
        return None
    batch, heads, queries, size = query
    pairs = _pairs(queries, key[2], values[place] if len(values) > place else "")
    if pairs is None:
        return None
    products = 3 * size + 2 * value[3] if backward else size + value[3]
    return 2 * batch * heads * pairs * products


def _pairs(queries: int, keys: int, causal: str) -> int | None:
    """Pairs of a query and a key that are looked at; causal: query i looks at the keys 0..i."""
    if causal == "False" or keys <= 1:
        return queries * keys
    if causal != "True":
        return None
    whole = max(queries - keys, 0)
    ramp = queries - whole
    return ramp * (ramp + 1) // 2 + whole * keys
