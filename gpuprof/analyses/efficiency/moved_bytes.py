"""How many bytes an element-wise operator, a copy, a reduction or a norm has to move, by its recorded shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType

import numpy as np

from gpuprof.analyses.basics.tensor_inputs import Shape, TensorInput


class Moves(Enum):
    """What a kernel writes beside reading its inputs once; a written tensor that is an input too counts twice."""

    NEW = "a tensor of the inputs' broadcast shape, of their smallest element type"
    FLAGS = "one byte for each element of that shape"
    FIRST = "its first input"
    NOTHING = "next to nothing"
    COPIED = "its first input, which is not read"


_NEW = (
    "add sub rsub mul div neg abs exp log sqrt rsqrt sin cos tanh sigmoid relu gelu silu leaky_relu elu hardtanh clamp "
    "clamp_min clamp_max pow reciprocal where lerp addcmul addcdiv masked_fill maximum minimum threshold_backward "
    "gelu_backward silu_backward tanh_backward sigmoid_backward leaky_relu_backward elu_backward hardtanh_backward "
    "_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data native_layer_norm native_batch_norm "
    "native_group_norm cudnn_batch_norm miopen_batch_norm native_layer_norm_backward native_group_norm_backward "
    "native_batch_norm_backward cudnn_batch_norm_backward miopen_batch_norm_backward"
)
_IN_PLACE = "add_ sub_ mul_ div_ clamp_ clamp_min_ relu_ neg_ sqrt_ exp_ lerp_ addcmul_ addcdiv_ masked_fill_"
_KINDS: Mapping[str, Moves] = MappingProxyType(
    {
        **{f"aten::{name}": Moves.NEW for name in _NEW.split()},
        **{f"aten::{name}": Moves.FLAGS for name in ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "logical_not")},
        **{f"aten::{name}": Moves.FIRST for name in _IN_PLACE.split()},
        **{f"aten::{name}": Moves.NOTHING for name in ("sum", "mean", "amax", "amin", "argmax", "norm", "all", "any")},
        **{f"aten::{name}": Moves.COPIED for name in ("copy_", "fill_", "zero_")},
    }
)


def moves(name: str) -> bool:
    """Whether that operator is counted."""
    return name in _KINDS


def moved_bytes(name: str, inputs: Sequence[TensorInput]) -> int | None:
    """Of one call, each input read once and the result written once; None where that is unknown.

    Numbers and tensors without dimensions are left out. It is the least that has to be moved where no input is an
    expanded tensor, of which a part of the elements is one and the same: strides are not recorded.
    """
    kind = _KINDS.get(name)
    tensors = [each for each in inputs if each.dims]
    sizes = [each.element_bytes for each in tensors]
    if kind is None or not tensors or not inputs[0].dims or None in sizes:
        return None
    known = [size for size in sizes if size is not None]
    each = [tensor.elements * size for tensor, size in zip(tensors, known, strict=True)]
    read = sum(each)
    if kind is Moves.NOTHING or kind is Moves.COPIED:
        return read
    if kind is Moves.FIRST:
        return read + each[0]
    elements = _broadcast([tensor.dims for tensor in tensors]) if "norm" not in name else tensors[0].elements
    if elements is None:
        return None
    return read + elements * (1 if kind is Moves.FLAGS else min(known))


def _broadcast(shapes: Sequence[Shape]) -> int | None:
    try:
        return int(np.prod(np.broadcast_shapes(*shapes), dtype=np.int64))
    except ValueError:
        return None
