"""How far measured savings lay from foreseen ones on a CPU, by rule: what docs/evidence/data gives.

`python -m benchmarks.proving.ranges` finds these numbers; a test holds them against the evidence. How they are made
and used stands in `shown_saving`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fit:
    """In log odds: the median difference, the ends of the range in spreads, the spread of all changes and by rule."""

    middle: float
    low: float
    high: float
    usual: float
    by_rule: Mapping[str, float] = field(default_factory=dict)

    def ends(self, central: float, rule: str) -> tuple[float, float]:
        """Of the range around that central share, in log odds as well."""
        spread = self.by_rule.get(rule, self.usual)
        return central + self.middle + self.low * spread, central + self.middle + self.high * spread


FIT = Fit(
    0.248,
    -0.887,
    1.759,
    0.489,
    {
        "cancelled_results": 0.410,
        "costly_call_per_item": 0.557,
        "debug_mode_on": 0.359,
        "dense_embedding_gradients": 0.596,
        "float64_compute": 0.563,
        "gc_pauses": 0.495,
        "gradients_row_by_row": 1.391,
        "gradients_unused": 0.376,
        "growing_iterations": 0.360,
        "hardly_read": 0.512,
        "host_cpu_bound": 0.364,
        "input_stall": 0.371,
        "last_result_read": 0.400,
        "mostly_zeros": 0.406,
        "padding_waste": 0.592,
        "per_sample_fetch": 0.501,
        "pieces_one_by_one": 0.846,
        "product_order": 0.637,
        "python_callback_per_item": 0.415,
        "python_loop_over_batch": 0.434,
        "python_loop_over_slices": 0.409,
        "python_loop_over_weights": 0.349,
        "recompiles_in_steady_state": 0.559,
        "repeated_backward": 0.425,
        "repeated_work": 0.375,
        "rows_without_effect": 0.318,
        "samples_made_again": 0.443,
        "slow_transform": 0.464,
        "tensor_by_element": 0.443,
        "tensor_grown_by_cat": 0.411,
        "unfused_optimizer": 0.426,
        "unread_gradients": 0.319,
        "value_made_again": 0.357,
        "whole_collection_per_item": 0.432,
        "workers_oversubscribed": 0.402,
        "workers_restarted": 0.537,
    },
)
