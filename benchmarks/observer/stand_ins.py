"""Data made on the spot, and the small part of torchvision that the programs use: it is not needed to run them."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from PIL import Image

_SIDE = 28
_CLASSES = 10


class MNIST(torch.utils.data.Dataset[Any]):
    """As many random pictures as were asked for; `sizes` says how many, for training and for testing."""

    sizes = (0, 0)

    def __init__(
        self,
        root: str,
        train: bool = True,
        download: bool = False,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        count = self.sizes[0 if train else 1]
        made = torch.Generator().manual_seed(int(train))
        self.data = torch.randint(0, 256, (count, _SIDE, _SIDE), dtype=torch.uint8, generator=made)
        self.targets = torch.randint(0, _CLASSES, (count,), generator=made)
        self.transform, self.target_transform = transform, target_transform

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        target = int(self.targets[index])
        picture: Any = Image.fromarray(self.data[index].numpy())
        if self.transform is not None:
            picture = self.transform(picture)
        return picture, target if self.target_transform is None else self.target_transform(target)


class Compose:
    def __init__(self, transforms: Sequence[Callable[[Any], Any]]):
        self.transforms = transforms

    def __call__(self, picture: Any) -> Any:
        for each in self.transforms:
            picture = each(picture)
        return picture


class Resize:
    def __init__(self, size: int):
        self.size = size

    def __call__(self, picture: Any) -> Any:
        return picture if min(picture.size) == self.size else picture.resize((self.size, self.size))


class ToTensor:
    def __call__(self, picture: Any) -> Any:
        pixels = torch.from_numpy(np.array(picture, copy=True)).view(picture.size[1], picture.size[0], -1)
        return pixels.permute((2, 0, 1)).contiguous().to(torch.get_default_dtype()).div(255)


class Normalize:
    def __init__(self, mean: Sequence[float], std: Sequence[float]):
        self.mean, self.std = mean, std

    def __call__(self, pixels: Any) -> Any:
        mean = torch.as_tensor(self.mean, dtype=pixels.dtype).view(-1, 1, 1)
        std = torch.as_tensor(self.std, dtype=pixels.dtype).view(-1, 1, 1)
        return pixels.clone().sub_(mean).div_(std)


def save_image(pictures: Any, path: str, nrow: int = 8, normalize: bool = False) -> None:
    """The pictures side by side, in a PNG file."""
    if normalize:
        pictures = (pictures - pictures.min()) / (pictures.max() - pictures.min() + 1e-5)
    rows = [torch.cat(list(row), dim=-1) for row in pictures.split(nrow) if len(row) == nrow]
    sheet = torch.cat(rows, dim=-2)[0].mul(255).clamp(0, 255).to(torch.uint8)
    Image.fromarray(sheet.numpy()).save(path)


def install_torchvision(images: tuple[int, int]) -> None:
    """Put these in place of torchvision, with so many pictures for training and for testing."""
    MNIST.sizes = images
    parts: dict[str, dict[str, Any]] = {
        "datasets": {"MNIST": MNIST},
        "transforms": {"Compose": Compose, "Resize": Resize, "ToTensor": ToTensor, "Normalize": Normalize},
        "utils": {"save_image": save_image},
    }
    whole = sys.modules["torchvision"] = ModuleType("torchvision")
    for name, contents in parts.items():
        part = sys.modules[f"torchvision.{name}"] = ModuleType(f"torchvision.{name}")
        vars(part).update(contents)
        setattr(whole, name, part)


def text(characters: int) -> str:
    """Random words of a few letters each."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(2_000)]
    written = ""
    while len(written) < characters:
        written += " ".join(draw.choices(words, k=8)).capitalize() + ".\n"
    return written[:characters]


def write_citations(folder: Path, papers: int, words: int = 400, classes: int = 7) -> None:
    """Random papers in the files of the Cora data set: which words each has, and which others it cites."""
    folder.mkdir(parents=True)
    draw = np.random.default_rng(1)
    has = draw.random((papers, words)) < 0.02
    has[:, 0] = True
    lines = [
        f"{paper}\t" + "\t".join(map(str, has[paper].astype(int))) + f"\tsubject{paper % classes}"
        for paper in range(papers)
    ]
    (folder / "cora.content").write_text("\n".join(lines) + "\n")
    pairs = draw.choice(papers * papers, size=papers * 2, replace=False)
    (folder / "cora.cites").write_text("".join(f"{pair // papers}\t{pair % papers}\n" for pair in pairs))
