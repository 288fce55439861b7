"""torch's profiler, started and stopped by the cheapest route that works from torch 2.4 on.

Never `events()` or `key_averages()` of the profiler (40 to 90 µs an event): the C++ result is saved once, to a file.
"""

from __future__ import annotations

import inspect
import json
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler.other_profilers import OURS
from gpuprof.capture.profiler.stderr_capture import Heard, stderr_captured

_TAKEN = "the kernel recording is lost: another profiler was started and stopped in this cell"
_NVML_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"


class KinetoRecording:
    """One recording by torch's profiler, from `start` to `stop`, on the thread that starts it.

    `with_device` says whether device activity was asked for; without `device` it never is. `messages` is what Kineto
    wrote to standard error, `problems` what went wrong without losing everything, each one sentence. `start_ns` and
    `end_ns` are Unix time.
    """

    def __init__(self, options: CaptureOptions, *, device: bool = True):
        self._options = options
        self._wants_device = device
        self._profiler: Any = None
        self._results: Any = None
        self._heard = Heard()
        self.problems: list[str] = []
        self.with_device = False
        self.saved_at: Path | None = None
        self.start_ns = 0
        self.end_ns = 0
        self.start_cost_ns = 0
        self.stop_cost_ns = 0

    @property
    def messages(self) -> list[str]:
        """Kineto's own messages so far."""
        return self._heard.messages

    @property
    def running(self) -> bool:
        """Whether it has started and not stopped."""
        return self._profiler is not None and self._results is None and not self.end_ns

    @property
    def results(self) -> Any:
        """torch's `_ProfilerResult`, None where there is none."""
        return self._results

    def start(self) -> None:
        """Begin. RuntimeError, from torch, where its profiler cannot start."""
        began = time.perf_counter_ns()
        with stderr_captured(self._heard), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            profiler = self._make()
            setattr(profiler, OURS, True)
            profiler._prepare_trace()
            profiler._start_trace()
            _add_metadata(self._options)
        self._profiler = profiler
        self.start_ns = time.time_ns()
        self.start_cost_ns += time.perf_counter_ns() - began

    def stop(self) -> None:
        """End; does nothing a second time. Never raises: what failed stands in `problems`."""
        if not self.running:
            return
        began = time.perf_counter_ns()
        self.end_ns = time.time_ns()
        with stderr_captured(self._heard):
            self._finish_device_work()
            self._results = self._disable()
        self._profiler = None
        self.stop_cost_ns += time.perf_counter_ns() - began

    def carry(self, earlier: KinetoRecording) -> None:
        """Take over the problems and costs of the recording that this one replaces."""
        self.problems.extend(earlier.problems)
        self.messages.extend(earlier.messages)
        self.start_cost_ns += earlier.start_cost_ns
        self.stop_cost_ns += earlier.stop_cost_ns

    def save(self, path: Path) -> None:
        """Write Kineto's JSON to `path`; torch does that once, `saved_at` says where. OSError where it could not."""
        if self._results is None:
            raise OSError("there is no recording to save")
        with stderr_captured(self._heard):
            try:
                self._results.save(str(path))
            except RuntimeError as error:
                raise OSError(f"torch could not write the trace: {_first_line(error)}") from error
        if not path.exists() or path.stat().st_size == 0:
            raise OSError(f"{path}: torch wrote no trace there")
        self.saved_at = path

    def release(self) -> None:
        """Let go of the results: 1.5 kB an event, and cycles would hold them until the next garbage collection."""
        self._results = None

    def _make(self) -> Any:
        from torch.autograd.profiler import profile

        self.with_device = self._wants_device and device_available()
        wanted = {
            "use_kineto": True,
            "use_device": "cuda" if self.with_device else None,
            "record_shapes": self._options.shapes,
            "profile_memory": self._options.memory,
            "with_stack": self._options.stacks,
            "experimental_config": _experimental_config(self._options),
        }
        known = inspect.signature(profile.__init__).parameters
        return profile(**{name: value for name, value in wanted.items() if name in known})

    def _finish_device_work(self) -> None:
        cuda = _cuda()
        if not (self.with_device and cuda.is_initialized()):
            return
        try:
            cuda.synchronize()
        except RuntimeError as error:
            self.problems.append(
                f"the device reported an error when the recording ended ({_first_line(error)}); "
                "what was recorded until then is kept, device activity may be missing"
            )

    def _disable(self) -> Any:
        """The results, None where another profiler took them: asking those to be saved would crash the process.

        Not by torch's `profile.__exit__`: it initialises CUDA for a cell that never used it, leaves the profiler on
        where the device reports an error, and up to torch 2.4 builds every event in Python.
        """
        if not _autograd()._profiler_enabled():
            self.problems.append(_TAKEN)
            return None
        try:
            results = _autograd()._disable_profiler()
        except RuntimeError as error:
            self.problems.append(f"torch's profiler did not stop cleanly ({_first_line(error)})")
            return None
        finally:
            _autograd().profiler._run_on_profiler_stop()
        if not results.trace_start_ns():
            self.problems.append(_TAKEN)
            return None
        if results.trace_start_ns() > self.start_ns:
            self.problems.append(
                "another profiler was started in this cell and took over: the kernel recording only begins there"
            )
        return results


def _add_metadata(options: CaptureOptions) -> None:
    """The keys that torch.profiler.profile adds at the top of its trace; call while recording."""
    from torch import distributed

    add = _autograd()._add_metadata_json
    flags = {"profile_memory": options.memory, "with_stack": options.stacks, "record_shapes": options.shapes}
    for name, is_on in flags.items():
        if is_on:
            add(name, "1")
    if distributed.is_available() and distributed.is_initialized():
        group = {
            "backend": distributed.get_backend(),
            "rank": distributed.get_rank(),
            "world_size": distributed.get_world_size(),
        }
        add("distributedInfo", json.dumps(group))


def device_available() -> bool:
    """Whether torch can use a CUDA or ROCm device, asked without initialising it where torch offers that."""
    cuda = _cuda()
    if cuda.is_initialized():
        return True
    with _environment(_NVML_CHECK, "1"):
        return bool(cuda.is_available())


def _autograd() -> Any:
    import torch

    return torch.autograd


def _cuda() -> Any:
    import torch

    return torch.cuda


def _experimental_config(options: CaptureOptions) -> Any:
    """With what this torch knows of it (pybind classes have no signature, only its text)."""
    from torch._C._profiler import _ExperimentalConfig

    known = _ExperimentalConfig.__init__.__doc__ or ""
    # trace_only leaves out Python's copy of the events: a fifth of the time to end, most of the memory
    wanted: dict[str, Any] = {"enable_cuda_sync_events": True, "trace_only": not options.stacks}
    return _ExperimentalConfig(**{name: value for name, value in wanted.items() if f"{name}:" in known})


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
