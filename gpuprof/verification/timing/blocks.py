"""Blocks of steps, timed: a block is long enough for the clock, and starts after its own warm-up steps.

The device is waited for once at the start and once at the end of a block, never in between (docs/design/pairs.md).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuprof.verification.cells.hooks import BlockEnd, Counted, Hooks, Listener
from gpuprof.verification.cells.variants import Variant
from gpuprof.verification.record import Record
from gpuprof.verification.state.snapshot import Snapshot

SHORTEST_NS = 200_000_000
FEWEST_STEPS = 8
WARM_STEPS = 3
_MOST_REPEATS = 10
_PREFETCHES = 2  # a block is this many times longer than the batches that may lie ready when it starts


@dataclass(frozen=True)
class BlockPlan:
    """`warm` steps that are not timed, then `steps` that are; `steps` None: the whole cell, from its start to its end.

    A block runs the variant `repeats` times where one run is too short for the clock. It is expected to take
    `expected_ns`, without what comes before the first step.
    """

    counted: Counted
    warm: int
    steps: int | None
    repeats: int = 1
    expected_ns: float = field(default=0.0, compare=False)

    @classmethod
    def whole_cell(cls, record: Record) -> BlockPlan:
        """From the first line to the last."""
        run_ns = record.end_ns - record.start_ns
        repeats = _repeats(run_ns)
        return cls(record.counted, 0, None, repeats, run_ns * repeats)

    @classmethod
    def of_steps(cls, record: Record, longest_ns: float) -> BlockPlan | None:
        """From what a run looked like; None where it made under three steps.

        Steps so slow that eight of them take more than `longest_ns` make shorter blocks, of two or more.
        """
        ends = record.ends_ns[record.counted]
        if len(ends) < 3:
            return None
        # the later half, past compilation; the mean, since a busy machine makes a few steps long
        later = ends[min(len(ends) // 2, len(ends) - 2) :]
        step_ns = (later[-1] - later[0]) / (len(later) - 1) or 1.0
        wanted = max(FEWEST_STEPS, math.ceil(SHORTEST_NS / step_ns), _PREFETCHES * record.prefetched)
        wanted = max(min(wanted, int(longest_ns / step_ns) - WARM_STEPS), 2)
        epoch = _epoch(record)
        if epoch:
            # every block holds as many edges between epochs
            wanted = math.ceil(wanted / epoch) * epoch
        warm = WARM_STEPS if not record.whole or len(ends) >= WARM_STEPS + FEWEST_STEPS else 1
        steps = min(wanted, len(ends) - warm) if record.whole else wanted
        if epoch and record.whole and steps >= epoch:
            steps = steps // epoch * epoch
        repeats = _repeats(step_ns * steps) if record.whole else 1
        return cls(record.counted, warm, steps, repeats, step_ns * (warm + steps) * repeats)


@dataclass(frozen=True)
class TimedBlock:
    """`unit_ns`: wall-clock time of one step (of one run, where the whole cell is timed), in ns."""

    unit_ns: float
    steps: int
    step_ns: tuple[int, ...]
    peak_bytes: int | None


@dataclass
class Timing(Listener):
    """Times one run of a variant after a BlockPlan."""

    plan: BlockPlan
    marks_ns: list[int] = field(default_factory=list)
    end_ns: int = 0
    _seen: int = 0

    def begin(self) -> None:
        """The run is about to start."""
        if not self.plan.warm:
            self._start()

    def finish(self) -> None:
        """The run has ended by itself."""
        if self.plan.steps is None or not self.end_ns:
            _synchronize()
            # a change that makes fewer steps than planned is timed as far as it went
            self.end_ns = time.perf_counter_ns() if self.plan.steps is None else (self.marks_ns or [0])[-1]

    @property
    def steps(self) -> int:
        """Timed steps."""
        return len(self.marks_ns) - 1

    @property
    def took_ns(self) -> int:
        """Timed."""
        return self.end_ns - self.marks_ns[0] if self.marks_ns else 0

    def stepped(self, counted: Counted, count: int) -> None:
        """Start, note, end."""
        plan = self.plan
        if counted is not plan.counted or count <= self._seen:
            return
        self._seen = count
        if count == plan.warm:
            self._start()
        elif count > plan.warm:
            done = plan.steps is not None and count >= plan.warm + plan.steps
            if done:
                _synchronize()
            self.marks_ns.append(time.perf_counter_ns())
            if done:
                self.end_ns = self.marks_ns[-1]
                raise BlockEnd

    def _start(self) -> None:
        _synchronize()
        _reset_peaks()
        self.marks_ns.append(time.perf_counter_ns())


def run_block(variant: Variant, plan: BlockPlan, snapshot: Snapshot, hooks: Hooks) -> TimedBlock | None:
    """One block from the snapshot's state; None where the variant made no timed step."""
    total_ns, steps, runs, step_ns, peaks = 0, 0, 0, list[int](), list[int]()
    for _ in range(plan.repeats):
        snapshot.restore()
        timing = Timing(plan)
        timing.begin()
        if variant.run(hooks, timing):
            timing.finish()
        if plan.steps is not None and timing.steps < 1:
            return None
        total_ns += timing.took_ns
        steps += timing.steps
        runs += 1
        step_ns += np.diff(timing.marks_ns).tolist()
        peaks += [] if (peak := _peak_bytes()) is None else [peak]
    unit = runs if plan.steps is None else steps
    return TimedBlock(total_ns / unit, steps, tuple(step_ns), max(peaks) if peaks else None)


def _repeats(run_ns: float) -> int:
    return min(max(math.ceil(SHORTEST_NS / max(run_ns, 1.0)), 1), _MOST_REPEATS)


def _epoch(record: Record) -> int | None:
    """Batches between two starts of a loader, in steps; None where none was started twice in regular distances."""
    starts = np.diff(record.loaders)
    batches = len(record.ends_ns[Counted.BATCH])
    if len(starts) == 0 or starts[0] < 1 or not (starts == starts[0]).all() or not batches:
        return None
    return max(round(int(starts[0]) * record.steps / batches), 1)


def _torch_cuda() -> Any:
    import torch

    cuda: Any = torch.cuda
    return cuda if cuda.is_initialized() else None


def _synchronize() -> None:
    if (cuda := _torch_cuda()) is not None:
        cuda.synchronize()


def _reset_peaks() -> None:
    if (cuda := _torch_cuda()) is not None:
        cuda.reset_peak_memory_stats()


def _peak_bytes() -> int | None:
    cuda = _torch_cuda()
    return None if cuda is None else int(cuda.max_memory_allocated())
