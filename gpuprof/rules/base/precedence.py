"""The root-cause order: for each rule the rules that name the cause of the same time. One cause gives one finding.

Where one of the causes finds something on the same time, the rule itself is silent. Rules that are not here yield to
none.
"""

from __future__ import annotations

from collections.abc import Mapping

# Rules that name why a device was idle, or what its idle time comes from.
STALLS = (
    "allocator_calls_in_step",
    "blocking_h2d_copy",
    "cold_start_dominates",
    "copy_round_trip",
    "cpu_preprocessing",
    "debug_mode_on",
    "empty_cache_in_step",
    "explicit_synchronize",
    "exposed_collective",
    "exposed_h2d_copy",
    "gc_pauses",
    "graph_breaks",
    "host_cpu_bound",
    "host_filled_then_copied",
    "input_stall",
    "launch_bound",
    "loop_on_host",
    "pageable_h2d_copy",
    "per_sample_fetch",
    "python_loop_over_batch",
    "python_loop_over_slices",
    "python_loop_over_weights",
    "rank_straggler",
    "recompiles_in_steady_state",
    "slow_transform",
    "small_h2d_copies",
    "sync_in_step",
    "tensor_by_element",
    "tensor_grown_by_cat",
    "unfused_optimizer",
    "widened_before_copy",
    "workers_oversubscribed",
    "workers_restarted",
)

# Operators of the close look that need not run, each for another reason. Of two reasons for the same operators the one
# that saves more is told. In a dataset they are the cause of a wait.
NEEDLESS = (
    "cancelled_results",
    "hardly_read",
    "masked_results",
    "repeated_work",
    "rows_computed_again",
    "rows_without_effect",
    "unread_results",
    "value_made_again",
)

# Of these the times are known by their lines or not at all.
TIMED_BY_LINES = frozenset({*NEEDLESS, "costly_algorithm"})

# Causes that lie in one place of the run: what has most of its time elsewhere is not silent.
TAKES_MOST = frozenset(
    {
        *TIMED_BY_LINES,
        "costly_call_per_item",
        "loop_on_host",
        "pieces_one_by_one",
        "python_callback_per_item",
        "samples_made_again",
        "whole_collection_per_item",
    }
)

# Changes that do not go together: the first fails, or does nothing, after one of the others. It is silent where the
# other is more than a minor matter.
NOT_AFTER: Mapping[str, tuple[str, ...]] = {
    # fused optimizers take no sparse gradients
    "unfused_optimizer": ("dense_embedding_gradients",),
}

ROOT_CAUSES: Mapping[str, tuple[str, ...]] = {
    "activations_dominate_peak": (
        "logits_dominate_peak",
        "losses_summed",
    ),
    "allocator_calls_in_step": (
        "empty_cache_in_step",
        "memory_near_limit",
    ),
    "blocking_h2d_copy": (
        "tensor_by_element",
        "loop_on_host",
    ),
    "clocks_held_down": ("thermal_throttle",),
    "cold_start_dominates": ("recompiles_in_steady_state",),
    # which knows that each row needs its own derivatives alone
    "derivative_in_full": ("gradients_row_by_row",),
    "eager_attention": ("launch_bound",),
    "copy_round_trip": ("loop_on_host",),
    # what is kept once is made but once
    "costly_algorithm": (
        "repeated_work",
        "value_made_again",
    ),
    "costly_call_per_item": (
        "growing_iterations",
        "last_result_read",
        "python_callback_per_item",
        "value_made_again",
    ),
    "whole_collection_per_item": (
        "growing_iterations",
        "value_made_again",
    ),
    "cpu_preprocessing": (
        "samples_made_again",
        "costly_call_per_item",
        "python_callback_per_item",
        "whole_collection_per_item",
        "cold_start_dominates",
        "gc_pauses",
        "host_cpu_bound",
        "recompiles_in_steady_state",
        "loop_on_host",
        "value_made_again",
    ),
    "energy_idle": STALLS,
    "evaluation_share": ("last_result_read",),
    "explicit_synchronize": (
        "cpu_preprocessing",
        "debug_mode_on",
    ),
    "exposed_h2d_copy": ("loop_on_host",),
    # its advice, another format for all products, is not what such a model needs
    "fp32_matmul": ("fp32_beside_half",),
    "grad_in_inference": ("memory_kept_by_hooks_or_graphs",),
    # which knows the copies
    "growing_iterations": ("tensor_grown_by_cat",),
    "host_cpu_bound": (
        "pieces_one_by_one",
        "costly_call_per_item",
        "python_callback_per_item",
        "whole_collection_per_item",
        "python_loop_over_batch",
        "python_loop_over_slices",
        "python_loop_over_weights",
        "tensor_by_element",
        "tensor_grown_by_cat",
        "workers_oversubscribed",
    ),
    "host_filled_then_copied": (
        "tensor_by_element",
        "loop_on_host",
    ),
    "input_stall": (
        *NEEDLESS,
        "costly_algorithm",
        "samples_made_again",
        "costly_call_per_item",
        "python_callback_per_item",
        "whole_collection_per_item",
        "workers_oversubscribed",
        "slow_transform",
        "per_sample_fetch",
    ),
    "launch_bound": (
        "pieces_one_by_one",
        "python_loop_over_batch",
        "python_loop_over_slices",
        "python_loop_over_weights",
        "tensor_by_element",
        "allocator_calls_in_step",
        "empty_cache_in_step",
        "loop_on_host",
    ),
    "loop_on_host": (
        "debug_mode_on",
        "python_loop_over_batch",
        "python_loop_over_slices",
        "python_loop_over_weights",
        "tensor_by_element",
    ),
    # which knows what each step leaves
    "memory_kept_by_hooks_or_graphs": ("memory_grows_per_step",),
    "memory_grows_per_step": ("held_beyond_need",),
    "memory_near_limit": (
        "activations_dominate_peak",
        "fragmented_memory",
        "logits_dominate_peak",
        "model_exceeds_device",
        "optimizer_state_dominates",
    ),
    "memory_unused": (
        "launch_bound",
        "small_batch",
        "input_stall",
        "unfused_optimizer",
        "fp32_matmul",
    ),
    # a diagonal matrix that `torch.diag` made, and one that is made anew each time
    "mostly_zeros": (
        "product_order",
        "repeated_work",
    ),
    "pageable_h2d_copy": (
        "tensor_by_element",
        "loop_on_host",
    ),
    "per_sample_fetch": ("workers_oversubscribed",),
    # which say more of the same loop
    "pieces_one_by_one": (
        "gradients_row_by_row",
        "loop_on_host",
        "python_loop_over_batch",
        "python_loop_over_slices",
        "python_loop_over_weights",
        "tensor_by_element",
        "tensor_grown_by_cat",
    ),
    "power_capped": ("thermal_throttle",),
    # products of which only the trace or the diagonal is read; and what is kept once needs no other order
    "product_order": (
        "hardly_read",
        "repeated_work",
    ),
    # what the function does, where that is the fault
    "python_callback_per_item": ("whole_collection_per_item",),
    "python_loop_over_batch": ("tensor_by_element",),
    "round_trips": ("copy_round_trip",),
    # which know the selection, or the factor
    "rows_without_effect": (
        "cancelled_results",
        "hardly_read",
    ),
    # memory of work that need not be done, and what is told with its cause
    "temporary_peak": (
        *NEEDLESS,
        "broadcast_then_reduced",
        "held_beyond_need",
        "losses_summed",
        "memory_kept_by_hooks_or_graphs",
    ),
    # what is filled number by number, and always with the same ones
    "tensor_by_element": ("repeated_work",),
    "python_loop_over_slices": ("tensor_by_element",),
    # what of a sample is made again for others, too
    "samples_made_again": ("value_made_again",),
    "slow_transform": (
        "samples_made_again",
        "costly_call_per_item",
        "python_callback_per_item",
        "whole_collection_per_item",
        "workers_oversubscribed",
    ),
    "small_batch": ("launch_bound",),
    "small_h2d_copies": (
        "tensor_by_element",
        "loop_on_host",
    ),
    "sync_in_step": (
        "cpu_preprocessing",
        "tensor_by_element",
        "loop_on_host",
    ),
    "tensor_grown_by_cat": ("python_loop_over_batch",),
    "unfused_pointwise": ("launch_bound",),
    "unread_gradients": ("gradients_unused",),
    "weights_bound_inference": ("launch_bound",),
}
