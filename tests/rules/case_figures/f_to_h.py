"""What each rule says of its case, f to h; figures follow from the times that the case is built of."""

from __future__ import annotations

from tests.rules.case_figures.figures import Figures

FIGURES = {
    "figures_left_open": Figures(
        (
            "40 figures that the cell opened with pyplot are still open when it has ended: pyplot keeps them in memory,"
            " with their images and canvases, until they are closed. The memory of the process grew by 200 MiB in lines"
            " that draw."
        ),
        {"figures_left": 40, "figures_open": 40, "grown_bytes": 209715200},
    ),
    "float64_compute": Figures(
        ("Kernels on fp64 data take 400 µs of 1.00 ms, most of it in aten::mm."),
        {
            "float64_ms": 0.4,
            "float64_share": 0.4,
            "float64_products_ms": 0.3,
            "kernel_ms": 1.0,
            "operators": "aten::mm",
        },
        saving=(0, 400 / 2, 400 * 3 / 4),
        grade="C",
        ranges=1,
        first=(6, 406),
    ),
    "fp32_beside_half": Figures(
        (
            "Attention and products on fp32 operands take 500 µs of 1.00 ms of kernels; products in bf16, fp16 or fp8"
            " take 200 µs. An fp32 tensor on the way, such as a position table or a scale, widens whatever it is"
            " combined with; they have such an operand."
        ),
        {"fp32_ms": 0.5, "half_ms": 0.2, "kernel_ms": 1.0, "fp32_share": 0.5},
        saving=(500 * (1 - 1 / 1.5), 500 * (1 - 1 / 3), 500 * (1 - 1 / 6)),
        grade="C",
    ),
    "fp32_matmul": Figures(
        (
            "Matrix products and convolutions in fp32 take 600 µs of 1.00 ms of kernels, on NVIDIA"
            " A100-SXM4-80GB that has tensor cores for TF32, bf16 and fp16."
        ),
        {"fp32_ms": 0.6, "kernel_ms": 1.0, "fp32_share": 0.6},
        saving=(600 * (1 - 1 / 1.5), 600 * (1 - 1 / 3), 600 * (1 - 1 / 8)),
        grade="C",
    ),
    "fragmented_memory": Figures(
        (
            "Of 15.0 GiB reserved on a device of 16.0 GiB, 10.0 GiB were allocated and 5.00 GiB free when"
            " most was needed. Allocations were retried 3 times and failed 0 times."
        ),
        {
            "unused_reserved_bytes": 5368709120,
            "unused_share": 0.3333,
            "peak_allocated_bytes": 10737418240,
            "memory_bytes": 17179869184,
            "allocation_retries": 3,
            "out_of_memory_errors": 0,
        },
    ),
    "gc_pauses": Figures(
        ("10 collections, 10 of them full, took 1.00 ms. Nothing is launched meanwhile."),
        {"collections": 10, "full_collections": 10, "pauses_ms": 1.0, "pause_share": 0.1},
        saving=(1000 / 2, 1000, 10_000),  # caches that are cold afterwards take more than there is
        grade="C",
        ranges=5,
        first=(500, 600),
    ),
    "grad_in_inference": Figures(
        (
            "Autograd made about 4 nodes in each of 4 steps, and nothing went back through them: host time"
            " for each operator, and memory for the activations they keep."
        ),
        {"graph_nodes_per_step": 4, "steps": 4},
    ),
    "gradients_row_by_row": Figures(
        (
            "Line 3 calls 10 backward passes in one iteration of the look, each from one row of 10. The gradients of"
            " all other rows are zeros to the end: no row depends on another. These passes take 50 % of the operators’"
            " time seen; one of them can have all rows."
        ),
        {"passes": 10, "batch": 10, "pass_share": 0.5},
        # nine of ten passes
        saving=(8000 * 0.45 * 0.6, 8000 * 0.45, 10_000 * 0.45),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "gradients_unused": Figures(
        (
            "A backward pass fills 12 gradients, the optimizers have 2 weights. If the weights nearest to "
            "the loss are the ones that are trained, the gradients after the first 2"
            " take 1.00 ms, 20 % of the steps’ time."
        ),
        {"gradients_filled": 12.0, "weights_trained": 2, "beyond_ms": 1.0, "beyond_share": 0.2, "backward_passes": 5},
        saving=(0, 1000, 1000),
        grade="C",
        ranges=5,
        first=(440, 640),
    ),
    "gradients_zeroed_in_place": Figures(
        (
            "`zero_grad` zeroes the gradients in 200 operators over 10 calls, and backward adds to them in"
            " 200 operators: 800 µs on the host that gradients which are dropped do not take."
        ),
        {"zero_grad_calls": 10, "zeroing_operators": 200, "adding_operators": 200, "cost_ms": 0.8, "cost_share": 0.08},
        saving=(800 * 0.3, 800 * 0.8, 800),
        grade="C",
        ranges=5,
        first=(10, 50),
    ),
    "graph_breaks": Figures(
        ("Torch’s reasons: builtin: print (3×). It goes on at line 7 of the file of `f`."),
        {"breaks": 3, "graphs": 6, "pieces_per_step": 2.0, "first_reason": "builtin: print"},
    ),
    "growing_iterations": Figures(
        (
            "Iteration 29 takes 3.7 times as long as iteration 5 (660 µs, 180 µs): line 6 makes `ids` longer, and"
            " takes all of it. What grows: aten::linear."
        ),
        {
            "iterations": 30,
            "early_ms": 0.18,
            "late_ms": 0.66,
            "excess_ms": 6.5,
            "excess_share": 0.5556,
            "grows": "ids",
        },
        saving=(0, 6500, 6500),
        grade="C",
        ranges=1,
        first=(0, 11700),
    ),
    "hardly_read": Figures(
        (
            "Of the result of `mm` at line 3, 800 of 32,000 elements (2.5 %) are read. Line 4 takes them. The rest"
            " takes 49 % of the operators’ time in the close look."
        ),
        {
            "unread_share": 0.4875,
            "operator": "aten::mm",
            "operators": 3,
            "elements_made": 32000,
            "elements_read": 800,
            "looked_at_iterations": 3,
            "backward_share": 0.0,
        },
        # 39 of 40 positions of the recorded products
        saving=(4000 * 0.975 * 0.6, 4000 * 0.975, 10_000 * 0.4875),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "held_beyond_need": Figures(
        (
            "`features` holds 100 tensors over 4.00 GiB of storage, and 99.9 % of that lies behind small views: a part"
            " of a tensor keeps all of it. The peak of cuda:0, 6.00 GiB, would be about 2.00 GiB."
        ),
        {
            "needless_bytes": 4294967296,
            "held_bytes": 4296015872,
            "tensors": 100,
            "saved_bytes": 4294967296,
            "saved_share": 0.6667,
            "peak_bytes": 6442450944,
            "peak_without_bytes": 2147483648,
            "names": "features",
        },
    ),
    "host_cpu_bound": Figures(
        (
            "In 9 of 9 steady steps the device had nothing to do for at least 1 ms, 18.0 ms in all. The main"
            " thread spent 18.0 ms of it outside every operator and 0 ns inside. This process used 99 % of a"
            " core."
        ),
        {"gaps": 9, "gaps_ms": 18.0, "gap_share": 0.2, "python_ms": 18.0, "operators_ms": 0.0, "cpu_percent": 99.0},
        saving=(0, 18_000, 18_000),
        grade="C",
        ranges=5,
        first=(10000, 12000),
    ),
    "host_filled_then_copied": Figures(
        (
            "10 tensors (10.0 MiB in all, mostly from `torch.randn`) were filled on the host and copied to"
            " the device right after. The device computed nothing for 3.00 ms of that."
        ),
        {"tensors": 10, "bytes": 10485760, "made_by": "randn", "cost_ms": 3.0, "cost_share": 0.3},
        saving=(0, 3000, 3000),
        grade="C",
        ranges=5,
        first=(0, 300),
    ),
}
