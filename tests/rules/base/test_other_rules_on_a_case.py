"""What the other rules say of a rule's case: next to nothing, and what they lack they name."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import all_rules
from tests.rules.cases import case_of

NAMES = tuple(each.name for each in all_rules())

# The same time seen by two rules, or a fault beside the one that the case is about.
ALSO_FOUND = {
    "fp32_beside_half": {"stays_quiet": ("fp32_matmul",)},
    "allocator_calls_in_step": {
        "fires": ("sync_in_step",), "stays_quiet": ("sync_in_step",), "abstains": ("cold_start_dominates",),
    },
    "copy_round_trip": {"stays_quiet": ("pageable_h2d_copy",)},
    "cpu_preprocessing": dict.fromkeys(("fires", "stays_quiet"), ("explicit_synchronize",)),
    "debug_mode_on": dict.fromkeys(("stays_quiet", "abstains"), ("launch_bound",)),
    "empty_cache_in_step": {"fires": ("allocator_calls_in_step", "sync_in_step"), "stays_quiet": ("sync_in_step",)},
    "fragmented_memory": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("memory_near_limit",)),
    "host_filled_then_copied": dict.fromkeys(("stays_quiet", "abstains"), ("pageable_h2d_copy",)),
    "loop_on_host": {"fires": ("sync_in_step",), "stays_quiet": ("sync_in_step",)},
    "model_exceeds_device": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("memory_near_limit",)),
    "pcie_link_degraded": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("exposed_h2d_copy",)),
    "per_sample_fetch": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("input_stall",)),
    "rank_straggler": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("exposed_collective", "input_stall")),
    "slow_transform": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("input_stall",)),
    "small_h2d_copies": {"stays_quiet": ("pageable_h2d_copy",)},
    "uneven_device_memory": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("exposed_collective",)),
    "widened_before_copy": dict.fromkeys(("fires", "stays_quiet", "abstains"), ("exposed_h2d_copy",)),
}  # fmt: skip

# A built trace holds no readings, no settings, no statistics of memory, and no device's facts.
PEAK = ("fragmented_memory", "memory_near_limit")
READINGS = ("clocks_held_down", "energy_idle", "pcie_link_degraded", "power_capped", "thermal_throttle")
# What only a close look shows.
LOOKED = (
    "cancelled_results",
    "costly_algorithm",
    "gradients_row_by_row",
    "hardly_read",
    "losses_summed",
    "masked_results",
    "mostly_zeros",
    "pieces_one_by_one",
    "product_order",
    "repeated_work",
    "round_trips",
    "rows_computed_again",
    "rows_without_effect",
    "subnormal_numbers",
    "unread_gradients",
    "unread_results",
)
# And of which operators it tells the types.
TYPED = (*LOOKED, "eager_attention", "float64_compute")
# What only samples of the stack show.
SAMPLED = (
    *("costly_call_per_item", "derivative_in_full", "python_callback_per_item", "value_made_again"),
    *("last_result_read", "whole_collection_per_item"),
)
ALWAYS = {
    *PEAK, *READINGS, "activations_dominate_peak", "debug_mode_on", "device_errors", "device_shared", "fp32_matmul",
    "gc_pauses", *LOOKED, *SAMPLED, "stack_outdated",
}  # fmt: skip
# Without device events nothing is known of kernels, copies and idle time.
OF_DEVICE = {
    "allocator_calls_in_step", "blocking_h2d_copy", "conv_autotune_off", "conv_bias_before_norm",
    "copies_within_device", "copy_round_trip", "cpu_preprocessing", "eager_attention", "empty_cache_in_step",
    "explicit_synchronize", "exposed_collective", "exposed_h2d_copy", "float64_compute", "fp32_beside_half",
    "host_cpu_bound", "host_filled_then_copied", "idle_peer_devices", "launch_bound", "loop_on_host", "memory_unused",
    "nchw_convolution", "pageable_h2d_copy", "small_batch", "small_h2d_copies", "unaligned_gemm_shape",
    "unfused_pointwise", "weights_bound_inference", "widened_before_copy",
}  # fmt: skip
# Training without a word about memory; loops without shapes.
TRAINED = ("memory_grows_per_step", "optimizer_state_dominates")
SHAPES = ("python_loop_over_batch", "python_loop_over_slices")
# Which others abstain besides those, and which of those do not: their signal is there, or there is nothing to judge.
# `grad_in_inference` lacks operators, `cold_start_dominates` and `sync_in_step` steps or calls.
DIFFERENT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "activations_dominate_peak": ((*TRAINED, "python_loop_over_weights",), (*PEAK, "idle_peer_devices",)),
    "allocator_calls_in_step": ((*TRAINED, "host_cpu_bound", "python_loop_over_weights",), ("fp32_matmul",)),
    "blocking_h2d_copy": (("widened_before_copy",), ()),
    "broadcast_then_reduced": (
        ("cold_start_dominates", "grad_in_inference",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "clocks_held_down": (("grad_in_inference",), ("device_errors", "power_capped", "thermal_throttle",)),
    "cold_start_dominates": (("cpu_build_or_cpu_tensors",), ()),
    "conv_autotune_off": ((), ("debug_mode_on",)),
    "conv_bias_before_norm": ((*TRAINED,), ()),
    "copy_round_trip": (("widened_before_copy",), ()),
    "costly_call_per_item": (
        ("cold_start_dominates",), ("derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "cpu_build_or_cpu_tensors": (("cold_start_dominates",), ("debug_mode_on", "device_errors", "float64_compute",)),
    "data_parallel_module": (("grad_in_inference",), ()),
    "dense_embedding_gradients": ((*TRAINED, "python_loop_over_weights",), ()),
    "derivative_in_full": (
        ("cold_start_dominates",),
        ("costly_call_per_item", "float64_compute", "python_callback_per_item", "whole_collection_per_item",
         "value_made_again", "last_result_read",),
    ),
    "device_errors": (("grad_in_inference",), ()),
    "device_shared": (("grad_in_inference",), ("device_errors",)),
    "empty_cache_in_step": ((), ("fp32_matmul",)),
    "energy_idle": ((), ("device_errors",)),
    "evaluation_share": (
        ("cold_start_dominates", "cpu_build_or_cpu_tensors",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "explicit_synchronize": (("grad_in_inference",), ()),
    "exposed_collective": (("grad_in_inference", "rank_straggler", "uneven_device_memory",), ()),
    "exposed_h2d_copy": (("widened_before_copy",), ()),
    "figures_left_open": (
        ("cold_start_dominates", "grad_in_inference",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "fp32_beside_half": (("grad_in_inference",), ()),
    "fp32_matmul": (("grad_in_inference",), ()),
    "fragmented_memory": (("grad_in_inference",), ("memory_near_limit",)),
    "gc_pauses": (("cpu_build_or_cpu_tensors",), ()),
    "growing_iterations": (("cold_start_dominates",), ()),
    "gradients_unused": ((*TRAINED,), ("host_cpu_bound",)),
    "repeated_backward": ((*TRAINED,), ("host_cpu_bound",)),
    "gradients_zeroed_in_place": ((*TRAINED, "python_loop_over_weights",), ()),
    "held_beyond_need": (("grad_in_inference",), (*PEAK, "activations_dominate_peak")),
    "host_filled_then_copied": (("widened_before_copy",), ()),
    "idle_peer_devices": (
        (*TRAINED, "cold_start_dominates", "loop_on_host", "sync_in_step",),
        ("debug_mode_on", "device_errors",),
    ),
    "input_stall": ((), ("debug_mode_on",)),
    "launch_bound": ((), ("fp32_matmul",)),
    "logits_dominate_peak": ((), (*PEAK,)),
    "memory_grows_per_step": (("optimizer_state_dominates",), (*PEAK,)),
    "memory_kept_by_hooks_or_graphs": (("grad_in_inference",), (*PEAK, "activations_dominate_peak")),
    "memory_near_limit": (("grad_in_inference",), ("fragmented_memory",)),
    "memory_unused": (("memory_grows_per_step",), (*PEAK, "activations_dominate_peak",)),
    "model_exceeds_device": (("grad_in_inference",), (*PEAK,)),
    "nchw_convolution": ((), ("fp32_matmul",)),
    "optimizer_state_dominates": (("memory_grows_per_step",), (*PEAK,)),
    "padding_waste": (("cpu_build_or_cpu_tensors",), ()),
    "pageable_h2d_copy": (("widened_before_copy", "workers_oversubscribed",), ()),
    "pcie_link_degraded": (("grad_in_inference", "widened_before_copy",), ("device_errors",)),
    "per_sample_fetch": (("workers_oversubscribed",), ("debug_mode_on",)),
    "power_capped": (("grad_in_inference",), ("clocks_held_down", "device_errors", "thermal_throttle",)),
    "python_loop_over_weights": ((*TRAINED, "gradients_unused",), ("host_cpu_bound",)),
    "python_callback_per_item": (
        ("cold_start_dominates",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "whole_collection_per_item",
         "value_made_again", "last_result_read",),
    ),
    "rank_straggler": (
        ("loop_on_host", "per_sample_fetch", "slow_transform", "sync_in_step", "uneven_device_memory",),
        (),
    ),
    **dict.fromkeys(
        (
            "cancelled_results", "costly_algorithm", "hardly_read", "masked_results", "mostly_zeros",
            "pieces_one_by_one", "product_order", "repeated_work", "round_trips", "rows_computed_again",
            "rows_without_effect",
            "unread_gradients",
        ),
        (("cpu_build_or_cpu_tensors",), TYPED),
    ),
    "gradients_row_by_row": ((), TYPED),
    "losses_summed": (("cold_start_dominates", "grad_in_inference", "temporary_peak",), TYPED),
    "subnormal_numbers": ((), TYPED),
    "unread_results": ((), TYPED),
    "samples_made_again": (
        ("cold_start_dominates", "cpu_build_or_cpu_tensors",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "slow_transform": ((), ("debug_mode_on",)),
    "small_batch": (("grad_in_inference",), (*PEAK, "activations_dominate_peak",)),
    "stack_outdated": (("grad_in_inference",), ("debug_mode_on",)),
    "tensor_by_element": ((*SHAPES,), ()),
    "tensor_grown_by_cat": (("cold_start_dominates", "growing_iterations", "cpu_build_or_cpu_tensors",), ()),
    "temporary_peak": (
        ("cold_start_dominates", "grad_in_inference",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "tensors_held_by_notebook": (("grad_in_inference",), (*PEAK,)),
    "thermal_throttle": (("grad_in_inference",), ("clocks_held_down", "device_errors", "power_capped",)),
    "unaligned_gemm_shape": ((), ("fp32_matmul",)),
    "uneven_device_memory": (
        ("cold_start_dominates", "grad_in_inference", "loop_on_host", "sync_in_step",),
        (*PEAK, "fp32_matmul",),
    ),
    "unfused_optimizer": ((*TRAINED,), ()),
    "last_result_read": (
        ("cold_start_dominates",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again",),
    ),
    "value_made_again": (
        ("cold_start_dominates",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "last_result_read",),
    ),
    "weights_bound_inference": ((), ("fp32_matmul",)),
    "whole_collection_per_item": (
        ("cold_start_dominates",),
        ("costly_call_per_item", "derivative_in_full", "float64_compute", "python_callback_per_item",
         "value_made_again", "last_result_read",),
    ),
    "workers_oversubscribed": ((), ("debug_mode_on",)),
    "workers_restarted": (
        ("cold_start_dominates", "cpu_build_or_cpu_tensors", "workers_oversubscribed",),
        ("float64_compute",),
    ),
}  # fmt: skip


def answers(name: str, kind: str) -> tuple[dict[str, Any], Results]:
    run: Any = getattr(case_of(name), kind)()
    results = run if isinstance(run, Results) else Results(run)
    return {each.name: each.check(results) for each in all_rules() if each.name != name}, results


@pytest.mark.parametrize("kind", ["fires", "stays_quiet", "abstains"])
@pytest.mark.parametrize("name", NAMES)
def test_no_other_rule_finds_anything(name: str, kind: str) -> None:
    others, _ = answers(name, kind)
    found = [other for other, answer in others.items() if isinstance(answer, Finding)]
    assert found == list(ALSO_FOUND.get(name, {}).get(kind, ()))


@pytest.mark.parametrize("name", NAMES)
def test_the_others_abstain_for_want_of_their_signal(name: str) -> None:
    others, results = answers(name, "fires")
    more, fewer = DIFFERENT.get(name, ((), ()))
    usual = ALWAYS if results.get(DeviceActivity).recorded else ALWAYS | OF_DEVICE
    assert set(fewer) <= usual
    abstained = {other for other, answer in others.items() if isinstance(answer, Abstention)}
    assert abstained == (usual | set(more)) - set(fewer) - {name}
