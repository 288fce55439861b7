"""What a cell may set for the whole process: random numbers, torch's switches, garbage collection, environment."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Setting = tuple[Callable[[], Any], Callable[[Any], object]]


class ProcessState:
    """Everything of `_settings()` as it was when this was made; `restore` sets it again, any number of times."""

    def __init__(self) -> None:
        self._saved: list[tuple[Callable[[Any], object], Any]] = []
        for get, put in _settings():
            # torch refuses to read an old switch where the new one was used; the working directory may be deleted
            with contextlib.suppress(RuntimeError, OSError):
                self._saved.append((put, get()))

    def restore(self) -> None:
        """Set everything as it was."""
        for put, value in self._saved:
            put(value)


def _settings() -> list[Setting]:
    return [
        (random.getstate, random.setstate),
        (lambda: np.random.get_state(legacy=False), np.random.set_state),
        *_torch_settings(),
        (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
        (gc.get_threshold, lambda numbers: gc.set_threshold(*numbers)),
        (lambda: dict(os.environ), _set_environment),
        (os.getcwd, os.chdir),
        (lambda: list(sys.path), lambda paths: sys.path.__setitem__(slice(None), paths)),
        (lambda: list(warnings.filters), _set_warnings),
        (lambda: logging.root.manager.disable, logging.disable),
    ]


def _torch_settings() -> list[Setting]:
    import torch

    backends, cudnn, matmul = torch.backends, torch.backends.cudnn, torch.backends.cuda.matmul
    settings: list[Setting] = [
        (torch.get_rng_state, torch.set_rng_state),
        (torch.get_default_dtype, torch.set_default_dtype),
        (torch.get_num_threads, _set_threads),
        (torch.is_grad_enabled, torch.set_grad_enabled),
        (_determinism, lambda mode: torch.use_deterministic_algorithms(mode[0], warn_only=mode[1])),
        (_anomaly, lambda mode: torch.autograd.set_detect_anomaly(mode[0], mode[1])),
        (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
        (_flushes_denormals, torch.set_flush_denormal),
        (backends.cuda.flash_sdp_enabled, backends.cuda.enable_flash_sdp),
        (backends.cuda.mem_efficient_sdp_enabled, backends.cuda.enable_mem_efficient_sdp),
        (backends.cuda.math_sdp_enabled, backends.cuda.enable_math_sdp),
        *(_attribute(cudnn, name) for name in ("enabled", "benchmark", "deterministic", "allow_tf32")),
        *(_attribute(matmul, n) for n in _MATMUL),
    ]
    cuda: Any = torch.cuda
    if cuda.is_initialized():
        settings.append((cuda.get_rng_state_all, cuda.set_rng_state_all))
        settings.append((cuda.current_device, cuda.set_device))
    return settings


_MATMUL = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")


def _attribute(holder: Any, name: str) -> Setting:
    return lambda: getattr(holder, name), lambda value: setattr(holder, name, value)


def _set_threads(count: int) -> None:
    import torch

    if torch.get_num_threads() != count:
        torch.set_num_threads(count)


def _determinism() -> tuple[bool, bool]:
    import torch

    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _anomaly() -> tuple[bool, bool]:
    import torch

    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def _flushes_denormals() -> bool:
    """Of this thread's arithmetic: torch has no function that tells."""
    return bool(np.float32(1e-39) * np.float32(1) == 0)


def _set_environment(values: dict[str, str]) -> None:
    for name in [name for name in os.environ if name not in values]:
        del os.environ[name]
    for name, value in values.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _set_warnings(filters: list[Any]) -> None:
    if warnings.filters != filters:
        warnings.filters[:] = filters  # type: ignore[index]
        # the registries of warnings already shown are cleared by this
        getattr(warnings, "_filters_mutated", lambda: None)()
