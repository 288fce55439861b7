"""Libraries whose parts stand in a loop of the user's: PyTorch Geometric, timm, Diffusers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

import gpuprof
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.run import Run
from tests.frameworks.stopwatch import Stopwatch, above_low, finding, is_near, optimizer_is_exact, steps


def train(
    loader: Iterable[Any], loss_of: Callable[[Any], torch.Tensor], optimizer: torch.optim.Optimizer, epochs: int
) -> tuple[Run, int]:
    count = 0
    with gpuprof.profile() as run:
        for _ in range(epochs):
            for batch in loader:
                optimizer.zero_grad()
                loss_of(batch).backward()
                optimizer.step()
                count += 1
    return run, count


def is_right(run: Run, count: int, watch: Stopwatch) -> bool:
    near = is_near(run, watch, Phase.OPTIMIZER) and optimizer_is_exact(run, watch)
    return near and steps(run) == count == watch.calls and above_low(run) == []


def loader_makers(run: Run) -> set[str | None]:
    return {each.maker for each in run.trace.context.loaders}


def test_torch_geometric() -> None:
    data = pytest.importorskip("torch_geometric.data")
    loading = pytest.importorskip("torch_geometric.loader")
    layers = pytest.importorskip("torch_geometric.nn")

    def graph() -> Any:
        return data.Data(x=torch.randn(20, 16), edge_index=torch.randint(0, 20, (2, 60)), y=torch.randint(0, 4, (1,)))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.last = layers.GCNConv(16, 64), layers.GCNConv(64, 64), nn.Linear(64, 4)

        def forward(self, batch: Any) -> torch.Tensor:
            hidden = self.first(batch.x, batch.edge_index).relu()
            hidden = self.second(hidden, batch.edge_index).relu()
            result: torch.Tensor = self.last(layers.global_mean_pool(hidden, batch.batch))
            return result

    model, watch = Net(), Stopwatch()
    loader = loading.DataLoader([graph() for _ in range(512)], batch_size=16, shuffle=True)
    with watch.on(torch.optim.Adam, "step"):
        optimizer = torch.optim.Adam(model.parameters(), fused=True)
        loss_of = nn.CrossEntropyLoss()
        run, count = train(loader, lambda batch: loss_of(model(batch), batch.y), optimizer, 3)
    assert steps(run) == count == watch.calls == 96
    assert is_near(run, watch, Phase.OPTIMIZER)
    assert loader_makers(run) == {"torch_geometric"}


def test_timm() -> None:
    timm = pytest.importorskip("timm")
    making, optimizers = pytest.importorskip("timm.data"), pytest.importorskip("timm.optim")
    images = pytest.importorskip("PIL.Image")

    class Images(Dataset[Any]):
        transform: Any = None

        def __len__(self) -> int:
            return 64

        def __getitem__(self, index: int) -> Any:
            pixels = np.random.default_rng(index).integers(0, 255, (256, 256, 3), np.uint8)
            return self.transform(images.fromarray(pixels)), index % 10

    loader = making.create_loader(
        Images(), (3, 32, 32), 8, is_training=True, use_prefetcher=False, num_workers=0, persistent_workers=False
    )
    model, watch = timm.create_model("test_vit", num_classes=10, img_size=32), Stopwatch()
    with watch.on(torch.optim.Adam, "step"):
        optimizer = optimizers.create_optimizer_v2(model, opt="adam", lr=1e-3)
        loss_of = nn.CrossEntropyLoss()
        run, count = train(loader, lambda batch: loss_of(model(batch[0]), batch[1]), optimizer, 3)
    assert steps(run) == count == watch.calls == 24
    assert optimizer_is_exact(run, watch)
    assert loader_makers(run) == {"timm"}
    assert finding(run, "input_stall").evidence["stall_share"] > 0.1


def test_diffusers() -> None:
    diffusers = pytest.importorskip("diffusers")
    blocks = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    model = diffusers.UNet2DModel(
        sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16),
        norm_num_groups=4, attention_head_dim=4, **blocks,
    )  # fmt: skip
    noising, watch = diffusers.DDPMScheduler(100), Stopwatch()

    def loss_of(batch: Any) -> torch.Tensor:
        noise, times = torch.randn_like(batch[0]), torch.randint(0, 100, (len(batch[0]),))
        result: torch.Tensor = model(noising.add_noise(batch[0], noise, times), times, return_dict=False)[0]
        return nn.functional.mse_loss(result, noise)

    with watch.on(torch.optim.AdamW, "step"):
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        loader = DataLoader(TensorDataset(torch.randn(320, 1, 8, 8)), 8, shuffle=True)
        run, count = train(loader, loss_of, optimizer, 1)
    assert is_right(run, count, watch) and count == 40
