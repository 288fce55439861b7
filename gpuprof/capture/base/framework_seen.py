"""Which training framework made an object, or drives the code that runs."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

from gpuprof.frameworks.known import PACKAGES

_MOST_FRAMES = 200
# what a maker leaves on a loader
_OF_LOADER = ("collate_fn", "worker_init_fn", "sampler", "batch_sampler", "dataset")


def driving_framework() -> str | None:
    """The outermost framework with a frame on the stack of the calling thread."""
    frame: FrameType | None = sys._getframe(1)
    found = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        found = _package(frame.f_globals.get("__name__")) or found
        frame = frame.f_back
    return found


def maker_of_loader(loader: Any | None) -> str | None:
    """The framework that drives the code, else the one whose class it is, or whose functions it was given."""
    driving = driving_framework()
    if driving is not None or loader is None:
        return driving
    parts = (getattr(loader, name, None) for name in _OF_LOADER)
    makers = (_package(_module(each)) for each in (loader, *parts) if each is not None)
    return next((each for each in makers if each is not None), None)


def _module(value: Any) -> object:
    """Of a function, or of an object's class."""
    value = value.func if isinstance(value, functools.partial) else value
    return getattr(value if callable(value) and hasattr(value, "__qualname__") else type(value), "__module__", None)


def _package(module: object) -> str | None:
    package = module.partition(".")[0] if isinstance(module, str) else None
    return package if package in PACKAGES else None
