"""Which frameworks are known, and the way to what is known of each."""

from __future__ import annotations

import functools
import importlib

from gpuprof.frameworks.framework import Framework

# the outer one first, where one is built on another
PACKAGES = (
    "transformers",
    "lightning",
    "pytorch_lightning",
    "fastai",
    "skorch",
    "ignite",
    "keras",
    "stable_baselines3",
    "torch_geometric",
    "timm",
    "diffusers",
    "accelerate",
)


@functools.cache
def framework(package: str) -> Framework | None:
    """What is known of the framework with that top-level module; None for any other module."""
    if package not in PACKAGES:
        return None
    found: Framework = importlib.import_module(f"gpuprof.frameworks.{package}").FRAMEWORK
    return found
