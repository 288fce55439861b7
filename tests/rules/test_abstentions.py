"""What a rule says it lacks: its signal by name, in the words that the user reads."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention
from gpuprof.rules.registry import all_rules, rule
from tests.rules.cases import case_of

NEEDS = {
    "activations_dominate_peak": "the size of the device’s memory",
    "allocator_calls_in_step": (
        "steps: without them the memory fetched at the start cannot be told from that of a steady state"
    ),
    "blocking_h2d_copy": "whether the copied host memory is pageable or pinned, which this trace does not say",
    "broadcast_then_reduced": "in which lines the memory of the process was high",
    "cancelled_results": "a close look at the operators and their tensors",
    "clocks_held_down": "at least 10 readings of the device’s clock reasons under load",
    "cold_start_dominates": "steps, to tell the first from the later ones",
    "conv_autotune_off": "the setting `torch.backends.cudnn.benchmark`",
    "conv_bias_before_norm": "the device’s kernels",
    "copies_within_device": "the device’s copies",
    "copy_round_trip": "the copies from and to the device",
    "costly_algorithm": "a close look at the operators and their tensors",
    "costly_call_per_item": "samples of the cell’s stack",
    "cpu_build_or_cpu_tensors": "whether this machine has a GPU",
    "cpu_preprocessing": "the device’s idle time",
    "data_parallel_module": "on how many devices it ran",
    "debug_mode_on": "torch’s flags during the run",
    "dense_embedding_gradients": "the sizes of embedding tables, to tell how few of their rows a step uses",
    "derivative_in_full": "samples of the cell’s stack",
    "device_errors": "the device’s error counters",
    "device_shared": "the driver’s list of processes on the device",
    "eager_attention": "the device’s kernels",
    "empty_cache_in_step": "the device’s activity around the driver’s memory calls",
    "energy_idle": "at least 10 readings of the device’s power in the steps",
    "evaluation_share": "the phases of the whole cell",
    "explicit_synchronize": "the device’s activity after the host’s waits",
    "exposed_collective": "the device’s collectives",
    "exposed_h2d_copy": "whether the copied host memory is pageable or pinned, which this trace does not say",
    "figures_left_open": "which figures of matplotlib stay open",
    "float64_compute": "the device’s kernels",
    "fp32_beside_half": "a GPU in the run",
    "fp32_matmul": "the device’s compute capability: whether it has tensor cores",
    "fragmented_memory": "the size of the device’s memory",
    "gc_pauses": "the pauses of Python’s garbage collector",
    "grad_in_inference": "the host’s operators",
    "gradients_row_by_row": "a close look at the operators and their tensors",
    "gradients_unused": "how many weights the optimizers have",
    "gradients_zeroed_in_place": "the kernels that zero the gradients",
    "graph_breaks": "torch.compile’s count of graph breaks while it compiled these pieces",
    "growing_iterations": (
        "the text of the cell: iterations take longer and longer, but not whether by what they collect"
    ),
    "hardly_read": "a close look at the operators and their tensors",
    "held_beyond_need": "what the names of the notebook hold",
    "host_cpu_bound": "the CPU use of this process in these stretches",
    "host_filled_then_copied": "whether the tensors that the host fills are those that it copies next",
    "idle_peer_devices": "the driver’s readings of the other devices",
    "input_stall": "the device’s activity during the waits for data",
    "last_result_read": "samples of the cell’s stack",
    "launch_bound": "the launches of the kernels: how far the host is ahead cannot be said",
    "logits_dominate_peak": "the size of what the loss is computed from",
    "loop_on_host": "the device’s activity within loops",
    "losses_summed": "a close look at the operators and their tensors",
    "masked_results": "a close look at the operators and their tensors",
    "memory_grows_per_step": "memory after at least 8 steps of training",
    "memory_kept_by_hooks_or_graphs": "what the graphs of the notebook’s tensors keep",
    "memory_near_limit": "the size of the device’s memory and the peak in it",
    "memory_unused": "the peak of the device’s memory, what was there before included",
    "model_exceeds_device": "the sizes of parameters, gradients and optimizer state",
    "mostly_zeros": "a close look at the operators and their tensors",
    "nchw_convolution": "the device’s kernels",
    "optimizer_state_dominates": "the sizes of parameters, gradients and optimizer state",
    "padding_waste": "the device’s kernels",
    "pageable_h2d_copy": "whether the copied host memory is pageable or pinned, which this trace does not say",
    "pcie_link_degraded": "at least 5 readings of the device’s PCIe link under load",
    "per_sample_fetch": "how long the samples of the dataset take, and their transforms",
    "pieces_one_by_one": "a close look at the operators and their tensors",
    "power_capped": "at least 10 readings of the device’s clock reasons under load",
    "product_order": "a close look at the operators and their tensors",
    "python_callback_per_item": "samples of the cell’s stack",
    "python_loop_over_batch": "the shapes: a loop over slices was seen, but not whether it is over the batch",
    "python_loop_over_slices": "the shapes: a loop over slices was seen, but not which dimension it is over",
    "python_loop_over_weights": "autograd’s numbers, which join the backward pass to the operators it is of",
    "rank_straggler": "the traces of the other ranks",
    "recompiles_in_steady_state": "steps: without them the first compiling cannot be told from compiling again",
    "repeated_backward": "the kernels of the backward passes",
    "repeated_work": "a close look at the operators and their tensors",
    "round_trips": "a close look at the operators and their tensors",
    "rows_computed_again": "a close look at the operators and their tensors",
    "rows_without_effect": "a close look at the operators and their tensors",
    "samples_made_again": "the phases of the whole cell",
    "slow_transform": "how long the samples of the dataset take, and their transforms",
    "small_batch": "the peak of device memory: whether a larger batch would fit",
    "small_h2d_copies": "the copies to the device",
    "stack_outdated": "what this torch was compiled for, and the device’s compute capability",
    "subnormal_numbers": "a close look at whole iterations: it ended before",
    "sync_in_step": "the device’s activity after the host’s waits",
    "temporary_peak": "in which lines the memory of the process was high",
    "tensor_by_element": "the shapes: a tensor is written piece by piece, but not whether a piece is a single number",
    "tensor_grown_by_cat": "the shapes: much time is in `torch.cat`, but not whether one tensor grows by it",
    "tensors_held_by_notebook": "the names of the notebook and what they hold",
    "thermal_throttle": "at least 10 readings of the device’s clock reasons under load",
    "unaligned_gemm_shape": "the device’s kernels",
    "uneven_device_memory": "the memory that each rank had allocated",
    "unfused_optimizer": "the kernels of the optimizer’s steps",
    "unfused_pointwise": "the device’s kernels",
    "unread_gradients": "a close look at the operators and their tensors",
    "unread_results": "a close look at the operators and their tensors",
    "value_made_again": "samples of the cell’s stack",
    "weights_bound_inference": "the shapes of the matrix products: how many rows the weights are read for",
    "whole_collection_per_item": (
        "samples of the cell’s stack, and the kinds and lengths of what its lines go through"
    ),
    "widened_before_copy": "the types of the operators’ inputs",
    "workers_oversubscribed": "how long the worker processes waited for a core",
    "workers_restarted": "the DataLoader’s settings",
}


def test_every_rule_has_its_words() -> None:
    assert list(NEEDS) == [each.name for each in all_rules()]


@pytest.mark.parametrize(("name", "needs"), NEEDS.items(), ids=NEEDS)
def test_it_names_the_signal(name: str, needs: str) -> None:
    run: Any = case_of(name).abstains()
    answer = rule(name).check(run if isinstance(run, Results) else Results(run))
    assert isinstance(answer, Abstention)
    assert answer.needs == needs
    assert answer.how.endswith(".")
