"""The machine and torch's flags, read without initialising a device that the user has not."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from typing import Any

from gpuprof._version import __version__
from gpuprof.capture.process.core_times import core_limit
from gpuprof.model.context import Environment
from gpuprof.model.device import Device

_SYNC_DEBUG = {0: "default", 1: "warn", 2: "error"}


def read_environment(driver: str | None = None) -> Environment:
    """Now. `driver` is the device driver's version where the sampler knows it."""
    import psutil
    import torch

    return Environment(
        python=platform.python_version(),
        torch=str(torch.__version__),
        gpuprof=__version__,
        system=platform.platform(),
        front_end=front_end(),
        cuda_build=torch.version.cuda,
        hip_build=torch.version.hip,
        driver=driver,
        devices=_devices(),
        processor=_processor(),
        cores_allowed=_cores_allowed(),
        cores_limit=core_limit(),
        cores_total=os.cpu_count(),
        host_memory_bytes=psutil.virtual_memory().total,
        allocator_config=_allocator_config(),
        architectures=_architectures(),
        **read_flags(),
    )


def read_flags() -> dict[str, Any]:
    """The torch flags that change speed, by their field of Environment."""
    import torch

    return {
        "torch_threads": torch.get_num_threads(),
        "matmul_precision": _try(torch.get_float32_matmul_precision),
        "tf32_matmul": _tf32(torch.backends.cuda.matmul, torch.backends.cuda.matmul),
        "tf32_cudnn": _tf32(torch.backends.cudnn, getattr(torch.backends.cudnn, "conv", None)),
        "cudnn_benchmark": _try(lambda: bool(torch.backends.cudnn.benchmark)),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "anomaly_mode": torch.is_anomaly_enabled(),
        "launch_blocking": os.environ.get("CUDA_LAUNCH_BLOCKING", "0").strip() not in ("", "0"),
        "sync_debug_mode": _sync_debug_mode(),
    }


def front_end() -> str | None:
    """`ipykernel 7.4.0`, `IPython 9.18.0` or `python`; what stands in front of a kernel cannot be told from in it."""
    if "IPython" not in sys.modules:
        return "python"
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return "python"
    if "google.colab" in sys.modules:
        return "Colab"
    package = "ipykernel" if type(shell).__name__ == "ZMQInteractiveShell" else "IPython"
    return f"{package} {getattr(sys.modules.get(package), '__version__', '')}".strip()


def host_start() -> dict[str, Any]:
    """The host as the run begins: memory in bytes, load as processes waiting to run over the last minute."""
    import psutil

    memory = psutil.virtual_memory()
    return {
        "resident_bytes": psutil.Process().memory_info().rss,
        "available_bytes": memory.available,
        "swap_used_bytes": _try(lambda: psutil.swap_memory().used),
        "load_1min": _try(lambda: os.getloadavg()[0]),
        "processes": _try(lambda: len(psutil.pids())),
    }


def _cuda() -> Any:
    import torch

    return torch.cuda


def _devices() -> tuple[Device, ...]:
    cuda = _cuda()
    if not cuda.is_initialized():
        return ()
    try:
        return tuple(_device(index) for index in range(cuda.device_count()))
    except RuntimeError:  # a device that reported an error answers nothing any more
        return ()


def _device(index: int) -> Device:
    properties = _cuda().get_device_properties(index)
    uuid = getattr(properties, "uuid", None)
    return Device(
        id=index,
        name=properties.name,
        uuid=f"GPU-{uuid}" if uuid is not None else None,
        memory_bytes=properties.total_memory,
        compute_capability=(properties.major, properties.minor),
        multiprocessors=properties.multi_processor_count,
        max_threads_per_multiprocessor=getattr(properties, "max_threads_per_multi_processor", None),
    )


def _tf32(legacy: Any, current: Any) -> bool | None:
    """Whether TF32 is allowed. Once the new flag (torch 2.9) was set the old one cannot be read: the new one counts."""
    try:
        return bool(legacy.allow_tf32)
    except RuntimeError:
        precision = _try(lambda: current.fp32_precision)
        return None if precision is None else bool(precision == "tf32")


def _sync_debug_mode() -> str | None:
    cuda = _cuda()
    if not cuda.is_initialized():  # asking would initialise it
        return None
    mode = _try(cuda.get_sync_debug_mode)
    return None if mode is None else _SYNC_DEBUG.get(mode, str(mode))


def _allocator_config() -> str | None:
    names = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _architectures() -> tuple[str, ...] | None:
    cuda = _cuda()
    if not cuda.is_initialized():
        return None
    listed = _try(cuda.get_arch_list)
    return None if not listed else tuple(map(str, listed))


def _cores_allowed() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _processor() -> str | None:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def _try(read: Callable[[], Any]) -> Any:
    """None where a flag does not exist in this build, or may not be read (mixed old and new TF32 settings)."""
    try:
        return read()
    except (AttributeError, RuntimeError, OSError):
        return None
