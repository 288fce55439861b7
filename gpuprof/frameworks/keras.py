"""Keras on torch: an optimizer of its own, and a loader for each pass."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, OwnOptimizer

FRAMEWORK = Framework(
    package="keras",
    title="Keras",
    evaluates=(("keras/src/backend/torch/trainer.py", ("test_step", "evaluate")),),
    optimizers=(
        OwnOptimizer(
            "keras.src.optimizers.base_optimizer", "BaseOptimizer", "apply", "_trainable_variables", "_variables"
        ),
    ),
    words={
        3: {
            "evaluation_share": Change(
                "Evaluate less often: `fit(..., validation_freq=5)`.",
                "keras.Model.fit",
                r"Evaluate less often: every few epochs or steps, or only when the result is printed or decides "
                r"something\.",
            ),
        }
    },
)
