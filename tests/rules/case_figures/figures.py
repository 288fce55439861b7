"""All that a rule says of its case in figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """`saving`: at worst, as a rule and at best, in µs. `ranges`: how many, the `first` of them in µs."""

    explanation: str
    evidence: dict[str, float | int | str]
    saving: tuple[float, float, float] | None = None
    grade: str | None = None
    ranges: int = 0
    first: tuple[float, float] | None = None
