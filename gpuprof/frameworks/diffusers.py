"""Diffusers: models for a loop of the user's."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework

FRAMEWORK = Framework(
    package="diffusers",
    title="Diffusers",
    words={
        0: {
            "activations_dominate_peak": Change(
                "Call `model.enable_gradient_checkpointing()`.", "diffusers.ModelMixin.enable_gradient_checkpointing"
            ),
        }
    },
)
