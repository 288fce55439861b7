"""The modules as the JSON has them."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.modules.module_times import ModuleTime, ModuleTimes
from gpuprof.units import milliseconds

MOST_MODULES = 500


def modules_dict(results: Results) -> dict[str, Any] | None:
    """Parents before their parts, 500 at most; None where no module is known."""
    found = results.get(ModuleTimes)
    if found.source is None or not found.times:
        return None
    return {
        "source": found.source.value,
        "marked_share": found.marked_share,
        "paths": [_module(each) for each in found.times[:MOST_MODULES]],
    }


def _module(time: ModuleTime) -> dict[str, Any]:
    return {
        "path": list(time.path),
        "class": time.kind or None,
        "calls": time.calls,
        "ms": milliseconds(time.host_ns),
        "own_ms": milliseconds(time.own_host_ns),
        "backward_ms": milliseconds(time.backward_host_ns),
        "share": time.host_share,
        "device_ms": _ms(time.device_ns),
        "own_device_ms": _ms(time.own_device_ns),
        "backward_device_ms": _ms(time.backward_device_ns),
        "device_share": time.device_share,
        "grown_bytes": time.grown_bytes,
    }


def _ms(ns: int | None) -> float | None:
    return None if ns is None else milliseconds(ns)
