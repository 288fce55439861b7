"""What an analysis gives, and the one place that computes each of them once.

An analysis is a file with one frozen dataclass that is a Result: a few named scalars and at most a few tables. Rules
and views ask `results.get(ThatResult)`; an analysis may ask for another one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, TypeVar, cast

from gpuprof.model.context import RunContext
from gpuprof.model.device import Device

# Rules see these two through Results only: the columns that a Result holds.
from gpuprof.model.table import Array as Array
from gpuprof.model.table import Table as Table
from gpuprof.model.trace import Source, Trace


class Result(ABC):
    """Base of every analysis. Subclasses are frozen dataclasses."""

    @classmethod
    @abstractmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Compute it. Must not fail on any Trace: what is unknown is None or empty."""


R = TypeVar("R", bound=Result)


class Results:
    """Every Result of one Trace, computed on first use, and what is known of the recording itself.

    Rules read the facts of the recording here (`context`, `source`, `devices`, the span) and everything else from
    Results; `trace` is for analyses, the what-if graph and views.

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

    @property
    def context(self) -> RunContext:
        """What only the live run knew: the cell, the environment, loaders, optimizers, …"""
        return self.trace.context

    @property
    def source(self) -> Source:
        """Where the recording comes from and how far it can be trusted."""
        return self.trace.source

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices that the recording describes."""
        return self.trace.devices

    def device(self, device_id: int) -> Device:
        """The device of that id; one of unknown properties where the recording describes none."""
        return self.trace.device(device_id)

    @property
    def span_start_ns(self) -> int:
        """Where the recorded span begins, on the trace's clock."""
        return self.trace.span_start_ns

    @property
    def span_end_ns(self) -> int:
        """Where the recorded span ends, on the trace's clock."""
        return self.trace.span_end_ns

    @property
    def span_ns(self) -> int:
        """Length of the recorded span in ns."""
        return self.trace.span_ns
