"""Notes which training frameworks are loaded, and their versions."""

from __future__ import annotations

import sys

from gpuprof.capture.base.signal import Signal
from gpuprof.frameworks.known import PACKAGES
from gpuprof.model.context import UsedFramework


class FrameworksSeen(Signal):
    """At the end of the cell, which may have loaded them itself."""

    field = "frameworks"

    def facts(self) -> tuple[UsedFramework, ...]:
        """Those in `sys.modules`; none is imported."""
        loaded = ((package, sys.modules.get(package)) for package in PACKAGES)
        return tuple(
            UsedFramework(package=package, version=_version(module)) for package, module in loaded if module is not None
        )


def _version(module: object) -> str:
    # of a module that loads its parts when they are asked for, it is in none of its own names
    version = getattr(module, "__version__", "")
    return version if isinstance(version, str) else ""
