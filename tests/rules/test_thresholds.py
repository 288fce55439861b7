"""Every rule's thresholds: what it says of a run just under each of them, and of one that reaches it.

The numbers are those of the built runs: a wait of 5 ms in a step of 100 ms is a share of 0.05.
"""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.base.threshold_edge import ABSTAINS, Edge, outcome
from tests.rules.cases import case_of
from tests.rules.threshold_runs import (
    activations,
    averaged,
    batch,
    crowd,
    fetched,
    late_rank,
    oversubscribed,
    paced,
    pyplot,
    shared,
    uneven,
)

LOW, MEDIUM, HIGH = Severity.LOW, Severity.MEDIUM, Severity.HIGH
GIB = 1 << 30


KEPT, BEYOND, BROADCAST = "memory_kept_by_hooks_or_graphs", "held_beyond_need", "broadcast_then_reduced"
EDGES = (
    # the peak is 10 of 16 GiB
    Edge("activations_dominate_peak", "activation_share", lambda c, x: activations(x, 10 - x), 4.9, 5, None, MEDIUM),
    # 4 GiB of activations on a device of 10 GiB
    Edge("activations_dominate_peak", "peak_share", lambda c, x: activations(4, x, 10), 1.98, 2, None, MEDIUM),
    Edge("activations_dominate_peak", "near_limit_share", lambda c, x: activations(5, x, 10), 3.98, 4, MEDIUM, HIGH),
    # 30 frees and 30 allocations of 1 µs in a step of 10 ms: 3.33 µs each pair are a hundredth
    Edge("allocator_calls_in_step", "idle_share", lambda c, x: c._steps(x), 2.3, 2.34, None, LOW),
    Edge("allocator_calls_in_step", "high_share", lambda c, x: c._steps(x), 65.5, 65.7, MEDIUM, HIGH),
    # the copy's 45 µs and what follows until the next kernel, of 1 ms
    Edge("blocking_h2d_copy", "cost_share", lambda c, x: c._copies(x, "pinned"), 11, 12, None, MEDIUM),
    # of 1000 MiB, or of 400
    Edge(BROADCAST, "saved_share", lambda c, x: c.processed(low_mib=x).build(), 801, 799, None, LOW),
    Edge(BROADCAST, "medium_share", lambda c, x: c.processed(low_mib=x).build(), 701, 699, LOW, MEDIUM),
    Edge(BROADCAST, "high_share", lambda c, x: c.processed(low_mib=x).build(), 501, 499, MEDIUM, HIGH),
    Edge(BROADCAST, "saved_mib", lambda c, x: c.processed(400, low_mib=x).build(), 301, 299, None, LOW),
    Edge("clocks_held_down", "clock_share", lambda c, x: c._run(x), 1350, 1349, None, MEDIUM),
    Edge("clocks_held_down", "readings", lambda c, x: c._run(1200, x), 9, 10, ABSTAINS, MEDIUM),
    # ten steps, nine of them of 100 µs
    Edge("cold_start_dominates", "start_share", lambda c, x: c._steps(x), 899, 900, None, MEDIUM),
    # of a step of 1 ms
    Edge("conv_autotune_off", "convolution_share", lambda c, x: c._steps(x), 99, 100, None, LOW),
    # adding the bias and its gradient, half of x each
    Edge("conv_bias_before_norm", "bias_share", lambda c, x: c._steps(x / 2), 4.98, 5, None, LOW),
    Edge("conv_bias_before_norm", "low_share", lambda c, x: c._steps(x / 2), 29.8, 30, LOW, MEDIUM),
    Edge("conv_bias_before_norm", "high_share", lambda c, x: c._steps(x / 2), 198, 200, MEDIUM, HIGH),
    # 21 or 5 operators of x in 10 ms, less 1 µs of another operator in the first
    Edge("cpu_build_or_cpu_tensors", "mean_us", lambda c, x: c._run(21, x, c._THERE), 200, 200.1, None, HIGH),
    Edge("cpu_build_or_cpu_tensors", "heavy_share", lambda c, x: c._run(5, x, c._THERE), 400, 400.2, None, HIGH),
    # of a step of 1 ms
    Edge("data_parallel_module", "forward_share", lambda c, x: c._steps(x, (0, 1)), 29, 30, None, MEDIUM),
    Edge("data_parallel_module", "high_share", lambda c, x: c._steps(x, (0, 1)), 499, 500, MEDIUM, HIGH),
    # rows of a table of 100,000
    Edge("dense_embedding_gradients", "rows_share", lambda c, x: c.training(x).build(), 25_001, 25_000, None, HIGH),
    # of 16 GiB
    Edge("device_shared", "memory_share", lambda c, x: shared(int(x * GIB)), 3.99, 4, LOW, MEDIUM),
    # four products and other kernels of attention, each a quarter of x, in 1 ms of kernels
    Edge("eager_attention", "attention_share", lambda c, x: c._attention(x / 4), 49.6, 50, None, LOW),
    Edge("eager_attention", "high_share", lambda c, x: c._attention(x / 4), 298, 300, MEDIUM, HIGH),
    # two allocations and two frees of a quarter of x each, of which the last of a step is outside it
    Edge("empty_cache_in_step", "idle_share", lambda c, x: c._steps(x).build(), 2.4, 2.6, None, LOW),
    Edge("energy_idle", "idle_share", lambda c, x: c.run(x), 19.9, 20, None, LOW),
    Edge("energy_idle", "readings", lambda c, x: c.run(20, every_ms=x), 250, 190, ABSTAINS, LOW),
    # of 1 ms
    Edge("debug_mode_on", "checks_share", lambda c, x: c.checked(x), 49, 51, None, LOW),
    Edge("debug_mode_on", "medium_share", lambda c, x: c.checked(x), 149, 151, LOW, MEDIUM),
    Edge("debug_mode_on", "high_share", lambda c, x: c.checked(x), 299, 301, MEDIUM, HIGH),
    # x and 6 µs, of 1 ms
    Edge("explicit_synchronize", "idle_share", lambda c, x: c._steps(x), 23, 25, None, MEDIUM),
    Edge("explicit_synchronize", "high_share", lambda c, x: c._steps(x), 193, 195, MEDIUM, HIGH),
    Edge("exposed_collective", "exposed_share", lambda c, x: c._steps(x), 49, 50, None, MEDIUM),
    Edge("exposed_collective", "high_share", lambda c, x: c._steps(x), 199, 200, MEDIUM, HIGH),
    # of 40 ms, in four inputs
    Edge("cpu_preprocessing", "idle_share", lambda c, x: c._inputs(x), 1_999, 2_001, None, MEDIUM),
    Edge("cpu_preprocessing", "high_share", lambda c, x: c._inputs(x), 3_999, 4_001, MEDIUM, HIGH),
    Edge("copies_within_device", "copy_share", lambda c, x: c._copies(x), 49, 50, None, LOW),
    Edge("copies_within_device", "high_share", lambda c, x: c._copies(x), 249, 250, MEDIUM, HIGH),
    # of a cell of 1 s
    Edge("costly_call_per_item", "work_share", lambda c, x: c.calls(x), 99, 100, None, LOW),
    Edge("costly_call_per_item", "arrays_share", lambda c, x: c.arrays(x), 49, 50, None, LOW),
    Edge("costly_call_per_item", "medium_share", lambda c, x: c.calls(x), 199, 200, LOW, MEDIUM),
    Edge("costly_call_per_item", "high_share", lambda c, x: c.calls(x), 399, 400, MEDIUM, HIGH),
    # in ms of a second
    Edge("derivative_in_full", "work_share", lambda c, x: c.computed(x), 99, 100.1, None, LOW),
    # 7.5% of its time is left: that of one call
    Edge("derivative_in_full", "medium_share", lambda c, x: c.computed(x), 216, 216.3, LOW, MEDIUM),
    Edge("derivative_in_full", "high_share", lambda c, x: c.computed(x), 432, 432.5, MEDIUM, HIGH),
    Edge("derivative_in_full", "passes_factor", lambda c, x: c.of_outputs(int(x)), 39, 40, None, MEDIUM),
    Edge("python_callback_per_item", "work_share", lambda c, x: c.called_back(x), 99, 100.1, None, LOW),
    Edge("python_callback_per_item", "medium_share", lambda c, x: c.called_back(x), 199, 200.1, LOW, MEDIUM),
    Edge("python_callback_per_item", "high_share", lambda c, x: c.called_back(x), 399, 400.1, MEDIUM, HIGH),
    Edge("exposed_h2d_copy", "exposed_share", lambda c, x: c._copies(x, "pinned"), 49, 50, None, MEDIUM),
    Edge("exposed_h2d_copy", "high_share", lambda c, x: c._copies(x, "pinned"), 199, 200, MEDIUM, HIGH),
    # of 1 ms of kernels
    Edge("figures_left_open", "figures", lambda c, x: c.drawn(pyplot(x)).build(), 9, 10, None, MEDIUM),
    Edge("float64_compute", "float64_share", lambda c, x: c._kernels(x), 19.6, 20, None, LOW),
    Edge("float64_compute", "low_share", lambda c, x: c._kernels(x), 99.6, 100, LOW, MEDIUM),
    Edge("float64_compute", "high_share", lambda c, x: c._kernels(x), 249.6, 250, MEDIUM, HIGH),
    Edge("fp32_beside_half", "fp32_share", lambda c, x: c._kernels(x), 99, 100, None, MEDIUM),
    Edge("fp32_beside_half", "high_share", lambda c, x: c._kernels(x), 399, 400, MEDIUM, HIGH),
    Edge("fp32_beside_half", "half_share", lambda c, x: c._kernels(500, beside_us=x), 200.5, 200, None, HIGH),
    Edge("fp32_matmul", "fp32_share", lambda c, x: c._kernels("ampere_sgemm_128x64_tn", x), 99, 100, None, MEDIUM),
    Edge("fp32_matmul", "high_share", lambda c, x: c._kernels("ampere_sgemm_128x64_tn", x), 499, 500, MEDIUM, HIGH),
    # ten evaluations beside 400 ms of training, or 40 ms
    Edge("evaluation_share", "cell_share", lambda c, x: c.training(x), 17.1, 17.2, None, LOW),
    # one for each of 100 steps
    Edge("evaluation_share", "each_step_share",
         lambda c, x: c.training(x, epochs=100, steps=1), 2.49, 2.51, None, LOW),
    # 20 beside 800 ms
    Edge("evaluation_share", "half_share", lambda c, x: c.training(x, epochs=20), 48, 50, LOW, MEDIUM),
    Edge("evaluation_share", "many", lambda c, x: c.training(60, epochs=x), 19, 20, LOW, MEDIUM),
    Edge("evaluation_share", "training_share", lambda c, x: c.training(x, 1), 36.1, 35.9, None, LOW),
    Edge("fp32_matmul", "unknown_share", lambda c, x: c._kernels("gemm", x), 299, 300, None, ABSTAINS),
    # of 15 GiB reserved
    Edge("fragmented_memory", "unused_share", lambda c, x: c._run(x), 10.55, 10.5, None, HIGH),
    # of steps of 1 ms
    Edge("gc_pauses", "pause_share", lambda c, x: c._steps(x).build(), 9.9, 10, None, LOW),
    Edge("gc_pauses", "low_share", lambda c, x: c._steps(x).build(), 59.9, 60, LOW, MEDIUM),
    Edge("gc_pauses", "high_share", lambda c, x: c._steps(x).build(), 199, 200, MEDIUM, HIGH),
    # two are trained; each of the others takes 20 µs of 1 ms
    Edge("growing_iterations", "growth_factor", lambda c, x: c.generation(each_us=x).build(), 2.26, 2.28, None, MEDIUM),
    Edge("growing_iterations", "high_share", lambda c, x: c.generation(each_us=x).build(), 4.62, 4.64, MEDIUM, HIGH),
    Edge("growing_iterations", "excess_share",
         lambda c, x: c.generation(each_us=2.5).operator("aten::mm", 6000, x).build(), 2130, 2120, None, MEDIUM),
    Edge("growing_iterations", "by_row_share",
         lambda c, x: c.generation(source=c.CACHED, grows="aten::bmm", linear_us=x).build(), 4.9, 5.1, None, HIGH),
    # two of three evaluations in 3 ms: the last step may not be whole
    Edge("grad_in_inference", "beside_share", lambda c, x: c.beside(x).build(), 74.9, 75, None, LOW),
    Edge("grad_in_inference", "medium_share", lambda c, x: c.beside(x).build(), 449, 450, LOW, MEDIUM),
    Edge("gradients_unused", "beyond_share", lambda c, x: c.steps(2, x), 4, 5, None, MEDIUM),
    Edge("gradients_unused", "high_share", lambda c, x: c.steps(2, x), 16, 17, MEDIUM, HIGH),
    # two in 20 operators each: zeroing takes 20 x µs of 1 ms, and adding as long
    Edge("gradients_zeroed_in_place", "cost_share", lambda c, x: c._steps(x), 0.12, 0.13, None, LOW),
    Edge("gradients_zeroed_in_place", "low_share", lambda c, x: c._steps(x), 0.74, 0.76, LOW, MEDIUM),
    Edge("gradients_zeroed_in_place", "high_share", lambda c, x: c._steps(x), 4.9, 5.1, MEDIUM, HIGH),
    Edge("graph_breaks", "pieces", lambda c, x: c._steps(x, c._BROKEN), 1, 2, None, LOW),
    Edge("graph_breaks", "many_pieces", lambda c, x: c._steps(x, c._BROKEN), 9, 10, LOW, MEDIUM),
    # of 100 µs of operators in an iteration
    Edge("hardly_read", "work_share", lambda c, x: c.looked(x * 40 / 39), 4.9, 5.01, None, LOW),
    Edge("hardly_read", "low_share", lambda c, x: c.looked(x * 40 / 39), 9.9, 10.01, LOW, MEDIUM),
    Edge("hardly_read", "high_share", lambda c, x: c.looked(x * 40 / 39), 29.9, 30.01, MEDIUM, HIGH),
    Edge("hardly_read", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.49, 0.5, ABSTAINS, HIGH),
    # of a step of 10 ms
    Edge("host_cpu_bound", "gap_share", lambda c, x: c._steps(x), 999, 1001, None, MEDIUM),
    Edge("host_cpu_bound", "high_share", lambda c, x: c._steps(x), 2_990, 3_010, MEDIUM, HIGH),
    # of twenty readings
    Edge("idle_peer_devices", "idle_share", lambda c, x: c._run(x), 2, 1, None, LOW),
    # of a step of 100 ms
    Edge("input_stall", "stall_share", lambda c, x: c._loop(x).build(), 4_990, 5_000, None, MEDIUM),
    Edge("input_stall", "high_share", lambda c, x: c._loop(x).build(), 19_990, 20_000, MEDIUM, HIGH),
    # 8192 rows in fp32, of 10 GiB: 2.5 GiB are 81,920 classes
    Edge("logits_dominate_peak", "logits_share", lambda c, x: c._loss(x), 81_919, 81_920, None, MEDIUM),
    # 6 GiB left
    Edge("memory_grows_per_step", "steps_until_full", lambda c, x: c._run(x), 0.61, 0.62, None, MEDIUM),
    Edge("memory_grows_per_step", "high_steps", lambda c, x: c._run(x), 6.1, 6.2, MEDIUM, HIGH),
    Edge("memory_grows_per_step", "levels", lambda c, x: c._run(10, steps=x), 7, 8, ABSTAINS, HIGH),
    # of a growth of 5 GiB, of a peak of 6 GiB; 16 GiB in all
    Edge(KEPT, "explained_share", lambda c, x: c._run(x), 1.999, 2, None, MEDIUM),
    Edge(KEPT, "peak_share", lambda c, x: c._run(peak_gib=x, grown_gib=3.9), 20.1, 19.9, None, MEDIUM),
    Edge(KEPT, "tensors", lambda c, x: c._run(tensors=x), 5, 6, None, HIGH),
    Edge(KEPT, "iterations_until_full",
         lambda c, x: c._run(1.25, grown_gib=2.5, tensors=x), 12_501, 12_500, None, MEDIUM),
    Edge(KEPT, "one_share", lambda c, x: c._run(x, grown_gib=2.5, tensors=40_001), 1.79, 1.81, None, MEDIUM),
    Edge(KEPT, "high_share", lambda c, x: c._run(x, grown_gib=4), 2.99, 3, MEDIUM, HIGH),
    Edge(KEPT, "saved_mib",
         lambda c, x: c._run(x / 1024, grown_gib=0.15, peak_gib=0.19, tensors=1000), 99, 101, None, HIGH),
    # of a peak of 6 GiB, or of 512 MiB; copies of 1 GiB, of which one is needed, of a peak of 12 GiB
    Edge(BEYOND, "saved_share", lambda c, x: c._run(x), 0.59, 0.61, None, LOW),
    Edge(BEYOND, "medium_share", lambda c, x: c._run(x), 1.79, 1.81, LOW, MEDIUM),
    Edge(BEYOND, "high_share", lambda c, x: c._run(x), 2.99, 3.01, MEDIUM, HIGH),
    Edge(BEYOND, "saved_mib", lambda c, x: c._run(x / 1024, peak_gib=0.5), 99, 101, None, LOW),
    Edge(BEYOND, "copies", lambda c, x: c.copied(x), 3, 4, None, LOW),
    Edge("memory_near_limit", "reserved_share", lambda c, x: c._run(x), 14.39, 14.41, None, MEDIUM),
    # 9 µs in every x
    # of 10 ms, in 20 iterations
    Edge("loop_on_host", "loop_share", lambda c, x: c.looped(x), 24.9, 25.1, None, MEDIUM),
    Edge("loop_on_host", "high_share", lambda c, x: c.looped(x), 99, 101, MEDIUM, HIGH),
    # of iterations of 150 µs, 1 µs for the copy
    Edge("loop_on_host", "busy_share", lambda c, x: c.looped(kernel_us=x), 74.1, 73.9, None, HIGH),
    # as long as all iterations together
    Edge("loop_on_host", "even_share", lambda c, x: c.looped(extra_us=x), 3010, 2990, None, HIGH),
    Edge("launch_bound", "gap_share", lambda c, x: paced(x), 11.2, 11.3, None, MEDIUM),
    # of a step of 1 ms
    Edge("memory_unused", "fixed_share", lambda c, x: c._steps(x), 99, 100, None, MEDIUM),
    Edge("memory_unused", "high_share", lambda c, x: c._steps(x), 399, 400, MEDIUM, HIGH),
    Edge("memory_unused", "memory_share", lambda c, x: c._steps(200, peak_gib=x), 7.21, 7.2, None, MEDIUM),
    # 6.5 GiB of weights and gradients; 12.8 are four fifths of the device
    Edge("model_exceeds_device", "kept_share", lambda c, x: c._run(x), 6.29, 6.31, None, HIGH),
    # of 1 ms of kernels
    Edge("nchw_convolution", "layout_share", lambda c, x: c._kernels(x), 19.8, 20.1, None, LOW),
    Edge("nchw_convolution", "high_share", lambda c, x: c._kernels(x), 199.8, 200.1, MEDIUM, HIGH),
    # of a peak of 12.5 GiB
    Edge("optimizer_state_dominates", "state_share", lambda c, x: c._run(x), 4.99, 5, None, MEDIUM),
    # tokens in 10,000 positions
    Edge("padding_waste", "work_share", lambda c, x: c.looked(0.5, x), 19.9, 20, None, MEDIUM),
    Edge("padding_waste", "padding_share", lambda c, x: c._steps(x), 8_001, 7_999, None, MEDIUM),
    Edge("padding_waste", "high_share", lambda c, x: c._steps(x), 5_001, 5_000, MEDIUM, HIGH),
    # of a step of 10 ms
    Edge("pageable_h2d_copy", "exposed_share", lambda c, x: c._copies(x, "pageable"), 290, 300, None, LOW),
    Edge("pageable_h2d_copy", "high_share", lambda c, x: c._copies(x, "pageable"), 1_980, 2_000, MEDIUM, HIGH),
    Edge("pcie_link_degraded", "readings", lambda c, x: c._run(4, x), 4, 5, ABSTAINS, MEDIUM),
    # capped ones among forty readings
    # of 100 µs of operators in an iteration
    Edge("pieces_one_by_one", "work_share", lambda c, x: c.looked(x), 19.9, 20.1, None, MEDIUM),
    Edge("pieces_one_by_one", "high_share", lambda c, x: c.looked(x), 49.9, 50.1, MEDIUM, HIGH),
    Edge("pieces_one_by_one", "seen_share", lambda c, x: c.unrecorded(x), 0.79, 0.8, ABSTAINS, HIGH),
    Edge("power_capped", "capped_share", lambda c, x: c._run(x), 8, 9, None, MEDIUM),
    Edge("power_capped", "readings", lambda c, x: c._run(5, x), 9, 10, ABSTAINS, MEDIUM),
    # processors, waits of a hundred samples, and ms of 4 in transforms
    Edge("per_sample_fetch", "processors_used", lambda c, x: fetched(cpu_share=x), 0.25, 0.24, None, HIGH),
    Edge("per_sample_fetch", "waits_per_sample", lambda c, x: fetched(blocked=x), 89, 90, None, HIGH),
    Edge("per_sample_fetch", "transforms_share", lambda c, x: fetched(resize_ms=x - 0.01), 2, 1.99, None, HIGH),
    # of the operators’ time; zeros, and columns of a small diagonal matrix; taps
    Edge("cancelled_results", "work_share", lambda c, x: c.looked(x * 4 / 3), 4.9, 5.01, None, LOW),
    Edge("cancelled_results", "low_share", lambda c, x: c.looked(x * 4 / 3), 9.9, 10.01, LOW, MEDIUM),
    Edge("cancelled_results", "high_share", lambda c, x: c.looked(x * 4 / 3), 29.9, 30.01, MEDIUM, HIGH),
    Edge("cancelled_results", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.49, 0.5, ABSTAINS, HIGH),
    Edge("gradients_row_by_row", "passes", lambda c, x: c.looked(50, x), 7, 8, None, HIGH),
    Edge("gradients_row_by_row", "work_share", lambda c, x: c.looked(x / 0.9), 4.9, 5.01, None, LOW),
    Edge("gradients_row_by_row", "low_share", lambda c, x: c.looked(x / 0.9), 9.9, 10.01, LOW, MEDIUM),
    Edge("gradients_row_by_row", "high_share", lambda c, x: c.looked(x / 0.9), 29.9, 30.01, MEDIUM, HIGH),
    Edge("masked_results", "fewest_runs", lambda c, x: c.looked(59.5, x, x), 2, 3, None, HIGH),
    Edge("masked_results", "empty_share", lambda c, x: c.looked(59.5, 1, x), 11, 10, None, MEDIUM),
    Edge("masked_results", "work_share", lambda c, x: c.looked(x * 3 / 2 - 0.5, 5), 4.9, 5.01, None, LOW),
    Edge("masked_results", "low_share", lambda c, x: c.looked(x * 3 / 2 - 0.5, 5), 9.9, 10.01, LOW, MEDIUM),
    Edge("masked_results", "high_share", lambda c, x: c.looked(x * 3 / 2 - 0.5, 5), 29.9, 30.01, MEDIUM, HIGH),
    Edge("masked_results", "heavy_share", lambda c, x: c.looked(x, light_us=60 - x), 29.9, 30, None, HIGH),
    Edge("masked_results", "seen_share", lambda c, x: c.looked(59.5, operators_share=x), 0.49, 0.5, ABSTAINS, HIGH),
    Edge("rows_without_effect", "idle_share", lambda c, x: c.looked(50, x), 0.39, 0.4, None, MEDIUM),
    Edge("rows_without_effect", "work_share", lambda c, x: c.looked(x / 0.9), 2.9, 3.01, None, LOW),
    Edge("rows_without_effect", "low_share", lambda c, x: c.looked(x / 0.9), 9.9, 10.01, LOW, MEDIUM),
    Edge("rows_without_effect", "high_share", lambda c, x: c.looked(x / 0.9), 29.9, 30.01, MEDIUM, HIGH),
    Edge("rows_without_effect", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.49, 0.5, ABSTAINS, HIGH),
    Edge("rows_computed_again", "work_share", lambda c, x: c.looked(x / c.PART), 4.9, 5.01, None, LOW),
    Edge("rows_computed_again", "low_share", lambda c, x: c.looked(x / c.PART), 9.9, 10.01, LOW, MEDIUM),
    Edge("rows_computed_again", "high_share", lambda c, x: c.looked(x / c.PART), 29.9, 30.01, MEDIUM, HIGH),
    Edge("rows_computed_again", "fewest_passes", lambda c, x: c.looked(50, round(20 * x)), 1.45, 1.5, None, MEDIUM),
    Edge("rows_computed_again", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.79, 0.8, ABSTAINS, HIGH),
    Edge("mostly_zeros", "work_share", lambda c, x: c.looked(x / c.SAVED), 4.9, 5.01, None, LOW),
    Edge("mostly_zeros", "low_share", lambda c, x: c.looked(x / c.SAVED), 9.9, 10.01, LOW, MEDIUM),
    Edge("mostly_zeros", "high_share", lambda c, x: c.looked(x / c.SAVED), 29.9, 30.01, MEDIUM, HIGH),
    Edge("mostly_zeros", "zeros_share", lambda c, x: c.looked(50, zeros_share=x), 0.969, 0.97, None, MEDIUM),
    Edge("mostly_zeros", "saved_part", lambda c, x: c.looked(50, 3, 64, x, pattern=1), 114, 115, None, MEDIUM),
    Edge("mostly_zeros", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.79, 0.8, ABSTAINS, HIGH),
    Edge("costly_algorithm", "work_share", lambda c, x: c.looked(x / c.SAVED), 4.9, 5.01, None, LOW),
    Edge("costly_algorithm", "low_share", lambda c, x: c.looked(x / c.SAVED), 9.9, 10.01, LOW, MEDIUM),
    Edge("costly_algorithm", "high_share", lambda c, x: c.looked(x / c.SAVED), 29.9, 30.01, MEDIUM, HIGH),
    Edge("costly_algorithm", "cost_factor", lambda c, x: c.looked(50, taps=x), 236, 238, None, MEDIUM),
    Edge("costly_algorithm", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.79, 0.8, ABSTAINS, HIGH),
    # turns, not of a share
    Edge("product_order", "work_share", lambda c, x: c.looked(x / c.SAVED), 4.9, 5.01, None, LOW),
    Edge("product_order", "low_share", lambda c, x: c.looked(x / c.SAVED), 9.9, 10.01, LOW, MEDIUM),
    Edge("product_order", "high_share", lambda c, x: c.looked(x / c.SAVED), 29.9, 30.01, MEDIUM, HIGH),
    Edge("product_order", "cost_factor", lambda c, x: c.looked(50, columns=x), 501, 500, None, MEDIUM),
    Edge("product_order", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.79, 0.8, ABSTAINS, HIGH),
    Edge("python_loop_over_batch", "LEAST_TURNS", lambda c, x: batch(x), 9, 10, None, HIGH),
    Edge("python_loop_over_slices", "LEAST_TURNS", lambda c, x: c.loops(x, sizes=(8, x, 32)), 9, 10, None, HIGH),
    # 24 operators in a step of 1 ms; turns of twelve weights; in every second step, or every third
    Edge("python_loop_over_weights", "loop_share", lambda c, x: averaged(of_us=x), 2, 2.1, None, MEDIUM),
    Edge("python_loop_over_weights", "high_share", lambda c, x: averaged(of_us=x), 12.4, 12.5, MEDIUM, HIGH),
    Edge("python_loop_over_weights", "other_share", lambda c, x: averaged(x), 10, 11, None, MEDIUM),
    Edge("python_loop_over_weights", "other_share", lambda c, x: averaged(x), 14, 13, None, MEDIUM),
    Edge("python_loop_over_weights", "steps_share", lambda c, x: averaged(every=x), 3, 2, None, MEDIUM),
    # of a step of 10 ms
    Edge("rank_straggler", "late_share", lambda c, x: late_rank(x), 990, 1_000, None, MEDIUM),
    Edge("rank_straggler", "high_share", lambda c, x: late_rank(x), 2_490, 2_500, MEDIUM, HIGH),
    # of 100 µs of operators in an iteration
    Edge("repeated_work", "work_share", lambda c, x: c.looked(x), 4.9, 5, None, LOW),
    Edge("repeated_work", "low_share", lambda c, x: c.looked(x), 9.9, 10, LOW, MEDIUM),
    Edge("repeated_work", "high_share", lambda c, x: c.looked(x), 29.9, 30, MEDIUM, HIGH),
    Edge("repeated_work", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.79, 0.8, ABSTAINS, HIGH),
    Edge("repeated_work", "fingerprint_share", lambda c, x: c.looked(1, fingerprinted_share=x), .4, .5, ABSTAINS, None),
    Edge("round_trips", "trip_share", lambda c, x: c.looked(x), 1.49, 1.5, None, LOW),
    Edge("round_trips", "low_share", lambda c, x: c.looked(x), 4.9, 5, LOW, MEDIUM),
    Edge("round_trips", "high_share", lambda c, x: c.looked(x), 14.9, 15, MEDIUM, HIGH),
    Edge("round_trips", "seen_share", lambda c, x: c.looked(10, operators_share=x), 0.79, 0.8, ABSTAINS, MEDIUM),
    Edge("slow_transform", "transform_share", lambda c, x: c.loop(c.timed(resize_ms=x)), 1.99, 2, None, HIGH),
    Edge("slow_transform", "processors_used", lambda c, x: c.loop(c.timed(cpu_share=x)), 0.49, 0.5, None, HIGH),
    # peaks on a device of 16 GiB
    Edge("small_batch", "memory_share", lambda c, x: c._kernels(40, int(x * GIB)), 8.01, 8, None, MEDIUM),
    # one block on each of 100 multiprocessors is a wave of a product
    Edge("small_batch", "waves", lambda c, x: c._kernels(x, 2 * GIB), 90, 89, None, MEDIUM),
    # x and 4 µs after each of ten reads, of eleven steps of 1 ms
    Edge("sync_in_step", "idle_share", lambda c, x: c._reads(x), 28.9, 29, None, MEDIUM),
    Edge("sync_in_step", "high_share", lambda c, x: c._reads(x), 215, 216, MEDIUM, HIGH),
    Edge("tensor_by_element", "accesses", lambda c, x: c.filled(x), 99, 100, None, HIGH),
    # cats of 210 x µs in all, beside 10 ms
    Edge("tensor_grown_by_cat", "cat_share", lambda c, x: c.evaluation(each_us=x).build(), 2.49, 2.52, None, MEDIUM),
    Edge("tensor_grown_by_cat", "high_share", lambda c, x: c.evaluation(each_us=x).build(), 11.88, 11.92, MEDIUM, HIGH),
    # 300 MiB and x, of 16 GiB
    Edge("tensors_held_by_notebook", "held_share", lambda c, x: c._run(x), 519, 520, None, MEDIUM),
    Edge("thermal_throttle", "throttled_share", lambda c, x: c._run(x), 8, 9, None, MEDIUM),
    Edge("thermal_throttle", "high_share", lambda c, x: c._run(x), 23, 24, MEDIUM, HIGH),
    Edge("thermal_throttle", "readings", lambda c, x: c._run(5, x), 9, 10, ABSTAINS, MEDIUM),
    # of 1 ms of kernels
    Edge("unaligned_gemm_shape", "unaligned_share", lambda c, x: c._kernels(x), 99, 100, None, LOW),
    Edge("unaligned_gemm_shape", "low_share", lambda c, x: c._kernels(x), 249, 250, LOW, MEDIUM),
    Edge("unaligned_gemm_shape", "high_share", lambda c, x: c._kernels(x), 499, 500, MEDIUM, HIGH),
    # of a highest peak of 60 GB
    Edge("uneven_device_memory", "spread_share", lambda c, x: uneven(60, x), 48.1, 47.9, None, LOW),
    Edge("uneven_device_memory", "full_share", lambda c, x: uneven(x, 20), 39.5, 40, None, LOW),
    Edge("uneven_device_memory", "medium_share", lambda c, x: uneven(x, 20), 67.5, 68, LOW, MEDIUM),
    # 120 operators in a step of 1 ms
    Edge("unfused_optimizer", "optimizer_share", lambda c, x: c._steps(x), 0.248, 0.25, None, MEDIUM),
    Edge("unfused_optimizer", "high_share", lambda c, x: c._steps(x), 1.65, 1.67, MEDIUM, HIGH),
    # one kernel instead of four: three quarters of them go away, of 1 ms
    Edge("unfused_pointwise", "saved_share", lambda c, x: c._chains(x / 3), 99, 102, None, MEDIUM),
    Edge("unfused_pointwise", "high_share", lambda c, x: c._chains(x / 3), 297, 300, MEDIUM, HIGH),
    # of 100 µs of operators in an iteration
    Edge("unread_gradients", "work_share", lambda c, x: c.looked(x), 4.9, 5.01, None, LOW),
    Edge("unread_gradients", "low_share", lambda c, x: c.looked(x), 9.9, 10.01, LOW, MEDIUM),
    Edge("unread_gradients", "high_share", lambda c, x: c.looked(x), 29.9, 30.01, MEDIUM, HIGH),
    Edge("unread_gradients", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.49, 0.5, ABSTAINS, HIGH),
    Edge("unread_results", "work_share", lambda c, x: c.looked(x), 4.9, 5.01, None, LOW),
    Edge("unread_results", "low_share", lambda c, x: c.looked(x), 9.9, 10.01, LOW, MEDIUM),
    Edge("unread_results", "high_share", lambda c, x: c.looked(x), 29.9, 30.01, MEDIUM, HIGH),
    Edge("unread_results", "read_share", lambda c, x: c.looked(x), 90.1, 90, None, HIGH),
    Edge("unread_results", "seen_share", lambda c, x: c.looked(50, operators_share=x), 0.49, 0.5, ABSTAINS, HIGH),
    # of 100 µs
    Edge("weights_bound_inference", "weights_share", lambda c, x: c._products(x), 49, 50, None, MEDIUM),
    Edge("weights_bound_inference", "high_share", lambda c, x: c._products(x), 79, 80, MEDIUM, HIGH),
    Edge("whole_collection_per_item", "work_share", lambda c, x: c.lookups(x), 99, 100, None, LOW),
    Edge("whole_collection_per_item", "medium_share", lambda c, x: c.lookups(x), 199, 200, LOW, MEDIUM),
    Edge("whole_collection_per_item", "high_share", lambda c, x: c.lookups(x), 399, 400, MEDIUM, HIGH),
    Edge("workers_oversubscribed", "main_share", lambda c, x: oversubscribed(main_wait=x), 4.9, 5, None, MEDIUM),
    Edge("workers_oversubscribed", "high_share", lambda c, x: oversubscribed(main_wait=x), 19.9, 20, MEDIUM, HIGH),
    Edge("workers_oversubscribed", "wait_ratio", lambda c, x: crowd(wait_ratio=x), 0.49, 0.51, None, HIGH),
    Edge("workers_oversubscribed", "wanted_per_core", lambda c, x: crowd(threads=x / 16), 5.9, 6, None, HIGH),
    Edge("workers_oversubscribed", "used_share", lambda c, x: oversubscribed(used=x), 155, 161, None, HIGH),
    # two restarts, of 1 s
    Edge("workers_restarted", "restart_share", lambda c, x: c._run(x), 14.9, 15, None, MEDIUM),
    Edge("workers_restarted", "high_share", lambda c, x: c._run(x), 99, 100, MEDIUM, HIGH),
)  # fmt: skip


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.rule}-{edge.threshold}")
def test_just_under_a_threshold_and_at_it(edge: Edge) -> None:
    case = case_of(edge.rule)
    before, after = (outcome(edge.rule, edge.build(case, value)) for value in (edge.under, edge.at))
    assert (before, after) == (edge.before, edge.after)


# Rules of which a run a little beyond a threshold gives odd figures, and by how much beyond.
ODD = {
    **dict.fromkeys(
        (
            "activations_dominate_peak", "allocator_calls_in_step", "blocking_h2d_copy", "cold_start_dominates",
            "conv_autotune_off", "conv_bias_before_norm", "cpu_build_or_cpu_tensors", "data_parallel_module",
            "device_shared", "eager_attention", "empty_cache_in_step", "energy_idle", "explicit_synchronize",
            "exposed_collective", "exposed_h2d_copy", "float64_compute", "fp32_matmul", "gc_pauses",
            "gradients_zeroed_in_place", "host_cpu_bound", "input_stall", "launch_bound", "loop_on_host",
            "memory_unused", "model_exceeds_device",
            "nchw_convolution", "optimizer_state_dominates", "pageable_h2d_copy", "rank_straggler", "slow_transform",
            "sync_in_step", "tensor_grown_by_cat", "unaligned_gemm_shape", "unfused_optimizer", "unfused_pointwise",
            "weights_bound_inference", "workers_oversubscribed", "workers_restarted",
        ),
        1.0123457,
    ),
    "fragmented_memory": 0.987654,
    "uneven_device_memory": 0.987654,
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_shares_are_given_to_four_places_and_times_to_the_nanosecond(name: str) -> None:
    edge = next(each for each in EDGES if each.rule == name)
    run = edge.build(case_of(name), edge.at * ODD[name])
    found = rule(name).check(run if isinstance(run, Results) else Results(run))
    assert isinstance(found, Finding)
    shares = [value for key, value in found.evidence.items() if "share" in key and isinstance(value, float)]
    assert shares == [round(share, 4) for share in shares] != [round(share, 3) for share in shares]
    times = [value for key, value in found.evidence.items() if key.endswith("_ms") and isinstance(value, float)]
    assert times == [round(ms, 6) for ms in times]
