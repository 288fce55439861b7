"""What an analysis gives, and the one place that computes each of them once.

An analysis is a file with one frozen dataclass that is a Result: a few named scalars and at most a few tables. Rules
and views ask `results.get(ThatResult)`; an analysis may ask for another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, TypeVar, cast

from gpuprof.model.trace import Trace


class Result(ABC):
    """Base of every analysis. Subclasses are frozen dataclasses."""

    @classmethod
    @abstractmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Compute it. Must not fail on any Trace: what is unknown is None or empty."""


R = TypeVar("R", bound=Result)


class Results:
    """Every Result of one Trace, computed on first use.

    `others`: those of the other ranks that were loaded with it; an analysis that compares ranks asks them.
    """

    def __init__(self, trace: Trace, others: Sequence[Trace] = ()):
        self.trace = trace
        self.others = tuple(Results(other) for other in others)
        self._known: dict[type[Result], Result] = {}

    def get(self, kind: type[R]) -> R:
        """The Result of that type."""
        if kind not in self._known:
            self._known[kind] = kind.of(self.trace, self)
        return cast(R, self._known[kind])
