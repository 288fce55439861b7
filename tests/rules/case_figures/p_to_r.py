"""What each rule says of its case, p to r; figures follow from the times that the case is built of."""

from __future__ import annotations

from tests.rules.case_figures.figures import Figures

FIGURES = {
    "padding_waste": Figures(
        (
            "Of 10,000 positions in the batches looked at, 4,000 are real. 50 % of the positions lie beyond"
            " the longest sequence of their own batch: they are padded to a fixed length."
        ),
        {"positions": 10000, "tokens": 4000, "padding_share": 0.6, "beyond_longest_share": 0.5},
        saving=(9001 * 0.5 / 2, 9001 * (0.5 + 0.6) / 2, 9001 * (1 - 0.4**2)),
        grade="C",
    ),
    "pageable_h2d_copy": Figures(
        (
            "10 copies to the device, 3.81 MiB in all, went through pageable memory at 400 MB/s. The device"
            " computed nothing in 10.0 ms of them; the host stood in the copy, or the device ran dry after it,"
            " for 10.1 ms."
        ),
        {
            "copies": 10,
            "bytes": 4000000,
            "copy_ms": 10.0,
            "exposed_ms": 10.0,
            "host_blocked_ms": 10.09,
            "cost_share": 0.1009,
            "bandwidth_gb_per_s": 0.4,
        },
        saving=(10 * 6, 10 * (1006 - 400 / 12), 10 * (1006 - 400 / 12)),  # 400 kB at 12 GB/s; 6 µs until the kernel
        grade="C",
        ranges=5,
        first=(0, 1009),
    ),
    "pcie_link_degraded": Figures(
        (
            "In 100 % of 5 readings under load the link of Test GPU was below generation 4 × 16; typically"
            " generation 4 × 4 lanes: 7.88 GB/s instead of 31.5 GB/s. Copies without compute take 10 % of the"
            " steps’ time."
        ),
        {
            "link_generation": 4,
            "link_width": 4,
            "possible_generation": 4,
            "possible_width": 16,
            "below_share": 1.0,
            "exposed_copies_ms": 1.0,
        },
        saving=(0, 1000 * (1 - 4 / 16), 1000 * (1 - 4 / 16)),
        grade="C",
    ),
    "per_sample_fetch": Figures(
        (
            "Reading a sample of `Photos` takes 3.90 ms and waits 2.0 times in it (mean of 100 timed"
            " samples); a processor is used 10 % of the time. The steps wait 60 % of their time for data."
        ),
        {
            "stall_share": 0.6,
            "dataset": "Photos",
            "timed_samples": 100,
            "sample_ms": 3.9,
            "collate_ms_per_batch": 1.0,
            "processors_used": 0.1,
            "waits_per_sample": 2.0,
            "workers": 2,
            "cores": 3,
        },
        saving=(0, 600_000, 600_000),
        grade="C",
    ),
    "pieces_one_by_one": Figures(
        (
            "The operators of line 3 run 20 times in a row, in 3 places of the close look, on results of 64 elements,"
            " most time in `exp`. Each turn takes a piece of one tensor of shape [20, 64]. No turn reads what an"
            " earlier one made. They take 60 % of the operators’ time in the close look."
        ),
        {
            "turns_per_loop": 20.0,
            "loops": 3,
            "loop_operators": 60,
            "loop_share": 0.6,
            "backward_share": 0.0,
            "elements_each": 64,
            "operators": "aten::exp",
        },
        # all pieces at once take 31 % of what they take one by one
        saving=(0.69 * 4800 * 0.6, 0.69 * 4800, 0.69 * 6000),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "power_capped": Figures(
        (
            "NVML named the power limit of 250 W, which the board comes with 400 W for, as the reason for"
            " lowered clocks in 50 % of 40 readings under load, on Test GPU. The SM clock was 1200 MHz then,"
            " 1500 MHz otherwise."
        ),
        {
            "capped_share": 0.5,
            "readings_under_load": 40,
            "sm_clock_capped_mhz": 1200.0,
            "sm_clock_otherwise_mhz": 1500.0,
            "power_limit_w": 250.0,
            "power_limit_default_w": 400.0,
        },
        saving=(0, 4000 * 0.5 * (1 - 1200 / 1500), 4000 * 0.5 * (1 - 1200 / 1500)),
        grade="C",
    ),
    "product_order": Figures(
        (
            "Line 3 multiplies matrices of 1000×1000, 1000×1000, 1000×1 as `(a @ b) @ x`: 2.00 GFLOP (3 times in the"
            " looked-at iterations). `a @ (b @ x)` takes 4.00 MFLOP."
        ),
        {
            "product_chains": 3,
            "order_share": 0.4839,
            "matrices": "1000×1000, 1000×1000, 1000×1",
            "order": "(a @ b) @ x",
            "cheapest_order": "a @ (b @ x)",
            "flops_each": 2_002_000_000,
            "flops_needed": 4_000_000,
        },
        # of the operators' 8 ms; at best of all 10 ms
        saving=(3871.3 * 0.6, 3871.3, 4839.2),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "python_callback_per_item": Figures(
        (
            "In line 2, `pandas.Rolling.apply` calls a `lambda` repeatedly: 500 ms of the cell, 40 % of that"
            " outside of your function."
        ),
        {
            "work_ms": 500.0,
            "work_share": 0.5,
            "error_share": 0.0707,
            "library_share": 0.4,
            "operation": "pandas.Rolling.apply",
            "callback": "<lambda>",
            "calls_seen": 20,
        },
        saving=(0, 500000, 500000),
        grade="C",
        ranges=5,
        first=(1, 50001),
    ),
    "python_loop_over_batch": Figures(
        (
            "The operators aten::select, aten::mm, aten::relu run 16 times in a row, once a sample, in 5"
            " places of the run: 2.40 ms in all."
        ),
        {
            "loop_ms": 2.4,
            "loop_share": 0.48,
            "turns_per_loop": 16.0,
            "loops": 5,
            "operators_per_turn": 3,
            "operators": "aten::select, aten::mm, aten::relu",
        },
        saving=(2400 * 0.69, 2400 * 0.9, 2400 * 15 / 16),
        grade="C",
        ranges=5,
        first=(100, 580),
    ),
    "python_loop_over_slices": Figures(
        (
            "The operators aten::select, aten::mul, aten::sum, aten::add run 16 times in a row, once for each"
            " index of dimension 1 of a tensor of 8×16×32, in 5 places of the run: 3.19 ms in all. No turn"
            " needs another."
        ),
        {
            "loop_ms": 3.195,
            "loop_share": 0.639,
            "turns_per_loop": 16.0,
            "loops": 5,
            "dimension": 1,
            "shape": "8×16×32",
            "operators_per_turn": 4,
            "operators": "aten::select, aten::mul, aten::sum, aten::add",
        },
        saving=(
            3195 - 5 * 16 * 28,
            3195 - 5 * 16 * 2 * 4,
            3195 * 15 / 16,
        ),  # operators of 28 µs a turn, 8 of them beyond 5 each
        grade="C",
        ranges=5,
        first=(100, 739),
    ),
    "python_loop_over_weights": Figures(
        (
            "The operators aten::mul, aten::add_ run 12 times in a row in 4 of 4 steady steps, after or"
            " before forward, backward and optimizer, which train 12 weights: 960 µs in all."
        ),
        {
            "loop_ms": 0.96,
            "loop_share": 0.24,
            "turns_per_loop": 12.0,
            "weights": 12.0,
            "operators": "aten::mul, aten::add_",
        },
        saving=(0, 960 * 0.85, 960 * 0.95),
        grade="C",
        ranges=4,
        first=(1600, 1840),
    ),
    "rank_straggler": Figures(
        (
            "Rank 1 came last at 6 of 6 collectives after the first step (100 % of the waiting there is for it). Every"
            " rank that waits for it waits at least 2.00 ms per step (median of 6 steps). Compared with the median"
            " of the other ranks, it spent more per step: 2.00 ms waiting for data."
        ),
        {
            "rank": 1,
            "ranks": 3,
            "late_ms_per_round": 2.0,
            "late_share": 0.2,
            "late_steps_share": 1.0,
            "rounds": 6,
            "last_at_collectives": 6,
            "collectives": 6,
            "waiting_share": 1.0,
            "more_ms_per_round": 2.0,
        },
        saving=(0, 7 * 2000, 7 * 2000),
        grade="C",
    ),
    "recompiles_in_steady_state": Figures(
        (
            "3 of 8 steps after the first two compiled again, 3 times in all, for 2.40 ms. Something that the"
            " graph was compiled for, most often a shape, changes from step to step."
        ),
        {"steps_with": 3, "compiles": 3, "compile_ms": 2.4, "compile_share": 0.3, "most_versions_of_a_graph": 0},
        saving=(2400 / 2, 2400, 2400 * 10_000 / (10_000 - (2000 - 800))),
        grade="C",
        ranges=3,
        first=(3100, 3900),
    ),
    "repeated_backward": Figures(
        (
            "20 backward passes ran nodes of the graph that an earlier pass had run, and added to the same gradients:"
            " such a node ran 3 times. The later times took 2.00 ms."
        ),
        {"passes_that_repeat": 20, "runs_of_a_node": 3, "again_ms": 2.0, "again_share": 0.2},
        saving=(1400, 2000, 2000),
        grade="C",
        ranges=5,
        first=(350, 450),
    ),
    "repeated_work": Figures(
        (
            "Line 3 (2 operators, most time in `linalg_inv_ex`) computes the same in each iteration, from equal inputs:"
            " 50 % of the operators’ time."
        ),
        {
            "repeated_operators": 2,
            "operators_seen": 4,
            "repeated_share": 0.5,
            "operators": "aten::linalg_inv_ex",
            "result_bytes": 16384,
        },
        # the recorded inverses; at best their part of all recorded time
        saving=(4000 * 0.6, 4000, 5000),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "round_trips": Figures(
        (
            "Line 3 converts 16.0 KiB from float32 to float64 and back (3 times in the looked-at iterations):"
            " 20 % of the operators’ time."
        ),
        {
            "round_trips": 3,
            "conversion_share": 0.2,
            "bytes_each": 16384,
            "conversions": "from float32 to float64 and back",
        },
        saving=(1600 * 0.6, 1600, 2000),
        grade="C",
        ranges=5,
        first=(400, 680),
    ),
    "rows_computed_again": Figures(
        (
            "Line 2 takes rows of a tensor with 100 rows, 5 times in the close look. Operators at line 3 compute"
            " each row for itself, without gradients, from weights and constants that do not change. 500 rows were"
            " computed there, so 80 % of this work is done again."
        ),
        {
            "source_rows": 100,
            "taken_rows": 500,
            "passes": 5.0,
            "operator_share": 0.4,
            "operators": 5,
            "result_bytes": 20_000,
        },
        saving=(8000 * 0.4 * 0.6, 8000 * 0.4, 10_000 * 0.4),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "rows_without_effect": Figures(
        (
            "Line 3 computes 100 rows, and the loss at line 4 ignores the targets of 90 of them. Their gradients are"
            " zeros. The forward and backward passes of these rows take 45 % of the operators’ time in the close look."
        ),
        {
            "idle_share": 0.9,
            "operator_share": 0.45,
            "forward_share": 0.5,
            "rows": 100,
            "rows_kept": 10,
            "operators": 15,
        },
        saving=(8000 * 0.45 * 0.6, 8000 * 0.45, 10_000 * 0.45),
        grade="C",
        ranges=1,
        first=(0, 10_000),
    ),
}
