"""One capture at a time in a process, on its main thread, and none in a forked child.

Two profilers at once cost the outer one its events (torch 2.13), wedge the process (2.4) or, on two threads, crash it.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from gpuprof.errors import ProfilerBusyError

_lock = threading.Lock()
_owner: object | None = None
_forked_while_owned = False


def claim(owner: object) -> None:
    """Make `owner` the only capture of this process.

    ProfilerBusyError, with nothing touched, off the main thread, while another capture runs, or while torch's
    profiler is active on this thread.
    """
    global _owner
    if threading.current_thread() is not threading.main_thread():
        raise ProfilerBusyError(
            "profiling can only start on the main thread: torch's profiler crashes the process when two threads use "
            "it; call it from the main thread"
        )
    autograd = _autograd()
    with _lock:
        if _owner is not None:
            raise ProfilerBusyError(
                "gpuprof is already profiling in this process; nothing was started; end the outer profile first"
            )
        if autograd._profiler_enabled():
            raise ProfilerBusyError(
                "another torch profiler is active in this process (torch.profiler, a Trainer's or Lightning's "
                "profiler, emit_nvtx); starting a second one would lose its events; end it first"
            )
        _owner = owner


def release(owner: object) -> None:
    """Give the process free again; nothing happens where `owner` does not hold it."""
    global _owner
    with _lock:
        if _owner is owner:
            _owner = None


def forked() -> bool:
    """Whether this process was forked from one that was being profiled."""
    return _forked_while_owned


def _autograd() -> Any:
    import torch

    return torch.autograd


def _after_fork_in_child() -> None:
    global _lock, _owner, _forked_while_owned
    _lock = threading.Lock()
    if _owner is None:
        return
    _owner, _forked_while_owned = None, True
    # the child inherits an enabled profiler that nobody will ever read: a DataLoader worker would fill its memory
    _autograd()._enable_record_function(False)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork_in_child)
