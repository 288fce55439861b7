"""What a case's `fires()` must give."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuprof.rules.base.finding import Severity


@dataclass(frozen=True)
class Expected:
    """`evidence` and `saving_share` are compared within 1 %; evidence that is not named may be anything. `basis` and
    `change` are parts of the saving's and the advice's words."""

    severity: Severity
    title: str
    evidence: dict[str, float | int | str] = field(default_factory=dict)
    lines: tuple[int, ...] = ()
    saving_share: float | None = None
    basis: str = ""
    change: str = ""
