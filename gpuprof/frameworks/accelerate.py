"""Accelerate: the loop is the user's, and so are the loaders and the optimizer that `prepare` wraps."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework

FRAMEWORK = Framework(
    package="accelerate",
    title="Accelerate",
    words={1: {"fp32_matmul": Change('Set `Accelerator(mixed_precision="bf16")`.', "accelerate.Accelerator", ".+")}},
)
