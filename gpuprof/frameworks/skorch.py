"""skorch: arguments of loader and optimizer are the net's, with a prefix."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, Subject

_NET = "skorch.NeuralNet"

FRAMEWORK = Framework(
    package="skorch",
    title="skorch",
    evaluates=(("skorch/net.py", ("validation_step", "evaluation_step")),),
    words={
        1: {
            "input_stall": Change(
                "`iterator_train__num_workers=\\g<workers>, iterator_train__persistent_workers=True` for the net",
                _NET,
                r"`num_workers=(?P<workers>\d+), persistent_workers=True` for the DataLoader",
                Subject.LOADER,
            ),
            "unfused_optimizer": Change(
                "Give the net `optimizer__fused=True`.",
                _NET,
                r"Make it `\w+\(\.\.\., fused=True\)`\.",
                Subject.OPTIMIZER,
            ),
            "evaluation_share": Change("Evaluate on less data, or not at all: `train_split=None`.", _NET),
        }
    },
)
