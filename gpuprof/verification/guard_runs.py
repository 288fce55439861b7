"""The runs that show whether a change computes the same: what the original looks like, it again, and the change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.rules.base.guard import Guard
from gpuprof.units import NS_PER_S
from gpuprof.verification.cells.hooks import Hooks
from gpuprof.verification.cells.variants import Variant
from gpuprof.verification.guards import Seen, skipped_work
from gpuprof.verification.record import GUARD_STEPS, Record
from gpuprof.verification.state.snapshot import Snapshot

_LOOK_SHARE = 1 / 20  # of the budget: how long the first run may take before it is ended


@dataclass
class GuardRuns:
    """Each run starts from the state of `snapshot`. `gradients`: those of the first step are compared too.

    `runs` run of one and the same number of steps are afforded within half of the budget.
    """

    original: Variant
    snapshot: Snapshot
    hooks: Hooks
    budget_s: float
    gradients: bool = False
    runs: int = 3

    def look(self) -> Seen:
        """The original, to see what its steps look like."""
        longest_ns = int(self.budget_s * _LOOK_SHARE * NS_PER_S)
        earlier = self.snapshot.heap.graph_nodes
        record = Record(longest_ns=longest_ns, gradients=self.gradients, earlier=earlier)
        return self._record(self.original, record)

    def twice(self, look: Seen) -> tuple[Seen, Seen]:
        """The original over the steps that are compared, and again: what differs there is noise."""
        first = look if self._limit(look) is None else self.over_same_steps(self.original, look)
        again = Record(stop_after=self._limit(look), counted=look.record.counted)
        return first, self._record(self.original, again)

    def over_same_steps(self, variant: Variant, look: Seen) -> Seen:
        """One of them over the steps that are compared."""
        counted = look.record.counted
        record = Record(stop_after=self._limit(look), counted=counted, gradients=self.gradients)
        return self._record(variant, record)

    def less_in_all(self, changed: Variant, look: Seen, guard: Guard) -> str | None:
        """Whether the change ends earlier or later than an original whose end was seen, after the steps compared."""
        made = look.record
        if guard is Guard.SEMANTIC or not made.whole or made.steps <= GUARD_STEPS:
            return None
        seen = self._record(changed, Record(stop_after=made.steps + 2, counted=made.counted))
        return skipped_work(guard, made, seen.record)

    def _limit(self, look: Seen) -> int | None:
        """How many steps are compared; None: the whole cell."""
        made = look.record
        return None if made.whole and made.steps <= GUARD_STEPS else self._steps(made)

    def _steps(self, made: Record) -> int:
        """As many as are compared; fewer where all runs of them would take more than half of the budget."""
        ends = made.ends_ns[made.counted]
        step_ns = float(np.median(np.diff(ends))) if len(ends) > 1 else 0.0
        affordable = int(self.budget_s * NS_PER_S / (2 * self.runs * step_ns)) if step_ns else GUARD_STEPS
        return min(made.steps, GUARD_STEPS, max(affordable, 2))

    def _record(self, variant: Variant, record: Record) -> Seen:
        self.snapshot.restore()
        record.begin()
        whole = variant.run(self.hooks, record)
        record.finish(whole=whole)
        return Seen.of(record)
