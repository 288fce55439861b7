"""PyTorch-Ignite: the user makes everything, an Engine calls it."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework

FRAMEWORK = Framework(
    package="ignite",
    title="Ignite",
    words={
        0: {
            "evaluation_share": Change(
                "Evaluate less often: run the evaluator on `Events.EPOCH_COMPLETED(every=5)`.",
                "ignite.engine.Events.EPOCH_COMPLETED.__call__",
                r"Evaluate less often: every few epochs or steps, or only when the result is printed or decides "
                r"something\.",
            ),
        }
    },
)
