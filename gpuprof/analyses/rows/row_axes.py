"""Which operators handle each row for itself: how axes of what they read correspond to axes of what they make.

Where a kind of operator is not known, or its shapes are not what that kind would have, rows are mixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator
from gpuprof.analyses.rows.row_sets import Axes

Shape = tuple[int, ...]
# by axis of the result the axis of one argument: along these each place depends on the same place alone
Along = Mapping[int, int]

_LOSSES = frozenset({"mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy"})
_LOSSES |= {"binary_cross_entropy_with_logits"}
_LOSS_BACKWARD = frozenset(
    f"{name}_backward" for name in (*_LOSSES, "elu", "hardtanh", "hardswish", "hardsigmoid", "mish")
)
_BY_PLACE = names.ELEMENTWISE | _LOSS_BACKWARD
# the gradient of each row follows from the same row, those of weights are sums over the rows. Where the sizes of a
# normalized row are among the arguments
_NORMS_BACKWARD = {"native_layer_norm_backward": 2, "_fused_rms_norm_backward": 2}
_CONVOLUTIONS_BACKWARD = frozenset({"convolution_backward", "mkldnn_convolution_backward"})
_POOLS_BACKWARD = frozenset(f"{name}_backward" for name in (*names.BATCHED_CHANNELS, "max_pool2d_with_indices"))
# whose results but the first are sums over rows, as for weights
SUMS_BESIDE = frozenset(_NORMS_BACKWARD) | _CONVOLUTIONS_BACKWARD
LIKELIHOODS = ("nll_loss_forward", "nll_loss2d_forward")
_NEGATIVE_BACKWARD = ("nll_loss_backward", "nll_loss2d_backward")
# by axis of the losses that of the logarithms of probabilities, which have the classes as axis 1
_CLASSES = {2: {0: 0}, 4: {0: 0, 1: 2, 2: 3}}

# zero where one factor is
_PRODUCTS = frozenset({"mul", "mm", "bmm"})
_OF_FIRST = frozenset({"neg", "div", "clone", "_to_copy", "sum", "copy", "slice_backward"})


def along(operator: LookedOperator) -> Sequence[Along] | None:
    """For each tensor that it reads; None where it mixes rows, or may."""
    if any(each.geometry is None for each in (*operator.reads, *operator.results[:1])) or not operator.results:
        return None
    reads = tuple(each.geometry.shape for each in operator.reads if each.geometry is not None)
    made = operator.results[0].geometry
    assert made is not None
    given = operator.arguments
    return _along(names.plain(operator.name), reads, made.shape, _numbers(operator, given), len(operator.results))


def _numbers(operator: LookedOperator, given: Sequence[Any] | None) -> tuple[int, ...] | None:
    """The argument that names axes, or the sizes of a row."""
    name = names.plain(operator.name)
    at = _NORMS_BACKWARD.get(name, names.AXES_AT.get(name, 1))
    found: Any = given[at] if given is not None and len(given) > at else None
    listed: list[Any] = found if isinstance(found, list) else [found]
    return tuple(listed) if listed and all(type(each) is int for each in listed) else None


@lru_cache(maxsize=8192)
def _along(
    name: str, reads: tuple[Shape, ...], made: Shape, numbers: tuple[int, ...] | None, results: int
) -> Sequence[Along] | None:
    if name in _BY_PLACE or (name in _LOSSES and reads and made == reads[0]):
        return tuple(_broadcast(each, made) for each in reads)
    if name in names.ALONG_AXES:
        return _kept_axes(name, reads, made, numbers)
    if name in names.OVER_LAST_AXES or name in _NORMS_BACKWARD:
        return _leading(name, reads, made, numbers)
    if name in names.PRODUCTS or name == "linear":
        return _product(name, reads, made)
    if name in names.BATCHED or name in _CONVOLUTIONS_BACKWARD:
        whole = 2 if name in _CONVOLUTIONS_BACKWARD else 1
        return tuple({0: 0} if at < whole and len(each) > 2 else {} for at, each in enumerate(reads))
    if name in names.BATCHED_CHANNELS or name in _POOLS_BACKWARD:
        return tuple({0: 0, 1: 1} if len(each) == 4 else {} for each in reads)
    if name == "slice_backward" and len(reads) == 1 and len(reads[0]) == len(made):
        return ({axis: axis for axis in range(len(made))},)
    return _likelihood(name, reads, made, results)


def _broadcast(shape: Shape, made: Shape) -> Along:
    missing = len(made) - len(shape)
    if missing < 0:
        return {}
    return {axis + missing: axis for axis, length in enumerate(shape) if length == made[axis + missing]}


def _kept_axes(
    name: str, reads: tuple[Shape, ...], made: Shape, numbers: tuple[int, ...] | None
) -> Sequence[Along] | None:
    if not reads or not reads[0]:
        return None
    axes = len(reads[0])
    if numbers is None:
        return ({},) if name == "sum" and not made and len(reads) == 1 else None
    mixed = {number % axes for number in numbers}
    others = [axis for axis in range(axes) if axis not in mixed]
    if len(made) == axes:
        each: Along = {axis: axis for axis in others if made[axis] == reads[0][axis]}
    elif len(made) == len(others):
        each = dict(enumerate(others))
    else:
        return None
    both = name.endswith("_backward_data") and all(shape == reads[0] for shape in reads)
    return tuple(each if both or not at else {} for at in range(len(reads)))


def _leading(
    name: str, reads: tuple[Shape, ...], made: Shape, numbers: tuple[int, ...] | None
) -> Sequence[Along] | None:
    if numbers is None or not reads or reads[0] != made or len(numbers) > len(made):
        return None
    rows = len(made) - len(numbers)
    each = {axis: axis for axis in range(rows)}
    # gradient, input, mean and inverse deviation; else the input alone
    carrying = [len(shape) == len(made) and shape[:rows] == made[:rows] for shape in reads]
    last = len(reads) if name in _NORMS_BACKWARD else 1
    return tuple(each if at < last and carrying[at] else {} for at in range(len(reads)))


def _product(name: str, reads: tuple[Shape, ...], made: Shape) -> Sequence[Along] | None:
    if name == "linear":
        lead = {axis: axis for axis in range(len(made) - 1)}
        return tuple(lead if not at else {len(made) - 1: 0} for at in range(len(reads)))
    first = names.PRODUCTS[name]
    if len(reads) != first + 2 or len(made) not in (2, 3):
        return None
    left, right = reads[first:]
    if len(left) != len(made) or len(right) != len(made):
        return None
    last = len(made) - 1
    batch = {axis: axis for axis in range(len(made) - 2)}
    own = ({**batch, last - 1: last - 1}, {**batch, last: last})
    return (*(_broadcast(each, made) for each in reads[:first]), *own)


def _likelihood(name: str, reads: tuple[Shape, ...], made: Shape, results: int) -> Sequence[Along] | None:
    """Of a negative log likelihood: of the probabilities, the classes are one axis."""
    if name in LIKELIHOODS and reads and made and len(made) == len(reads[0]) - 1:
        classes = _CLASSES.get(len(reads[0]))
        whole = {axis: axis for axis in range(len(made))}
        return None if classes is None else (classes, *(whole if each == made else {} for each in reads[1:]))
    if name in _NEGATIVE_BACKWARD and len(made) in _CLASSES:
        turned = {own: axis for axis, own in _CLASSES[len(made)].items()}
        whole = {axis: axis for axis in range(len(made))}
        positions = tuple(made[axis] for axis in turned)
        return tuple(whole if each == made else turned if each == positions else {} for each in reads)
    return None


def summed(operator: LookedOperator, at: int, axes: Axes) -> Sequence[Axes | None] | None:
    """Where it adds up rows, along those axes of the tensor that it reads `at`: for each tensor that it reads the axes
    with these rows, None of one without. None where it does not add them up."""
    shapes = [each.geometry.shape if each.geometry is not None else None for each in operator.reads]
    if any(shape is None for shape in shapes):
        return None
    name = names.plain(operator.name)
    if name == "sum" and not at:
        mixing = along(operator)
        kept = set(mixing[0].values()) if mixing is not None else {0}
        return (axes,) if not kept & axes and len(shapes) == 1 else None
    if name not in ("mm", "bmm") or len(shapes) != 2:
        return None
    inner = (-1, -2) if not at else (-2, -1)
    sides = len(shapes[0] or ())
    mine, other = inner[0] % sides, inner[1] % sides
    batch = frozenset(range(sides - 2))
    if mine not in axes or not axes <= batch | {mine}:
        return None
    partner = (axes - {mine}) | {other}
    return (axes, partner) if not at else (partner, axes)


def zero_with(operator: LookedOperator) -> Sequence[int]:
    """The tensors that it reads of which one is enough: where rows of it are zeros, so are those rows of the result."""
    name = names.plain(operator.name)
    if name in _PRODUCTS:
        return (0, 1)
    ends = name.endswith(("_backward", "_backward_data"))
    if name in _OF_FIRST or (ends and (name in _BY_PLACE or along(operator) is not None)):
        return (0,)
    if name == "masked_fill" and operator.arguments is not None and operator.arguments[-1] == 0:
        return (0,)
    return ()
