"""timm: functions that make loaders and optimizers for a loop of the user's."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, Subject

FRAMEWORK = Framework(
    package="timm",
    title="timm",
    words={
        1: {
            "input_stall": Change(
                "`create_loader(..., num_workers=\\g<workers>, persistent_workers=True)`",
                "timm.data.create_loader",
                r"`num_workers=(?P<workers>\d+), persistent_workers=True` for the DataLoader",
                Subject.LOADER,
            ),
        }
    },
)
