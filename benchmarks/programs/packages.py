"""The small part of three packages that the programs use, as a folder of packages like those that pip installs."""

from __future__ import annotations

import inspect
from pathlib import Path

from benchmarks.observer import stand_ins
from benchmarks.programs import cart_pole, letters

_TORCHVISION = {
    "__init__": "from torchvision import datasets, transforms, utils\n",
    "datasets": "from torchvision.transforms import MNIST\n",
    "utils": "from torchvision.transforms import save_image\n",
}


def install(folder: Path) -> None:
    """Write torchvision, gymnasium and tiktoken into it."""
    parts = {("torchvision", name): text for name, text in _TORCHVISION.items()}
    parts["torchvision", "transforms"] = inspect.getsource(stand_ins)
    parts["gymnasium", "__init__"] = "from gymnasium.core import make\n"
    parts["gymnasium", "core"] = inspect.getsource(cart_pole)
    parts["tiktoken", "__init__"] = "from tiktoken.core import get_encoding\n"
    parts["tiktoken", "core"] = inspect.getsource(letters)
    for (package, name), text in parts.items():
        path = folder / package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
