"""What each rule says of its case, t to z; figures follow from the times that the case is built of."""

from __future__ import annotations

from tests.rules.case_figures.figures import Figures

FIGURES = {
    "temporary_peak": Figures(
        (
            "While line 6 runs, inside it line 3, the process holds up to 1,000 MiB; at other times 400 MiB at most."
            " The peak of the process, 1,000 MiB, would be about 400 MiB."
        ),
        {
            "saved_bytes": 629145600,
            "saved_share": 0.6,
            "peak_bytes": 1048576000,
            "peak_without_bytes": 419430400,
            "low_bytes": 419430400,
            "turns": 5,
        },
    ),
    "tensor_by_element": Figures(
        (
            "125 numbers a step are written by Python one after the other, 625 accesses in all, each through"
            " slices of its own: 2.50 ms."
        ),
        {"accesses_per_step": 125.0, "writes": 625, "reads": 0, "access_ms": 2.495, "access_share": 0.499},
        saving=(5 * 125 * 3, 2495 * 0.95, 2495),
        grade="C",
        ranges=5,
        first=(100, 599),
    ),
    "tensor_grown_by_cat": Figures(
        (
            "20 times in a row a tensor, 1,280 × 10 in the end, was copied whole to make it longer. All such"
            " copies took 21.0 ms, the last of each 2.00 ms. No other operator takes it between two turns."
        ),
        {
            "cats": 20,
            "growths": 1,
            "turns_in_a_row": 20,
            "cat_ms": 21.0,
            "last_ms": 2.0,
            "cat_share": 0.6774,
            "dimension": 0,
        },
        saving=(21_000 - 3 * 2000, 21_000 - 2000, 21_000 - 2000),
        grade="C",
        ranges=5,
        first=(19950, 21550),
    ),
    "tensors_held_by_notebook": Figures(
        (
            "`old` (600 MiB), `Out[3]` (200 MiB), `big in f()` (100 MiB): together 5.5 % of the memory of"
            " cuda:0 (16.0 GiB)."
        ),
        {
            "held_bytes": 943718400,
            "held_share": 0.0549,
            "memory_bytes": 17179869184,
            "names": "old, Out[3], big in f()",
            "peak_allocated_bytes": 12884901888,
        },
    ),
    "thermal_throttle": Figures(
        (
            "NVML named heat as the reason for lowered clocks in 30 % of 40 readings under load, on the"
            " device at up to 88 °C. The SM clock was 1200 MHz then, 1500 MHz otherwise."
        ),
        {
            "throttled_share": 0.3,
            "readings_under_load": 40,
            "temperature_max_c": 88.0,
            "sm_clock_throttled_mhz": 1200.0,
            "sm_clock_otherwise_mhz": 1500.0,
        },
        saving=(0, 4000 * 0.3 * (1 - 1200 / 1500), 4000 * 0.3 * (1 - 1200 / 1500)),
        grade="C",
        ranges=1,
        first=(0, 1100),
    ),
    "unaligned_gemm_shape": Figures(
        (
            "Tensor-core products that read one or two elements at a time take 600 µs of 1.00 ms of kernels."
            " The costliest: `aten::mm` of 8192 × 768 with 768 × 50257 (600 µs)."
        ),
        {"unaligned_ms": 0.6, "unaligned_share": 0.6, "kernel_ms": 1.0, "sizes": "50257"},
        saving=(600 * (1 - 1 / 1.1), 600 * (1 - 1 / 1.5), 600 * (1 - 1 / 3)),
        grade="C",
        ranges=1,
        first=(6, 606),
    ),
    "uneven_device_memory": Figures(
        (
            "Rank 0 had up to 55.9 GiB allocated, 75 % of its device; the median of the other 2 ranks is 39.6"
            " GiB, the lowest 37.3 GiB. The fullest device sets how large the batch of every rank can be."
        ),
        {
            "rank": 0,
            "ranks": 3,
            "spread_share": 0.3333,
            "highest_peak_bytes": 60000000000,
            "median_peak_of_others_bytes": 42500000000,
            "lowest_peak_bytes": 40000000000,
            "highest_share_of_device": 0.75,
        },
    ),
    "unfused_optimizer": Figures(
        ("10 optimizer steps took 2.40 ms, with 120 operators in each, 10.0 for each of its 12 tensors."),
        {
            "optimizer_ms": 2.4,
            "optimizer_share": 0.24,
            "optimizer_steps": 10,
            "operators_per_step": 120.0,
            "host_ms": 2.4,
            "parameters": 12,
        },
        saving=(2400 * 0.6, 2400 * 0.75, 2400 * 0.9),
        grade="C",
        ranges=5,
        first=(500, 740),
    ),
    "unfused_pointwise": Figures(
        (
            "20 kernels in 5 chains take 2.00 ms; the longest one of each, about what a fused kernel would"
            " need, 500 µs. The costliest chain begins with pow, add, rsqrt, mul."
        ),
        {
            "chains": 5,
            "chain_kernels": 20,
            "chain_ms": 2.0,
            "chain_share": 0.4,
            "longest_kernels_ms": 0.5,
            "saved_share": 0.3,
            "operators": "pow, add, rsqrt, mul",
        },
        saving=(1500 * 0.3, 1500 * 0.8, 1500),
        grade="C",
        ranges=5,
        first=(6, 406),
    ),
    "unread_gradients": Figures(
        (
            "Gradients that the backward pass at line 4 computes for line 2 are zeroed, overwritten or freed before an"
            " optimizer reads them. That is 50 % of the operators’ time in the iterations looked at."
        ),
        {
            "unread_share": 0.5,
            "operator": "aten::mm",
            "operators": 3,
            "elements_made": 4096,
            "elements_read": 0,
            "looked_at_iterations": 3,
        },
        saving=(4000 * 0.6, 4000, 5000),
        grade="C",
        ranges=5,
        first=(600, 1000),
    ),
    "unread_results": Figures(
        (
            "The results of 3 operators there, most time in `sort`, are freed or overwritten before anything reads"
            " them. They take 50 % of the operators’ time in the iterations looked at."
        ),
        {
            "unread_share": 0.5,
            "operator": "aten::sort",
            "operators": 3,
            "elements_made": 4096,
            "elements_read": 0,
            "looked_at_iterations": 3,
        },
        saving=(4000 * 0.6, 4000, 5000),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "value_made_again": Figures(
        (
            "Line 2 in `trial` (mostly `features`) takes 400 ms, 40 % of the cell. `x` was computed at least 10 times,"
            " always with the same content (ndarray, 78.1 KiB)."
        ),
        {"work_ms": 400.0, "work_share": 0.4, "made": 10, "contents": 1, "value_bytes": 80_000},
        saving=(396_000 * 0.7, 396_000, 400_000),
        grade="C",
        ranges=5,
        first=(1, 40_001),
    ),
    "weights_bound_inference": Figures(
        (
            "10 products with 1 rows (median) read 320 MiB of weights in 600 µs, 559 GB/s: memory bandwidth,"
            " not arithmetic, sets the pace."
        ),
        {
            "products": 10,
            "rows": 1.0,
            "weights_bytes": 335544320,
            "weights_ms": 0.6,
            "weights_share": 0.6,
            "bandwidth_gb_per_s": 559.2,
        },
        saving=(600 * 0.2, 600 * 0.4, 600 * 0.7),
        grade="C",
        ranges=5,
        first=(0, 60),
    ),
    "whole_collection_per_item": Figures(
        (
            "Line 2 in `encode` runs for each item and takes 500 ms of the cell. `words` is a list of 4,000 items,"
            " the same one in all of 9 looks."
        ),
        {
            "work_ms": 500.0,
            "work_share": 0.5,
            "error_share": 0.0707,
            "operation": "words.index",
            "loops": 2,
            "object": "words",
            "object_kind": "builtins.list",
            "looks": 9,
            "length": 4000,
        },
        saving=(0, 500000, 500000),
        grade="C",
        ranges=5,
        first=(1, 50001),
    ),
    "widened_before_copy": Figures(
        (
            "In 10 of 10 steps the host turned uint8 into float32 and copied the result: 10.0 MiB, where 2.50"
            " MiB would do. The copies took 2.00 ms; 1.50 ms without compute would be saved."
        ),
        {
            "copies": 10,
            "bytes": 10485760,
            "bytes_needed": 2621440,
            "copy_ms": 2.0,
            "saved_ms": 1.5,
            "saved_share": 0.15,
        },
        saving=(1500 / 2, 1500, 1500),
        grade="C",
        ranges=5,
        first=(215, 415),
    ),
    "workers_oversubscribed": Figures(
        (
            "While it makes a batch a worker has 1.0 threads that compute or would, on average; 16 workers on"
            " 4 cores waited for a core 3.0 times as long as they computed. Meanwhile the main thread waited"
            " for a core 25 % of the steps’ time."
        ),
        {
            "workers": 16,
            "cores": 4,
            "cores_wanted": 16.0,
            "threads_per_worker": 1.0,
            "worker_core_wait_per_cpu": 3.0,
            "main_core_wait_share": 0.25,
            "worker_cores_used": 3.5,
        },
        saving=(0, 1_000_000 * 0.25, 1_000_000 * 0.25),
        grade="C",
    ),
    "workers_restarted": Figures(
        (
            "The cell went over a DataLoader with 2 workers 3 times, and started its workers each time."
            " Ending them, setting up and waiting longer for the first batch took 100 ms in the later 2"
            " passes, 50.0 ms each."
        ),
        {"passes": 3, "workers": 2, "restarts_ms": 100.0, "restart_share_of_cell": 0.1},
        saving=(100_000 / 2, 100_000, 100_000 * 1.5),
        grade="C",
        ranges=2,
        first=(300000, 361000),
    ),
}
