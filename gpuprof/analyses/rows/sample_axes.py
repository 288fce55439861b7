"""Which operators compute each sample of a batch for itself: as `row_axes`, also of whole layers of a network."""

from __future__ import annotations

from collections.abc import Sequence

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator
from gpuprof.analyses.rows.row_axes import Along, along

# of the first tensor the first axis
_BY_FIRST = frozenset(("_transformer_encoder_layer_fwd", "constant_pad_nd", "native_group_norm", "pixel_shuffle"))
# of all three
_QUERIES = frozenset((*names.ATTENTION, "_native_multi_head_attention"))
# where their arguments say whether they train
_TRAINING_AT = {"native_batch_norm": 5, "_native_batch_norm_legit": 5, "cudnn_batch_norm": 5}
_EVALUATING = "_native_batch_norm_legit_no_training"


def evaluates(operator: LookedOperator) -> bool:
    """Whether it is a batch normalization with the statistics that it has."""
    name, given = names.plain(operator.name), operator.arguments
    at = _TRAINING_AT.get(name, -1)
    return name == _EVALUATING or (at >= 0 and given is not None and len(given) > at and given[at] is False)


def each_sample(operator: LookedOperator) -> Sequence[Along] | None:
    """For each tensor that it reads, by axis of the result the axis along which each place follows from the same place
    alone; None where samples are mixed, or may be."""
    name, reads = names.plain(operator.name), operator.reads
    shapes = [each.geometry.shape if each.geometry is not None else () for each in reads]
    none: list[Along] = [{} for _ in shapes]
    if not shapes or not operator.results:
        return None
    if name == "mkldnn_rnn_layer" and len(shapes[0]) == 3:
        # steps×batch×features, and states of batch×features
        states: list[Along] = [{1: 0} if len(each) == 2 and each[0] == shapes[0][1] else {} for each in shapes[-2:]]
        return [{1: 1}, *none[1:-2], *states]
    if name in ("stack", "cat"):
        return _joined(operator, shapes)
    if name == "embedding" and len(shapes) == 2:
        return [{}, {axis: axis for axis in range(len(shapes[1]))}]
    if name in _QUERIES and len(shapes) >= 3:
        return [{0: 0}, {0: 0}, {0: 0}, *none[3:]]
    if evaluates(operator) or name in _BY_FIRST:
        made = operator.results[0].geometry
        same = made is not None and shapes[0] and made.shape[:1] == shapes[0][:1]
        return [{0: 0}, *none[1:]] if same else None
    return along(operator)


def _joined(operator: LookedOperator, shapes: Sequence[tuple[int, ...]]) -> Sequence[Along] | None:
    """Along another axis than that of the samples."""
    given, new = operator.arguments, names.plain(operator.name) == "stack"
    if given is None or len(given) < 2 or type(given[1]) is not int:
        return None
    axes = len(shapes[0])
    if not axes + new:
        return None
    at = given[1] % (axes + new)
    own = {axis + (new and axis >= at): axis for axis in range(axes) if new or axis != at}
    return [own if len(each) == axes else {} for each in shapes]
