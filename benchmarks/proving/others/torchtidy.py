"""TorchTidy: the anti-patterns that torch itself finds in a profile with stacks and shapes.

It is run as torch ships it (`torch.profiler._pattern_matcher`), with the patterns that its own report asks for.

    python -m benchmarks.proving.others.torchtidy NAME --variant bad --size mini --device cpu -o FILE
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.proving.fresh import write_json
from benchmarks.proving.others.advice import LOADING, Advice
from benchmarks.proving.pair import Pair, named_pairs
from benchmarks.proving.play import globals_of, notebook

# the patterns of torch's `report_all_anti_patterns`, and our labels that each is right about
PATTERNS = {
    "ExtraCUDACopyPattern": ("host_filled_then_copied",),
    "FP32MatMulPattern": ("fp32_matmul",),
    "OptimizerSingleTensorPattern": ("unfused_optimizer",),
    "SynchronizedDataLoaderPattern": LOADING,
    "GradNotSetToNonePattern": ("gradients_zeroed_in_place",),
    "Conv2dBiasFollowedByBatchNorm2dPattern": ("conv_bias_before_norm",),
    "MatMulDimInFP16Pattern": ("unaligned_gemm_shape",),
}


def advise(pair: Pair, variant: str, size: str, device: str) -> list[Advice]:
    """What TorchTidy reports for one variant, played in this process."""
    import torch
    from torch.profiler import ProfilerActivity, _pattern_matcher, profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    with notebook() as cells:
        cells.namespace.update(globals_of(pair, size, device))
        cells.run(pair.setup)
        options: dict[str, Any] = {"with_stack": True, "record_shapes": True, "profile_memory": True}
        with profile(activities=activities, **options) as profiled:
            cells.run(pair.variants[variant].source)
            if device == "cuda":
                torch.cuda.synchronize()
        return [
            Advice(name, covers)
            for name, covers in PATTERNS.items()
            if getattr(_pattern_matcher, name)(profiled).matched_events()
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description="what TorchTidy reports for a variant of a pair")
    parser.add_argument("name")
    for option in ("variant", "size", "device"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    (pair,) = named_pairs((chosen.name,))
    found = advise(pair, chosen.variant, chosen.size, chosen.device)
    write_json(chosen.output, {"advice": [each.as_dict() for each in found]})


if __name__ == "__main__":
    main()
