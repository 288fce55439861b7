"""Measuring a change against the original: interleaved blocks, restored state, a confidence sequence, a guard."""

from __future__ import annotations

from gpuprof.errors import ArmError, VerificationError
from gpuprof.rules.base.guard import Guard
from gpuprof.verification.guards import GuardResult, Status
from gpuprof.verification.measure import measure_cells, verify
from gpuprof.verification.timing.outcome import Outcome
from gpuprof.verification.verdict import ArmFacts, Verdict

__all__ = [
    "ArmError",
    "ArmFacts",
    "Guard",
    "GuardResult",
    "Outcome",
    "Status",
    "Verdict",
    "VerificationError",
    "measure_cells",
    "verify",
]
