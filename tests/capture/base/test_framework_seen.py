from __future__ import annotations

import types
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from gpuprof.capture.base.framework_seen import driving_framework, maker_of_loader


def called_in(module: str, function: Any) -> Any:
    """What the function gives where a frame of that module calls it."""
    namespace: dict[str, Any] = {"__name__": module, "function": function}
    exec("def call():\n    return function()", namespace)
    return namespace["call"]()


@pytest.mark.parametrize(
    ("outer", "inner", "driving"),
    [
        ("transformers.trainer", "accelerate.optimizer", "transformers"),
        ("accelerate.optimizer", "torch.optim", "accelerate"),
        ("mine.transformers", "transformers_of_mine", None),
    ],
)
def test_the_outermost_one_drives(outer: str, inner: str, driving: str | None) -> None:
    assert called_in(outer, lambda: called_in(inner, driving_framework)) == driving


def test_a_loader_is_made_by_whose_functions_it_has() -> None:
    data = TensorDataset(torch.zeros(4, 2))

    def worker_init(worker_id: int, seed: int = 0) -> None: ...

    assert maker_of_loader(DataLoader(data)) is None and maker_of_loader(None) is None
    worker_init.__module__ = "timm.data.loader"
    assert maker_of_loader(DataLoader(data, worker_init_fn=partial(worker_init, seed=1))) == "timm"
    kind = types.new_class("Graphs", (DataLoader,), {}, lambda body: body.update(__module__="torch_geometric.loader"))
    assert maker_of_loader(kind(data)) == "torch_geometric"
    assert called_in("lightning.pytorch.loops", lambda: maker_of_loader(kind(data))) == "lightning"
