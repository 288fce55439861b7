"""What a Kineto file says beside its events: devices, rank, versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpuprof.model.device import Device

_PIP_TORCH = re.compile(r"^torch\s*==\s*(\S+)")


def devices_of(fields: Mapping[str, Any]) -> tuple[Device, ...]:
    """The entries of `deviceProperties`; nothing where they are not as Kineto writes them."""
    entries = fields.get("deviceProperties")
    if not isinstance(entries, list):
        return ()
    return tuple(_device(entry, order) for order, entry in enumerate(entries) if isinstance(entry, dict))


def _device(entry: Mapping[str, Any], order: int) -> Device:
    major, minor = _whole(entry.get("computeMajor")), _whole(entry.get("computeMinor"))
    id_ = _whole(entry.get("id"))
    return Device(
        id=order if id_ is None else id_,
        name=_text(entry.get("name")),
        uuid=_text(entry.get("uuid")),
        memory_bytes=_whole(entry.get("totalGlobalMem")),
        compute_capability=None if major is None or minor is None else (major, minor),
        multiprocessors=_whole(entry.get("numSms")),
        max_threads_per_multiprocessor=_whole(entry.get("maxThreadsPerMultiprocessor")),
    )


def world_of(fields: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """`world_size` and `pg_count` of `distributedInfo`; None where the file has them not."""
    info = fields.get("distributedInfo")
    return (_whole(info.get("world_size")), _whole(info.get("pg_count"))) if isinstance(info, dict) else (None, None)


def rank_of(fields: Mapping[str, Any]) -> int | None:
    """`distributedInfo.rank`; None where the file has none."""
    info = fields.get("distributedInfo")
    return _whole(info.get("rank")) if isinstance(info, dict) else None


def torch_of(fields: Mapping[str, Any]) -> str | None:
    """The version of torch, where the file says it: a field of its own, or torch's line in a `pip freeze`."""
    for key in ("torch_version", "pytorch_version", "PyTorch version"):
        if isinstance(fields.get(key), str):
            return str(fields[key])
    return _pip_torch(fields.get("metadata"), 4)


def _pip_torch(value: Any, depth: int) -> str | None:
    if isinstance(value, str):
        found = _PIP_TORCH.match(value.strip())
        return found[1] if found else None
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found_in = (_pip_torch(item, depth - 1) for item in inner) if depth else ()
    return next((version for version in found_in if version), None)


def platform_of(fields: Mapping[str, Any], call_names: list[str]) -> str | None:
    """`rocm` or `cuda`: by the calls that were made, else by what the file says of itself; None if nothing shows."""
    if any(name.startswith("hip") for name in call_names):
        return "rocm"
    if any(name.startswith(("cuda", "cu")) for name in call_names):
        return "cuda"
    if any(key in fields for key in ("hip_runtime_version", "roctracer_version", "rocprofiler_version")):
        return "rocm"
    return "cuda" if "cuda_runtime_version" in fields or "cupti_version" in fields else None


def _whole(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
