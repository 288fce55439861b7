"""What each rule says of its case, s; figures follow from the times that the case is built of."""

from __future__ import annotations

from tests.rules.case_figures.figures import Figures

FIGURES = {
    "samples_made_again": Figures(
        (
            "Making samples takes 50 % of the cell, 500 µs each. 64 samples of later passes were compared with the"
            " first: all had the same content."
        ),
        {
            "making_ms": 200.0,
            "making_share": 0.5,
            "repeated_share": 0.9,
            "sample_us": 500.0,
            "compared_samples": 64,
            "samples_bytes": 160_000,
        },
        saving=(0.8 * 176_400, 176_400, 176_400),
        grade="C",
    ),
    "slow_transform": Figures(
        (
            "A sample of `Photos` takes 4.00 ms, 3.00 ms of it in `Resize` (mean of 100 timed samples). The"
            " steps wait 60 % of their time for data, and more workers cannot hide all of that."
        ),
        {
            "transform": "Resize",
            "transform_ms": 3.0,
            "transform_share": 0.75,
            "stall_share": 0.6,
            "dataset": "Photos",
            "timed_samples": 100,
            "sample_ms": 3.9,
            "collate_ms_per_batch": 1.0,
            "processors_used": 0.95,
            "waits_per_sample": 0.0,
            "workers": 0,
            "cores": 1,
        },
        saving=(0, 600_000 * 0.75, 600_000 * 0.75),
        grade="C",
    ),
    "small_batch": Figures(
        (
            "Kernels in 100 % of the kernel time have too few thread blocks to fill the device (0.40 waves on"
            " average), while memory peaks at 2.00 GiB of 16.0 GiB."
        ),
        {
            "small_kernel_share": 1.0,
            "waves": 0.4,
            "peak_allocated_bytes": 2147483648,
            "memory_bytes": 17179869184,
            "batch_size": 8,
        },
        saving=(0, 1000 * 0.6, 1000 * 0.6),
        grade="C",
    ),
    "small_h2d_copies": Figures(
        (
            "Each step makes 16 copies to the device of less than 64.0 KiB, 640 KiB over all steps. The host"
            " spent 3.20 ms on them (20.0 µs each), and the device was idle in 2.88 ms of it."
        ),
        {"copies": 160, "copies_per_step": 16.0, "bytes": 655360, "host_ms": 3.2, "idle_ms": 2.88, "idle_share": 0.288},
        saving=(10 * 300 / 2, 10 * 300 * 0.9, 10 * 300),  # 15 copies of 20 µs; stacking costs a tenth, at worst half
        grade="C",
        ranges=5,
        first=(12, 30),
    ),
    "stack_outdated": Figures(
        (
            "Test GPU has compute capability 12.0; torch 2.6.0 was compiled for 8.0, 8.6, 9.0. The driver"
            " compiles its kernels at their first use, from code for an older generation."
        ),
        {"compute_capability": "12.0", "compiled_for": "8.0, 8.6, 9.0", "torch": "2.6.0", "cuda_build": "none"},
    ),
    "subnormal_numbers": Figures(
        (
            "In the close look, `mul_` at line 3 reads tensors of which 40 % are subnormal: not zero, but closer to"
            " zero than 1.2e-38. This processor multiplied them 40 times slower than normal numbers. Where the same"
            " operators read none, they took 90 % less."
        ),
        {
            "subnormal_share": 0.5,
            "numbers_share": 0.4,
            "operator": "mul_",
            "times_slower": 40,
            "saved_share": 0.45,
        },
        # of the operators' 8 ms; at best of all 10 ms
        saving=(3600 * 0.6, 3600, 4500),
        grade="C",
        ranges=5,
        first=(0, 600),
    ),
    "sync_in_step": Figures(
        (
            "10 waits (0.909 a step) for the device took 8.44 ms, in aten::item (10×). Each empties the"
            " device’s queue, and the host loses its lead: 1.10 ms of idle time come from that."
        ),
        {
            "waits": 10,
            "waits_per_step": 0.91,
            "host_blocked_ms": 8.44,
            "idle_ms": 1.1,
            "idle_share": 0.1,
            "operators": "aten::item (10×)",
        },
        saving=(1260, 1260, 1260),
        grade="B",
        ranges=5,
        first=(890, 1000),
    ),
}
