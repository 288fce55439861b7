"""Floating-point operations of convolutions, by their shapes, strides and paddings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod

from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.model.known_operators import CONVOLUTION_BACKWARDS, CONVOLUTION_FORWARDS

_STRIDE, _PADDING, _DILATION, _TRANSPOSED = 3, 4, 5, 6
_BACKWARD_TRANSPOSED, _OUTPUT_MASK = 7, 10


def convolution_flops(name: str, shapes: Sequence[Shape], values: Sequence[str]) -> int | None:
    """2 · batch · elements of the weight · positions, forward; as much for each of the gradients of input and weight.

    Positions are those of the output, of a transposed convolution those of the input (`conv_flop_count` of
    torch.utils.flop_counter; what it says of the weight's gradient is too high by the number of groups). The bias is
    left out. Shapes: input (batch, channels, …), weight (channels, channels ÷ groups, …). None where the numbers were
    not recorded.
    """
    if name in CONVOLUTION_FORWARDS and len(shapes) > 1 and len(values) > _TRANSPOSED:
        positions = _forward_positions(shapes[0], shapes[1], values)
        return None if positions is None else _one(shapes[0], shapes[1], positions)
    if name in CONVOLUTION_BACKWARDS and len(shapes) > 2 and len(values) > _OUTPUT_MASK:
        grad_output, given, weight = shapes[:3]
        mask, transposed = _booleans(values[_OUTPUT_MASK]), values[_BACKWARD_TRANSPOSED]
        if len(mask) < 2 or transposed not in ("True", "False") or not len(grad_output) == len(given) == len(weight):
            return None
        return sum(mask[:2]) * _one(given, weight, given[2:] if transposed == "True" else grad_output[2:])
    return None


def _one(given: Shape, weight: Shape, positions: Sequence[int]) -> int:
    return 2 * given[0] * prod(weight) * prod(positions)


def _forward_positions(given: Shape, weight: Shape, values: Sequence[str]) -> Sequence[int] | None:
    if len(given) != len(weight) or len(given) < 3 or values[_TRANSPOSED] not in ("True", "False"):
        return None
    if values[_TRANSPOSED] == "True":
        return given[2:]
    sizes, kernels = given[2:], weight[2:]
    stride, padding, dilation = (_numbers(values[place], len(sizes)) for place in (_STRIDE, _PADDING, _DILATION))
    if not stride or not padding or not dilation or 0 in stride:
        return None
    return [
        max((size + 2 * pad - spread * (kernel - 1) - 1) // step + 1, 0)
        for size, kernel, step, pad, spread in zip(sizes, kernels, stride, padding, dilation, strict=True)
    ]


def _numbers(text: str, count: int) -> list[int]:
    """One for each dimension; a single number stands for all of them. Empty where it cannot be read."""
    found = _list(text)
    if not all(type(each) is int for each in found):
        return []
    numbers = [int(str(each)) for each in found]
    return numbers * count if len(numbers) == 1 else numbers if len(numbers) == count else []


def _booleans(text: str) -> list[bool]:
    found = _list(text.lower())
    return [bool(each) for each in found] if all(type(each) in (bool, int) for each in found) else []


def _list(text: str) -> list[object]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []
