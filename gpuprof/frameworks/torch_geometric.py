"""PyTorch Geometric: a DataLoader of its own, which hands torch's arguments on."""

from __future__ import annotations

from gpuprof.frameworks.framework import Change, Framework, Subject

FRAMEWORK = Framework(
    package="torch_geometric",
    title="PyTorch Geometric",
    words={
        2: {
            "input_stall": Change(
                "`num_workers=\\g<workers>, persistent_workers=True` for `torch_geometric.loader.DataLoader`",
                "torch_geometric.loader.DataLoader torch.utils.data.DataLoader",
                r"`num_workers=(?P<workers>\d+), persistent_workers=True` for the DataLoader",
                Subject.LOADER,
            ),
        }
    },
)
