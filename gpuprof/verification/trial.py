"""The whole of one comparison: guard, plan, warm-up, interleaved pairs, figures. Both variants start from one state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpuprof.errors import VerificationError
from gpuprof.rules.base.guard import EXACT_TOLERANCE, Guard
from gpuprof.units import NS_PER_S, duration, plural
from gpuprof.verification.cells.hooks import Hooks
from gpuprof.verification.cells.variants import Variant
from gpuprof.verification.guard_runs import GuardRuns
from gpuprof.verification.guards import GuardResult, Status, Tolerances, judge
from gpuprof.verification.measurement import ArmFacts, Measurement
from gpuprof.verification.record import Record
from gpuprof.verification.state.snapshot import Snapshot
from gpuprof.verification.timing.blocks import BlockPlan, TimedBlock, run_block
from gpuprof.verification.timing.outcome import FEWEST_PAIRS, as_differences, decided, estimate
from gpuprof.verification.timing.warm_up import DeviceClocks, settled

MOST_PAIRS = 60
BUDGET_S = 60.0
_LONGEST_WARM_UP_S = 30.0
_WARM_UP_SHARE = 1 / 8  # of the budget, each variant
_BLOCK_SHARE = 1 / (3 * FEWEST_PAIRS)  # of the budget, the longest block


@dataclass(frozen=True)
class Settings:
    """What of a comparison the caller chooses; `seed` is that of the order of the variants."""

    guard: Guard = Guard.EXACT
    tolerance: float = EXACT_TOLERANCE
    half: bool = False
    budget_s: float = BUDGET_S
    most_pairs: int = MOST_PAIRS
    whole_cell: bool = False
    predicted: tuple[float, float, float] | None = None
    seed: int | None = None
    on_progress: Callable[[str], None] = field(default=lambda text: None)


class Trial:
    """`before` against `after`, from the state of `snapshot`, with `hooks` installed."""

    def __init__(self, before: Variant, after: Variant, snapshot: Snapshot, hooks: Hooks, settings: Settings):
        self._variants = (before, after)
        self._snapshot, self._hooks, self._settings = snapshot, hooks, settings
        self._began = time.perf_counter()
        self._random = np.random.default_rng(settings.seed)
        self._notes: list[str] = []
        self._blocks: tuple[list[TimedBlock], list[TimedBlock]] = ([], [])
        self._samples = (1.0, 1.0)
        self._warm_up_blocks, self._settled, self._first_runs_ns = [0, 0], [True, True], [0.0, 0.0]

    def run(self) -> Measurement:
        """VerificationError or VariantError where it cannot be done; the caller puts the state back."""
        settings = self._settings
        guarding = self._guard_runs()
        self._say("looking at what both compute")
        look = guarding.look()
        plan = self._plan(look.record)
        self._afford(plan)
        first, again = guarding.twice(look)
        other = guarding.over_same_steps(self._variants[1], look)
        guard = judge(settings.guard, first, again, other, Tolerances(settings.tolerance, settings.half))
        if (
            guard.status is not Status.FAILED
            and (problem := guarding.less_in_all(self._variants[1], look, settings.guard)) is not None
        ):
            guard = GuardResult(settings.guard, Status.FAILED, problem, guard.loss_difference)
        elif guard.status is Status.FAILED and other.record.steps != first.record.steps:
            self._notes.append("nothing was timed: the two do not do the same work")
            return self._verdict(guard, whole_cell=settings.whole_cell)
        self._afford(plan, again.record.set_up_ns if plan.steps is not None else 0)
        self._start_ups(look.record, other.record, plan)
        self._count_samples(first.record, other.record, plan)
        with DeviceClocks() as clocks:
            for number in (0, 1):
                self._warm_up(number, plan, clocks)
            self._pair_up(plan)
            if clocks.throttled():
                self._notes.append("the device's clocks were held down by power or heat while it was measured")
        return self._verdict(guard, whole_cell=plan.steps is None)

    def _guard_runs(self) -> GuardRuns:
        settings = self._settings
        numeric = settings.guard is Guard.NUMERIC
        return GuardRuns(self._variants[0], self._snapshot, self._hooks, settings.budget_s, gradients=numeric)

    def _plan(self, record: Record) -> BlockPlan:
        settings = self._settings
        plan = (
            None
            if settings.whole_cell and record.whole
            else BlockPlan.of_steps(record, settings.budget_s * _BLOCK_SHARE * NS_PER_S)
        )
        if plan is not None:
            if settings.whole_cell:
                self._notes.append("the cell takes too long to be timed as a whole; its steps were")
            return plan
        return BlockPlan.whole_cell(record)

    def _afford(self, plan: BlockPlan, set_up_ns: int = 0) -> None:
        """VerificationError where the budget ends before as many pairs as decide anything could be measured."""
        settings = self._settings
        pairs = min(FEWEST_PAIRS, settings.most_pairs)
        block_s = (plan.expected_ns + set_up_ns * plan.repeats) / NS_PER_S
        wanted_s = (2 * pairs + 2) * block_s
        if wanted_s <= settings.budget_s:
            return
        block = "a run of the cell" if plan.steps is None else f"a block of {plan.warm + plan.steps} steps"
        unstepped = ", which makes no steps that could be timed one by one," if plan.steps is None else ""
        given = duration(settings.budget_s * NS_PER_S)
        raise VerificationError(
            f"{block}{unstepped} takes {duration(block_s * NS_PER_S)}, and {plural(pairs, 'pair')} with warm-up "
            f"{duration(wanted_s * NS_PER_S)}; the budget is {given}: give more (--budget, or budget_s of "
            "gpuprof.verify), or make it smaller"
        )

    def _start_ups(self, first: Record, other: Record, plan: BlockPlan) -> None:
        for number, record in enumerate((first, other)):
            ends = record.ends_ns[record.counted]
            if len(ends) > 2 and plan.steps is not None:
                pace = float(np.median(np.diff(ends[1:])))
                self._first_runs_ns[number] = max(ends[-1] - record.start_ns - pace * len(ends), 0.0)

    def _count_samples(self, first: Record, other: Record, plan: BlockPlan) -> None:
        """Steps of another size are compared by the time of a sample (docs/design/pairs.md, class S)."""
        samples = first.samples_per_step, other.samples_per_step
        if self._settings.guard is not Guard.SEMANTIC or plan.steps is None or None in samples:
            return
        before, after = samples
        if before != after and before and after:
            self._samples = before, after
            self._notes.append(f"compared by sample: a step takes {before:.4g} of them before and {after:.4g} after")

    def _warm_up(self, number: int, plan: BlockPlan, clocks: DeviceClocks) -> None:
        clocks.forget()
        units: list[float] = []
        limit = min(_LONGEST_WARM_UP_S, self._settings.budget_s * _WARM_UP_SHARE)
        began = time.perf_counter()
        self._say(f"warming up {self._variants[number].name}")
        while not (settled(units) and clocks.steady()):
            if time.perf_counter() - began > limit:
                self._settled[number] = False
                break
            units.append(self._block(number, plan).unit_ns)
            clocks.note()
        self._warm_up_blocks[number] = len(units)
        if not self._settled[number]:
            self._notes.append(
                f"{self._variants[number].name} had not settled after {duration(limit * NS_PER_S)} of warm-up"
            )

    def _pair_up(self, plan: BlockPlan) -> None:
        """ABBA: of two pairs the orders are mirrored, and the first variant is drawn at random."""
        before, after = self._blocks
        settings, first = self._settings, 0
        while not before or (len(before) < settings.most_pairs and self._seconds < settings.budget_s):
            first = int(self._random.integers(2)) if len(before) % 2 == 0 else 1 - first
            order = (first, 1 - first)
            made = {number: self._block(number, plan) for number in order}
            before.append(made[0])
            after.append(made[1])
            if decided(self._differences()) is not None:
                return
            self._say(plural(len(before), "pair"))

    def _say(self, text: str) -> None:
        self._settings.on_progress(f"{self._seconds:.0f} s of {self._settings.budget_s:.0f} s: {text}")

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _block(self, number: int, plan: BlockPlan) -> TimedBlock:
        block = run_block(self._variants[number], plan, self._snapshot, self._hooks)
        if block is None:
            raise VerificationError(
                f"{self._variants[number].name} made fewer steps than the {plan.warm + 1} needed to time one"
            )
        return block

    def _differences(self) -> np.ndarray:
        before, after = self._blocks
        one, other = self._samples
        return as_differences([block.unit_ns / one for block in before], [block.unit_ns / other for block in after])

    def _verdict(self, guard: GuardResult, *, whole_cell: bool) -> Measurement:
        return Measurement.of(
            estimate(self._differences()),
            guard,
            pairs=len(self._blocks[0]),
            seconds=self._seconds,
            before=self._facts(0),
            after=self._facts(1),
            whole_cell=whole_cell,
            predicted=self._settings.predicted,
            notes=tuple(self._notes),
        )

    def _facts(self, number: int) -> ArmFacts:
        blocks = self._blocks[number]
        if not blocks:
            return ArmFacts()
        steps = [step for block in blocks for step in block.step_ns]
        peaks = [block.peak_bytes for block in blocks if block.peak_bytes is not None]
        return ArmFacts(
            step_ns=float(np.median([block.unit_ns for block in blocks])),
            p50_ns=float(np.percentile(steps, 50)) if steps else None,
            p95_ns=float(np.percentile(steps, 95)) if steps else None,
            start_up_ns=self._first_runs_ns[number],
            warm_up_blocks=self._warm_up_blocks[number],
            settled=self._settled[number],
            peak_bytes=max(peaks) if peaks else None,
        )
