"""How many samples a batch has, as far as that can be known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.basics.tensor_inputs import Shape, inputs_of
from gpuprof.model.trace import Trace

# Their two tensors have the samples in the first dimension.
_LOSSES = tuple(
    f"aten::{name}"
    for name in (
        "cross_entropy_loss",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "soft_margin_loss",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "multilabel_soft_margin_loss",
        "poisson_nll_loss",
        "kl_div",
    )
)


@dataclass(frozen=True)
class BatchSizes(Result):
    """`of_loaders`: the batch sizes of the DataLoaders. `of_losses`: the size of the first dimension of what a loss
    compares, where in more than half of the steps one has it; empty without shapes. It is the batch by torch's
    convention only: a loss over the steps of one sequence looks the same. `compared`: the shapes that those losses
    had twice, samples × steps or steps × samples."""

    of_loaders: frozenset[int]
    of_losses: frozenset[int]
    compared: frozenset[Shape]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what was recorded of the loaders, and the shapes of the losses' operators."""
        loaders = frozenset(loader.batch_size for loader in trace.context.loaders if loader.batch_size)
        count = results.get(StepTime).count
        operators = trace.operators
        rows = np.flatnonzero(trace.name_mask(operators, *_LOSSES))
        shapes = {row: [each.dims for each in inputs_of(trace, int(row))[:2]] for row in rows.tolist()}
        seen = {(int(operators["step"][row]), _first(pair)) for row, pair in shapes.items()}
        steps = Counter(size for step, size in seen if step >= 0 and size is not None)
        sizes = frozenset(size for size, often in steps.items() if 2 * often > count)
        twice = {pair[0] for pair in shapes.values() if _first(pair) in sizes and pair[0] == pair[1]}
        return cls(loaders, sizes, frozenset(twice))


def _first(shapes: list[Shape]) -> int | None:
    """The size of the first dimension that both tensors of a loss have."""
    first = {shape[0] if shape else None for shape in shapes}
    return first.pop() if len(shapes) == 2 and len(first) == 1 else None
