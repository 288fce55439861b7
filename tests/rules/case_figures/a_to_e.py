"""What each rule says of its case, a to e; figures follow from the times that the case is built of."""

from __future__ import annotations

from tests.rules.case_figures.figures import Figures

FIGURES = {
    "activations_dominate_peak": Figures(
        (
            "When backward begins, 6.00 GiB allocated in forward are still live; the peak is 62 % of the"
            " device’s 16.0 GiB."
        ),
        {
            "activations_bytes": 6442450944,
            "activation_share": 0.6,
            "peak_allocated_bytes": 10737418240,
            "memory_bytes": 17179869184,
            "peak_reserved_bytes": 10737418240,
        },
        ranges=1,
        first=(400, 400.001),
    ),
    "allocator_calls_in_step": Figures(
        (
            "4 of 4 steady steps call the driver for memory: 30 allocations and 30 frees a step. The host"
            " spent 12.0 ms in these calls; the device was idle in 12.0 ms of it."
        ),
        {
            "steps_with": 4,
            "allocations_per_step": 30.0,
            "frees_per_step": 30.0,
            "host_ms": 12.0,
            "idle_ms": 12.0,
            "idle_share": 0.3,
        },
        saving=(12_000, 12_000, 12_000),  # 4 steps of 30 frees of 99 µs and 30 allocations of 1 µs
        grade="B",
        ranges=5,
        first=(10020, 10119),
    ),
    "blocking_h2d_copy": Figures(
        (
            "10 copies to the device, 10.0 MiB in all, came from pinned memory, and the host waited 500 µs"
            " for them. The device was idle in those waits, or ran dry after them, for 1.20 ms. As recorded,"
            " the change alone saves only 500 µs: the run then waits for something else."
        ),
        {"copies": 10, "bytes": 10485760, "host_blocked_ms": 0.5, "cost_ms": 1.2, "cost_share": 0.12},
        saving=(500, 500, 500),  # 10 waits of 50 µs
        grade="B",
        ranges=5,
        first=(52, 167),
    ),
    "broadcast_then_reduced": Figures(
        (
            "Line 2 computes every pair at full length, and line 3 reduces each pair to one number. The peak of the"
            " process, 1,000 MiB, would be about 400 MiB."
        ),
        {
            "saved_bytes": 629145600,
            "saved_share": 0.6,
            "peak_bytes": 1048576000,
            "peak_without_bytes": 419430400,
            "low_bytes": 419430400,
        },
    ),
    "cancelled_results": Figures(
        (
            "Line 4 multiplies by exactly 1, so that a part of the sum cancels. 3 operators computed that part, most"
            " time at line 3, with 38 % of the operators’ time in the iterations looked at."
        ),
        {"cancelled_share": 0.375, "factor": 1, "operators": 3},
        # three of four iterations: what the last one made is still there
        saving=(8000 * 0.375 * 0.6, 8000 * 0.375, 10_000 * 0.375),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "clocks_held_down": Figures(
        (
            "NVML named application or locked clocks as the reason for lowered clocks in 100 % of 40 readings"
            " under load, on Test GPU. The SM clock was 1200 MHz then; 1500 MHz are possible."
        ),
        {
            "reason": "clocks_set",
            "held_share": 1.0,
            "readings_under_load": 40,
            "sm_clock_held_mhz": 1200.0,
            "sm_clock_possible_mhz": 1500,
        },
        saving=(0, 4000 * (1 - 1200 / 1500), 4000 * (1 - 1200 / 1500)),
        grade="C",
    ),
    "cold_start_dominates": Figures(
        (
            "1 step of 10 took 3.00 ms; half of the later ones took less than 100 µs. Totals and shares of"
            " this recording speak of the start."
        ),
        {"warm_up_steps": 1, "warm_up_ms": 3.0, "warm_up_share": 0.7692, "steps": 10, "median_step_ms": 0.1},
        ranges=1,
        first=(0, 3000),
    ),
    "conv_autotune_off": Figures(
        (
            "Convolutions take 40 % of the kernel time, with the same shapes in nearly every step, and"
            " `torch.backends.cudnn.benchmark` is off. Whether another algorithm is faster is not known until"
            " it is tried."
        ),
        {"convolution_ms": 2.0, "convolution_share": 0.4, "cudnn_benchmark": "off"},
        saving=(0, 2000 * 0.05, 2000 * 0.2),
        grade="C",
        ranges=5,
        first=(0, 400),
    ),
    "conv_bias_before_norm": Figures(
        (
            "5 convolutions add a bias just before a batch norm, which subtracts it again: 250 µs to add the"
            " biases and 250 µs to sum up their gradients."
        ),
        {"convolutions": 5, "bias_ms": 0.25, "bias_gradient_ms": 0.25, "bias_share": 0.1},
        saving=(500 * 0.5, 500, 500),
        grade="C",
        ranges=5,
        first=(900, 1000),
    ),
    "copies_within_device": Figures(
        (
            "10 copies from the device’s memory to itself, 10.0 MiB in all, took 1.00 ms; the device computed nothing"
            " in 1.00 ms of it. Most were issued by aten::clone (1.00 ms)."
        ),
        {
            "copies": 10,
            "bytes": 10485760,
            "copy_ms": 1.0,
            "exposed_ms": 1.0,
            "exposed_share": 0.1,
            "operators": "aten::clone (1.00 ms)",
        },
        saving=(200, 500, 1000),
        grade="C",
        ranges=5,
        first=(495, 595),
    ),
    "copy_round_trip": Figures(
        (
            "In 10 of 10 steps a tensor leaves the device and one of the same size comes back (10 times, 1.00"
            " MiB on average). From the begin of the one copy to the end of the other the device computed"
            " nothing for 1.00 ms, 800 µs of it copying."
        ),
        {"round_trips": 10, "bytes_each": 1048576, "copy_ms": 0.8, "cost_ms": 1.0, "cost_share": 0.1},
        saving=(0, 1000, 1000),  # 10 times from 500 to 600 µs
        grade="C",
        ranges=5,
        first=(500, 600),
    ),
    "costly_algorithm": Figures(
        (
            "Line 3 convolves directly (1 channel, 32,000 samples, 8,001 taps), 3 times in the close look. By its"
            " shapes the alternative is about 16.7× as fast, and saves 47 % of the operators’ time."
        ),
        {
            "operator_share": 0.4701,
            "operator": "aten::convolution",
            "shapes": "1 channel, 32,000 samples, 8,001 taps",
            "alternative_share": 0.0598,
            "calls": 3,
        },
        # of the operators' 8 ms; at best of all 10 ms
        saving=(3760.684 * 0.6, 3760.684, 4700.855),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "costly_call_per_item": Figures(
        "Line 3 runs for each item and takes 500 ms of the cell. Most of it is in `copy.deepcopy`.",
        {
            "work_ms": 500.0,
            "work_share": 0.5,
            "error_share": 0.0707,
            "operation": "copy.deepcopy",
            "loops": 2,
        },
        saving=(0, 500000, 500000),
        grade="C",
        ranges=5,
        first=(1, 50001),
    ),
    "cpu_build_or_cpu_tensors": Figures(
        (
            "Nothing ran on the device. aten::addmm (10×, 3.00 ms) and the like took 3.00 ms on the CPU, 30 %"
            " of the recorded time."
        ),
        {"heavy_operators": 10, "heavy_ms": 2.999, "heavy_share": 0.2999, "device": "Test GPU", "cuda_build": "12.8"},
    ),
    "cpu_preprocessing": Figures(
        (
            "In 4 pauses of at least 1 ms the device had nothing to do, 12.0 ms in all. Functions outside torch ran for"
            " 12.0 ms of it: skimage/transform.py(9): resize (12.0 ms)."
        ),
        {
            "pauses": 4,
            "pauses_ms": 12.012,
            "functions_ms": 12.0,
            "idle_share": 0.3,
            "functions": "skimage/transform.py(9): resize (12.0 ms)",
        },
        saving=(0, 11_988, 11_988),
        grade="B",
        ranges=4,
        first=(0, 3000),
    ),
    "data_parallel_module": Figures(
        (
            "3 calls of `DataParallel.forward` took 1.20 ms on the host, 40 % of the steps’ time; all devices"
            " were idle in 600 µs of it."
        ),
        {"calls": 3, "devices": 2, "forward_ms": 1.2, "forward_share": 0.4, "idle_ms": 0.6},
        saving=(0, 3 * 200, 3 * 400),
        grade="C",
        ranges=3,
        first=(0, 400),
    ),
    "debug_mode_on": Figures(
        (
            "While the steps ran, this was on: blocking launches (`CUDA_LAUNCH_BLOCKING=1`). It slows the run"
            " down by design. 92 % of 50 launches returned only after their kernel had ended: the host waited"
            " for 690 µs in them."
        ),
        {"modes": "blocking launches (CUDA_LAUNCH_BLOCKING=1)", "blocking_launches": 46, "host_blocked_ms": 0.69},
        saving=(0, 500, 500),  # the kernels take 10 of each 20 µs
        grade="C",
        ranges=5,
        first=(0, 15),
    ),
    "dense_embedding_gradients": Figures(
        (
            "Filling gradients of 100,000 × 64 numbers took 20.0 ms, and SGD 10.0 ms for updating such"
            " tables: 60 % of the steps’ time. Measured savings were usually higher than these operators alone explain."
        ),
        {
            "rows": 100000,
            "width": 64,
            "rows_used": 1000.0,
            "gradients": 5,
            "backward_ms": 20.0,
            "optimizer_ms": 10.0,
            "optimizer": "SGD",
            "avoidable_share": 0.7175,
        },
        saving=(
            30_000 - 5 * 400 - 4 * 200 - 10 * 100,
            1.25 * (30_000 - 5 * 120 - 2 * 200 - 3 * 100),
            1.5 * (30_000 - 5 * 60 - 1 * 200 - 1.5 * 100),
        ),  # a gradient costs, and the rows used several times as much
        grade="C",
        ranges=5,
        first=(1001, 5001),
    ),
    "derivative_in_full": Figures(
        (
            "In line 3, `residuals` has 2,000 outputs and 10 inputs, and its Jacobian takes 500 ms. It runs in reverse"
            " mode, with one pass for each output."
        ),
        {
            "work_ms": 500.0,
            "work_share": 0.5,
            "inputs": 10,
            "outputs": 2000,
            "passes": 2000,
            "passes_needed": 10,
        },
        # 300,000 of 2000 × 2000 numbers take as long as the calls; at best 10 of 2000 passes remain
        saving=(0.6 * 462_500, 462_500, 497_500),
        grade="C",
        ranges=5,
        first=(1, 50001),
    ),
    "device_errors": Figures(
        (
            "The driver counted 2 new uncorrected memory errors on Test GPU between the beginning and the end"
            " of the run."
        ),
        {"devices_lost": 0, "uncorrected_errors": 2},
    ),
    "device_shared": Figures(
        (
            "The driver listed 1 other process on Test GPU, both as the run began and as it ended, holding"
            " 6.00 GiB of its memory. What they compute, this run waits for."
        ),
        {"other_processes": 1, "other_processes_bytes": 6442450944, "memory_share": 0.375},
    ),
    "eager_attention": Figures(
        (
            "5 attentions are computed as product, softmax, product: 2.00 ms of 5.00 ms of kernels, 1.00 ms"
            " of it in the softmax and what scales or masks the scores. The largest scores, 2 × 64 × 64, are"
            " 16.0 KiB in memory each time."
        ),
        {
            "attentions": 5,
            "attention_ms": 2.0,
            "attention_share": 0.4,
            "products_ms": 1.0,
            "softmax_and_masks_ms": 1.0,
            "scores_bytes": 16384,
        },
        saving=(0.3 * 1000, 1000, 1000 + 1000 / 2),
        grade="C",
        ranges=5,
        first=(6, 406),
    ),
    "empty_cache_in_step": Figures(
        (
            "In 9 of 9 steady steps memory went back to the driver between operators (18 frees), and was"
            " fetched again with 18 allocations. The host spent 900 µs in these calls; the device was idle in"
            " 900 µs of it."
        ),
        {
            "steps_with": 9,
            "allocations_per_step": 2.0,
            "frees_per_step": 2.0,
            "host_ms": 0.9,
            "idle_ms": 0.9,
            "idle_share": 0.1,
        },
        saving=(900, 900, 900),  # 9 steps with 4 calls of 25 µs
        grade="B",
        ranges=5,
        first=(1000, 1025),
    ),
    "energy_idle": Figures(
        (
            "The device had nothing to do for 400 ms of 2.00 s. By 20 power readings, shared by time, that"
            " took 2.00 J a step; at the lowest power read, 2.00 J."
        ),
        {
            "energy_j_per_step": 10.0,
            "idle_j_per_step": 2.0,
            "idle_least_j_per_step": 2.0,
            "idle_energy_share": 0.2,
            "power_readings": 20,
        },
    ),
    "evaluation_share": Figures(
        ("10 evaluations, one after every 4 optimizer steps, take 300 ms; training takes 57 % of the cell."),
        {
            "evaluation_share": 0.4286,
            "error_share": 0.0837,
            "evaluation_ms": 300.0,
            "training_share": 0.5714,
            "optimizer_steps": 40,
            "evaluations": 10,
        },
    ),
    "explicit_synchronize": Figures(
        (
            "10 waits (1 a step) outside every operator took 8.96 ms, in cudaDeviceSynchronize (10×). Each"
            " empties the device’s queue, and the host loses its lead: 1.00 ms of idle time come from that."
        ),
        {"waits": 10, "waits_per_step": 1.0, "host_blocked_ms": 8.96, "idle_ms": 1.0, "idle_share": 0.1},
        saving=(
            1060,
            1060.106,
            1060.106,
        ),  # ten times the 94 µs without a kernel, 6 µs of launching and what else there was to wait for
        grade="B",
        ranges=5,
        first=(900, 1000),
    ),
    "exposed_collective": Figures(
        (
            "3 collective kernels, most of the time `ncclKernel_AllReduce_RING`: for 300 µs, 100 µs per"
            " step the device computes nothing alongside (at most 100 µs at a time). One rank alone does not show"
            " whether it transfers or waits for a slower rank."
        ),
        {
            "exposed_ms": 0.3,
            "exposed_share": 0.1,
            "longest_exposed_ms": 0.1,
            "collective_kernels": 3,
            "collective_ms": 0.6,
            "median_kernel_us": 200.0,
            "longest_kind": "ncclKernel_AllReduce_RING",
        },
        saving=(0, 300 / 2, 300),
        grade="C",
        ranges=3,
        first=(900, 1000),
    ),
    "exposed_h2d_copy": Figures(
        (
            "10 copies to the device, 10.0 MiB in all, took 1.00 ms from pinned memory without holding up the"
            " host. The device computed nothing in 1.00 ms of it."
        ),
        {"copies": 10, "bytes": 10485760, "copy_ms": 1.0, "exposed_ms": 1.0, "exposed_share": 0.1},
        saving=(10, 820, 820),
        grade="C",
        ranges=5,
        first=(8, 108),
    ),
}
