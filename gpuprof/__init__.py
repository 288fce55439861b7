"""gpuprof: a Jupyter-first profiler for PyTorch on GPUs.

In a notebook: `%load_ext gpuprof`, then `%%gpuprofile` above a slow cell.
In a script: `with gpuprof.profile() as run:`.
For a trace from elsewhere: `gpuprof.load("trace.json.gz")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuprof._version import __version__
from gpuprof.errors import GpuprofError

if TYPE_CHECKING:
    from pathlib import Path

    from gpuprof.profiling import SavedRun, history, last, profile
    from gpuprof.report.answer import Answer
    from gpuprof.report.verdict import Verdict
    from gpuprof.rules.base.finding import Abstention, Finding, Saving
    from gpuprof.run import Run
    from gpuprof.verification import Measurement, verify

__all__ = [
    "Abstention",
    "Answer",
    "Finding",
    "GpuprofError",
    "Measurement",
    "Run",
    "SavedRun",
    "Saving",
    "Verdict",
    "__version__",
    "history",
    "last",
    "load",
    "profile",
    "verify",
]

_LAZY = {
    "Abstention": "gpuprof.rules.base.finding",
    "Answer": "gpuprof.report.answer",
    "Finding": "gpuprof.rules.base.finding",
    "Measurement": "gpuprof.verification",
    "Run": "gpuprof.run",
    "SavedRun": "gpuprof.profiling",
    "Saving": "gpuprof.rules.base.finding",
    "Verdict": "gpuprof.report.verdict",
    "history": "gpuprof.profiling",
    "last": "gpuprof.profiling",
    "profile": "gpuprof.profiling",
    "verify": "gpuprof.verification",
}


def load(path: Path | str) -> Run:
    """Read a Kineto trace, a memory snapshot, a Recording folder or a folder of ranks.

    TraceError or RecordingError where it cannot be read.
    """
    from gpuprof.run import Run

    return Run.load(path)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext gpuprof`."""
    from gpuprof.magics import load

    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext gpuprof`."""
    from gpuprof.magics import unload

    unload(ipython)


if not TYPE_CHECKING:  # a type checker reads the imports above, and shall object to any other name

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'gpuprof' has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
