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
    0.185,
    -0.783,
    1.505,
    0.496,
    {
        "cancelled_results": 0.409,
        "costly_call_per_item": 0.530,
        "debug_mode_on": 0.362,
        "dense_embedding_gradients": 0.628,
        "float64_compute": 0.351,
        "gc_pauses": 0.522,
        "gradients_row_by_row": 1.427,
        "gradients_unused": 0.464,
        "growing_iterations": 0.381,
        "hardly_read": 0.571,
        "host_cpu_bound": 0.360,
        "input_stall": 0.366,
        "last_result_read": 0.406,
        "mostly_zeros": 0.353,
        "padding_waste": 0.602,
        "per_sample_fetch": 0.485,
        "pieces_one_by_one": 0.880,
        "product_order": 0.614,
        "python_callback_per_item": 0.413,
        "python_loop_over_batch": 0.455,
        "python_loop_over_slices": 0.409,
        "python_loop_over_weights": 0.352,
        "recompiles_in_steady_state": 0.589,
        "repeated_backward": 0.444,
        "repeated_work": 0.343,
        "rows_without_effect": 0.331,
        "samples_made_again": 0.448,
        "slow_transform": 0.440,
        "tensor_by_element": 0.464,
        "tensor_grown_by_cat": 0.410,
        "unfused_optimizer": 0.441,
        "unread_gradients": 0.312,
        "value_made_again": 0.405,
        "whole_collection_per_item": 0.450,
        "workers_oversubscribed": 0.405,
        "workers_restarted": 0.566,
    },
)
