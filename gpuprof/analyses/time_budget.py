"""Where every nanosecond of the run went: one partition that adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuprof.analyses.result import Result
from gpuprof.model.intervals import EMPTY, Intervals


@dataclass(frozen=True)
class BudgetEntry:
    """One category of the budget: `ns` of the span, `share` of it (0..1)."""

    category: str
    ns: int
    share: float


@dataclass(frozen=True, eq=False)
class TimeBudget(Result):
    """The span of the trace, partitioned by wall clock.

    With device activity (`device` is the first device's id): compute, exposed_copy, exposed_collective, memset, and
    the idle time by cause (see DeviceIdle). Without (`device` is None): the main host thread's operators, input_wait,
    host_other, outside_steps; `detail` then splits operators into forward_ns, backward_ns and optimizer_ns.

    `entries` name every category, those of 0 ns included, and add up to `total_ns` exactly; they are empty where the
    span is. `parts`: the unions behind them, disjoint.
    """

    device: int | None
    total_ns: int
    entries: tuple[BudgetEntry, ...]
    parts: Mapping[str, Intervals]
    detail: Mapping[str, int]

    def ns(self, category: str) -> int:
        """The time of a category in ns; 0 where this kind of budget has no such category."""
        return self.parts.get(category, EMPTY).total_ns

    def share(self, category: str) -> float:
        """The share of a category in the span, 0..1."""
        return self.ns(category) / self.total_ns if self.total_ns else 0.0
