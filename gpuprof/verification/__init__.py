"""Measuring a change against the original: interleaved blocks, restored state, a confidence sequence, a guard."""

from __future__ import annotations

from gpuprof.errors import VariantError, VerificationError
from gpuprof.rules.base.guard import Guard
from gpuprof.verification.guards import GuardResult, Status
from gpuprof.verification.measure import measure_cells, verify
from gpuprof.verification.measurement import ArmFacts, Measurement
from gpuprof.verification.timing.outcome import Outcome

__all__ = [
    "ArmFacts",
    "Guard",
    "GuardResult",
    "Measurement",
    "Outcome",
    "Status",
    "VariantError",
    "VerificationError",
    "measure_cells",
    "verify",
]
