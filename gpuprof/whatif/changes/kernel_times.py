"""Kernels at other speeds."""

from __future__ import annotations

from gpuprof.model.table import Array
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import operations_scaled, unchanged
from gpuprof.whatif.predict import Range

# Of the softmax and of what scales or masks the scores, and at best of the products as well (docs/design/whatif.md).
_WORST_OF_SCORES, _BEST_OF_PRODUCTS = 0.7, 0.5


def kernels_taking(rows: Array, worst: float, usual: float, best: float) -> Range:
    """These rows of `device_events` in so much of their time, 0..1 each; 1 changes nothing."""
    return Range(*(_taking(rows, share) for share in (worst, usual, best)))


def _taking(rows: Array, share: float) -> GraphEdit:
    return unchanged if share == 1 else operations_scaled(rows, share)


def attention_fused(scores: Array, products: Array) -> Range:
    """Attention by one kernel, rows of `device_events`: without `scores`, the kernels between the two products.

    At worst those take 70 % of their time, at best the `products` half of theirs as well.
    """
    worse, usual = operations_scaled(scores, _WORST_OF_SCORES), operations_scaled(scores, 0.0)
    return Range(worse, usual, together(usual, operations_scaled(products, _BEST_OF_PRODUCTS)))
