"""What each rule says of its case, i to o; figures follow from the times that the case is built of."""

from __future__ import annotations

from tests.rules.case_figures.figures import Figures

FIGURES = {
    "idle_peer_devices": Figures(
        ("Device 0 computes for 100 % of the step; the driver saw no kernel and no process on device 1 (B)."),
        {"visible_devices": 2, "idle_devices": 1, "compute_share": 1.0, "readings": 20},
    ),
    "input_stall": Figures(
        (
            "10 batches made on the main thread itself (num_workers=0) took 300 ms of waiting; the device"
            " was idle in 300 ms of it. The median wait is 30.0 ms; the work between two waits takes 70.0 ms."
        ),
        {
            "stall_share": 0.3,
            "batches": 10,
            "wait_ms": 300.0,
            "device_idle_in_wait_ms": 300.0,
            "wait_median_ms": 30.0,
            "wait_p95_ms": 30.0,
            "work_between_waits_ms": 70.0,
            "workers": 0,
            "workers_needed": 1,
            "cores": 4,
        },
        saving=(300_000 / 3, 300_000, 300_000),
        grade="C",
        ranges=5,
        first=(0, 30000),
    ),
    "last_result_read": Figures(
        (
            "Line 11 (`accuracy`) takes 500 ms, 50 % of the cell. `score` gets a value in each iteration of the loop in"
            " line 9, and nothing reads it before the next iteration gives another one."
        ),
        {"work_ms": 500.0, "work_share": 0.5, "seen": 10},
        saving=(450_000 * 0.7, 450_000, 500_000),
        grade="C",
        ranges=5,
        first=(1, 50_001),
    ),
    "launch_bound": Figures(
        (
            "The device is busy for 12 % of the steps’ time. Half of its 200 kernels take under 6.00 µs; half of"
            " the launches come later than 50.0 µs after the one before. It waits for the host and its launches for "
            "8.80 ms, of which 8.80 ms in 201 gaps of at most 1.00 ms."
        ),
        {
            "device_busy_share": 0.12,
            "kernels": 200,
            "median_kernel_us": 6.0,
            "launch_interval_us": 50.0,
            "launch_overhead_us": 5.0,
            "queue_depth": 0.0,
            "waits_ms": 8.8,
            "gaps": 201,
            "gaps_ms": 8.8,
            "gaps_share": 0.88,
        },
        saving=(2985, 8554, 8554),
        grade="B",
        ranges=5,
        first=(11, 55),
    ),
    "logits_dominate_peak": Figures(
        (
            "One such tensor (8,192 rows × 100,000 classes) takes 3.05 GiB of a peak of 10.0 GiB, on a device"
            " of 16.0 GiB. Its log-probabilities and its gradient take as much again each."
        ),
        {
            "logits_bytes": 3276800000,
            "logits_share": 0.3052,
            "rows": 8192,
            "classes": 100000,
            "peak_allocated_bytes": 10737418240,
            "memory_bytes": 17179869184,
        },
        ranges=1,
        first=(10, 30),
    ),
    "loop_on_host": Figures(
        (
            "20 iterations, in 1 place of the run, take 3.00 ms, 150 µs each. They wait for the device 20 times, in"
            " aten::item, and launch 20 kernels and 20 copies; the device is busy for 3.3 % of that time."
        ),
        {
            "iterations": 20,
            "iterations_per_loop": 20.0,
            "loops": 1,
            "loop_ms": 3.0,
            "loop_share": 0.3,
            "waits": 20,
            "kernels": 20,
            "copies": 20,
            "device_busy_share": 0.0333,
            "operators": "aten::select, aten::mul, aten::item",
        },
        saving=(1483.5, 2827.54, 2837.33),
        grade="C",
        ranges=1,
        first=(7000, 10000),
    ),
    "losses_summed": Figures(
        (
            "At line 5 the losses of 4 iterations are added up, and one backward pass at line 6 goes through all of"
            " their graphs. Until then each keeps its activations, 120 MiB at most. No iteration reads a result of"
            " another one. The peak of the process, 1,000 MiB, would be about 640 MiB."
        ),
        {
            "losses": 4,
            "kept_bytes": 503316480,
            "largest_bytes": 125829120,
            "saved_bytes": 377487360,
            "saved_share": 0.36,
            "peak_bytes": 1048576000,
            "peak_without_bytes": 671088640,
        },
    ),
    "masked_results": Figures(
        (
            "In 4 of 5 iterations that were looked at, all 16 flags of the mask at line 4 were already decided, and"
            " the loop never resets them. What it computes after that is thrown away: 60 % of the operators’ time in"
            " such an iteration, most at line 3. How many of the other iterations are like that is not known."
        ),
        {
            "masked_share": 0.36,
            "looked_at_runs": 5,
            "empty_runs": 4,
            "mask_elements": 16,
            "operators": 10,
        },
        # one look with 4 of 5: (1 + 0.8) / (2 + 1) of all iterations, and 1.3 standard deviations to both sides
        saving=(8000 * 0.6 * 0.6 * (0.6 - 1.3 * 0.06**0.5), 8000 * 0.6 * 0.6, 8000 * 0.6),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "memory_grows_per_step": Figures(
        (
            "Over 8 levels after warm-up (allocated bytes after optimizer steps of the whole cell) it grew by"
            " 70.0 MiB; at this rate it is full in 614 steps."
        ),
        {
            "growth_per_step_bytes": 10485760.0,
            "grown_bytes": 73400320,
            "levels": 8,
            "rising_share": 1.0,
            "free_bytes": 6442450944,
            "steps_until_full": 614,
            "kept_in": "losses",
        },
        ranges=1,
        first=(3, 10),
    ),
    "memory_kept_by_hooks_or_graphs": Figures(
        (
            "The memory of cuda:0 grew by 5.00 GiB in this cell; 80 % of it is in `outputs` (100 graphs). The peak of"
            " cuda:0, 6.00 GiB, would be about 2.00 GiB. There is room for 250 more."
        ),
        {
            "kept_bytes": 4294967296,
            "grown_bytes": 5368709120,
            "explained_share": 0.8,
            "saved_bytes": 4294967296,
            "saved_share": 0.6667,
            "peak_bytes": 6442450944,
            "peak_without_bytes": 2147483648,
            "tensors": 100,
            "names": "outputs",
            "iterations_until_full": 250,
        },
    ),
    "memory_near_limit": Figures(
        ("At most 14.2 GiB allocated and 15.2 GiB reserved of 16.0 GiB."),
        {
            "peak_reserved_bytes": 16320875724,
            "peak_allocated_bytes": 15247133900,
            "memory_bytes": 17179869184,
            "allocation_retries": 0,
            "out_of_memory_errors": 0,
        },
    ),
    "memory_unused": Figures(
        ("The optimizer’s kernels take 600 µs, whatever the batch size; memory peaks at 7.00 GiB of 16.0 GiB."),
        {
            "optimizer_ms": 0.6,
            "optimizer_share": 0.2,
            "peak_allocated_bytes": 7516192768,
            "memory_bytes": 17179869184,
            "batches_that_fit": 2,
            "batch_size": 8,
        },
        saving=(0, 600 / 2, 600 / 2),
        grade="C",
        ranges=3,
        first=(800, 1000),
    ),
    "model_exceeds_device": Figures(
        (
            "Parameters 3.25 GiB, gradients 3.25 GiB, optimizer state 6.50 GiB and buffers 0 B make 13.0 GiB"
            " of 16.0 GiB, before any activation."
        ),
        {
            "kept_bytes": 13958643712,
            "kept_share": 0.8125,
            "parameter_bytes": 3489660928,
            "gradient_bytes": 3489660928,
            "state_bytes": 6979321856,
            "memory_bytes": 17179869184,
            "visible_devices": 1,
        },
    ),
    "mostly_zeros": Figures(
        (
            "`adj` of 1000×1000 at line 3 has 5,000 elements of 1,000,000 that are not zero (0.5 %), and stays the same"
            " in all looked-at iterations. Leaving out the zeros saves 45 % of the operators’ time in the close look."
        ),
        {
            "product_share": 0.4526,
            "zeros_share": 0.995,
            "matrix": "1000×1000",
            "elements_not_zero": 5000,
            "pattern": "none",
            "products": 3,
            "matrices": 1,
        },
        # of the operators' 8 ms; at best of all 10 ms
        saving=(3621.123 * 0.6, 3621.123, 4526.404),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "nchw_convolution": Figures(
        ("3 kernels do nothing but change the layout between NCHW and NHWC: 300 µs, beside 700 µs of convolutions."),
        {"layout_kernels": 3, "layout_ms": 0.3, "layout_share": 0.3, "convolution_ms": 0.7},
        saving=(300 * 0.3, 300 * 0.8, 300 - 12),  # at best the convolution begins after its launch at 12 µs
        grade="C",
        ranges=2,
        first=(6, 206),
    ),
    "optimizer_state_dominates": Figures(
        (
            "AdamW keeps 6.00 GiB, beside 3.00 GiB of parameters and 3.00 GiB of gradients; the peak is 12.5"
            " GiB of the device’s 16.0 GiB."
        ),
        {
            "state_bytes": 6442450944,
            "state_share": 0.48,
            "parameter_bytes": 3221225472,
            "gradient_bytes": 3221225472,
            "peak_allocated_bytes": 13421772800,
            "memory_bytes": 17179869184,
            "optimizer": "AdamW",
        },
    ),
}
