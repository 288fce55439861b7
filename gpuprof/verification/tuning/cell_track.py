"""The track on which the variants of one cell run: each is checked against the original, warmed up, timed in blocks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from gpuprof.errors import VariantError, VerificationError
from gpuprof.rules.base.guard import Guard
from gpuprof.units import NS_PER_S, duration
from gpuprof.verification.cells.hooks import Hooks
from gpuprof.verification.cells.variants import CellVariant
from gpuprof.verification.guard_runs import GuardRuns
from gpuprof.verification.guards import GuardResult, Seen, Status, Tolerances, judge
from gpuprof.verification.state.snapshot import Snapshot
from gpuprof.verification.timing.blocks import BlockPlan, run_block
from gpuprof.verification.timing.confidence import FEWEST_PAIRS
from gpuprof.verification.tuning.search import ALONE_SHARE, UNCHANGED, Entry
from gpuprof.verification.tuning.setting import Candidates

_FEWEST_WARM, _MOST_WARM = 2, 5
_SETTLED_SHARE = 0.05
# one setting with its warm-up in four turns, and eight turns of the proof
_FEWEST_BLOCKS = _MOST_WARM + 3 * (4 + FEWEST_PAIRS)
# a block with all that comes before it: of the budget, and in blocks of the unchanged cell
_SLOWEST_TURN_SHARE, _SLOWEST_BLOCKS = 1 / 24, 3


class CellTrack:
    """A Track of a cell and its Candidates, in one namespace, with `hooks` installed; `plain` makes Python of a cell.

    VariantError where the unchanged cell raises, VerificationError where it cannot be measured or an entry would act
    on the world.
    """

    def __init__(
        self,
        candidates: Candidates,
        namespace: dict[str, Any],
        plain: Callable[[str], str],
        snapshot: Snapshot,
        hooks: Hooks,
        budget_s: float,
        on_progress: Callable[[str], None],
    ):
        self._began = time.perf_counter()
        self._candidates, self._namespace, self._plain = candidates, namespace, plain
        self._snapshot, self._hooks, self._budget_s = snapshot, hooks, budget_s
        self._on_progress = on_progress
        original = CellVariant("the cell", plain(candidates.source), namespace)
        self._variants: dict[Entry, CellVariant] = {UNCHANGED: original}
        self._guards: dict[Entry, GuardResult] = {}
        numeric = any(candidates.guard(entry) is Guard.NUMERIC for entry in (*candidates.singles, *candidates.later))
        runs = len(candidates.singles) + len(candidates.later) + 3
        self._guarding = GuardRuns(original, snapshot, hooks, budget_s * ALONE_SHARE, gradients=numeric, runs=runs)
        self._block_s = 0.0
        self.unit_ns: dict[Entry, list[float]] = {}  # of the race, then of the proof

    def prepare(self) -> None:
        """Look at the unchanged cell, plan the blocks and warm it up."""
        self.say("looking at the unchanged cell")
        self._look = self._guarding.look()
        self._first, self._again = self._guarding.twice(self._look)
        made = self._look.record
        longest_ns = self._budget_s * ALONE_SHARE / (4 * FEWEST_PAIRS) * NS_PER_S
        self.plan = BlockPlan.of_steps(made, longest_ns) or BlockPlan.whole_cell(made)
        blocks_s: list[float] = []
        while len(blocks_s) < _MOST_WARM:
            began = time.perf_counter()
            self.time(UNCHANGED)
            blocks_s.append(time.perf_counter() - began)
        self._block_s = median(blocks_s)
        self.unit_ns.clear()
        wanted_s = self.seconds() + _FEWEST_BLOCKS * self._block_s
        if wanted_s > self._budget_s:
            raise VerificationError(
                f"a block of the cell takes {duration(self._block_s * NS_PER_S)}; give more time "
                f"(--seconds {math.ceil(wanted_s * 1.5)}), or make the cell smaller"
            )

    def seconds(self) -> float:
        """Since this was made."""
        return time.perf_counter() - self._began

    def most_entries(self, until_s: float) -> int:
        """Eight blocks each, next to the unchanged cell's two per turn; many are dropped earlier, some start slowly."""
        return int((until_s - self.seconds()) / (FEWEST_PAIRS * max(self._block_s, 1e-3))) - 2

    def admit(self, entry: Entry) -> str | None:
        """Run it over the same steps as the original, compare, and warm it up."""
        candidates = self._candidates
        try:
            source = self._plain(candidates.text(entry))
            self._variants[entry] = CellVariant("the changed cell", source, self._namespace)
            after = self._guarding.over_same_steps(self._variants[entry], self._look)
            result = self._judge(entry, after)
            if (problem := self._differs(result, after)) is not None:
                return problem
            self._guards[entry] = result
            return self._warm_up(entry)
        except (VariantError, SyntaxError) as error:
            return _raised(error)

    def confirm(self, entry: Entry) -> str | None:
        """Run the whole of it where the whole of the original was seen: does it do as much?"""
        try:
            less = self._guarding.less_in_all(self._variants[entry], self._look, self._candidates.guard(entry))
        except VariantError as error:
            return _raised(error)
        self.unit_ns.clear()  # what is told of it is of the turns that follow
        return None if less is None else f"does not compute the same: {less}"

    def time(self, entry: Entry) -> float | str:
        """One block."""
        try:
            block = run_block(self._variants[entry], self.plan, self._snapshot, self._hooks)
        except VariantError as error:
            if entry == UNCHANGED:
                raise
            return _raised(error)
        if block is None:
            if entry == UNCHANGED:
                raise VerificationError("the cell made fewer steps than are needed to time one")
            return "made fewer steps than are needed to time one"
        self.unit_ns.setdefault(entry, []).append(block.unit_ns)
        return block.unit_ns

    def together(self, entry: Entry, other: Entry) -> Entry | None:
        """See Candidates."""
        return self._candidates.together(entry, other)

    def say(self, text: str) -> None:
        """Tell whoever asked for it."""
        self._on_progress(f"{self.seconds():.0f} s of {self._budget_s:.0f} s: {text}")

    def guard(self, entry: Entry) -> GuardResult | None:
        """What comparing its results gave; None where it was not admitted."""
        return self._guards.get(entry)

    def _judge(self, entry: Entry, after: Seen) -> GuardResult:
        candidates = self._candidates
        half = any(each.group == "autocast" for each in candidates.settings(entry))
        tolerances = Tolerances(candidates.tolerance(entry), half)
        return judge(candidates.guard(entry), self._first, self._again, after, tolerances)

    def _differs(self, result: GuardResult, after: Seen) -> str | None:
        if result.status is Status.FAILED:
            return f"results differ: {result.text}"
        same_each_time = self._first.record.batches == self._again.record.batches
        if same_each_time and after.record.batches != self._first.record.batches:
            return "results differ: other batches"
        return None

    def _warm_up(self, entry: Entry) -> str | None:
        units: list[float] = []
        slowest_s = max(_SLOWEST_TURN_SHARE * self._budget_s, _SLOWEST_BLOCKS * self._block_s)
        while len(units) < _MOST_WARM:
            began = time.perf_counter()
            made = self.time(entry)
            if isinstance(made, str):
                return made
            units.append(made)
            took_s = time.perf_counter() - began
            if len(units) >= _FEWEST_WARM:
                if took_s > slowest_s:  # the first may compile
                    return f"too slow: a block with its start takes {duration(took_s * NS_PER_S)}"
                if abs(units[-1] / units[-2] - 1) <= _SETTLED_SHARE:
                    break
        return None


def _raised(error: BaseException) -> str:
    cause = error.__cause__
    what = f"{type(cause).__name__}: {cause}" if cause is not None else str(error)
    return f"raised {' '.join(what.split())}"[:160]
