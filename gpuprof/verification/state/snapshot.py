"""The state that two variants start from, again and again, and that the user gets back: the heap and the process."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterable
from typing import Any

import psutil

from gpuprof.errors import VerificationError
from gpuprof.units import size
from gpuprof.verification.state.object_graph import ObjectGraph
from gpuprof.verification.state.process_state import ProcessState
from gpuprof.verification.state.tensors import StorageState

# of what is free: the variants need room of their own
MOST_DEVICE_SHARE = 0.25
MOST_HOST_SHARE = 0.5
MOST_COLLECTING_SHARE = 0.05  # of the time


class Snapshot:
    """Taken when made. VerificationError where something cannot be put back or copies would not fit in memory."""

    def __init__(self, roots: Iterable[tuple[str, Any]], namespaces: Iterable[dict[str, Any]] = ()):
        self._process = ProcessState()
        self.heap = ObjectGraph(roots, namespaces)
        _fit(self.heap)
        for state in self.heap.large:
            state.keep()
        self._workers = [(loader, vars(loader).get("_iterator")) for loader in self.heap.loaders]
        self._figures, self._widgets = _figures(), set(_widgets())
        self._collected_at, self._collecting_s = 0.0, 0.0

    def restore(self) -> None:
        """For the next variant: all as it was, but for the live workers of DataLoaders, which the user's own keep."""
        self._put_back()
        for loader, _ in self._workers:
            vars(loader)["_iterator"] = None
        self._collect()

    def _collect(self) -> None:
        """No variant pays for another's garbage. A notebook's whole heap takes long to look through: seldom, then."""
        began = time.perf_counter()
        if began - self._collected_at < self._collecting_s / MOST_COLLECTING_SHARE:
            gc.collect(1)
            return
        gc.collect()
        self._collected_at = time.perf_counter()
        self._collecting_s = self._collected_at - began

    def finish(self) -> None:
        """For the user: all as it was."""
        self._put_back()
        for loader, iterator in self._workers:
            if "_iterator" in vars(loader) or iterator is not None:
                vars(loader)["_iterator"] = iterator

    def _put_back(self) -> None:
        try:
            self.heap.restore()
        finally:
            self._process.restore()
            for number in _figures() - self._figures:
                sys.modules["matplotlib.pyplot"].close(number)
            for identifier in _widgets().keys() - self._widgets:
                _widgets()[identifier].close()


def _fit(heap: ObjectGraph) -> None:
    """Decide where copies go."""
    on_device = [state for state in heap.large if isinstance(state, StorageState) and state.on_device]
    device_bytes = sum(state.bytes for state in on_device)
    host_bytes = sum(state.bytes for state in heap.large) - device_bytes
    if device_bytes <= MOST_DEVICE_SHARE * _free_device_bytes():
        for state in on_device:
            state.on_host = False
    else:
        host_bytes += device_bytes
    available = psutil.virtual_memory().available
    if host_bytes > MOST_HOST_SHARE * available:
        raise VerificationError(
            f"a copy of what the cell works on takes {size(host_bytes)}, and {size(available)} of memory are free; "
            "measure on less data, or two functions with gpuprof.verify(a, b)"
        )


def _free_device_bytes() -> int:
    import torch

    cuda: Any = torch.cuda
    if not cuda.is_initialized():
        return 0
    free, _ = cuda.mem_get_info()
    return int(free) + int(cuda.memory_reserved() - cuda.memory_allocated())


def _figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot is not None else set()


def _widgets() -> dict[str, Any]:
    """By their identifiers; a bar of tqdm.notebook is eleven."""
    module = sys.modules.get("ipywidgets.widgets.widget")
    return getattr(module, "_instances", {})
