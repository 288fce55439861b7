"""All checks, in order."""

from __future__ import annotations

from gpuprof.doctor import front_end, installation, nvml, torch_profiler
from gpuprof.doctor.check import Check


def examine() -> tuple[Check, ...]:
    """Run every check. Takes a few seconds: torch is imported and a small profile is taken."""
    probes = (installation.checks, torch_profiler.checks, nvml.checks, front_end.checks)
    return tuple(check for probe in probes for check in probe())
