"""How long a block is, and when it is timed."""

from __future__ import annotations

import pytest

from gpuprof.verification.cells.hooks import BlockEnd, Counted
from gpuprof.verification.record import Record
from gpuprof.verification.timing.blocks import SHORTEST_NS, BlockPlan, Timing
from gpuprof.verification.timing.warm_up import settled

MS = 1_000_000
LONGEST_NS = 2_500 * MS


def record(
    steps: int, step_ms: float, *, whole: bool = False, starts: tuple[int, ...] = (), prefetched: int = 0
) -> Record:
    made = Record()
    for kind in (Counted.BATCH, Counted.OPTIMIZER):
        made.ends_ns[kind] = [int(at * step_ms * MS) for at in range(steps)]
    made.loaders, made.prefetched, made.whole = list(starts), prefetched, whole
    return made


def planned(made: Record) -> BlockPlan:
    plan = BlockPlan.of_steps(made, LONGEST_NS)
    assert plan is not None and plan.counted is Counted.OPTIMIZER
    return plan


@pytest.mark.parametrize(("step_ms", "steps"), [(1, 200), (40, 8), (100, 8), (1000, 2)])
def test_a_block_takes_200_ms_and_eight_steps_where_the_budget_allows(step_ms: float, steps: int) -> None:
    assert planned(record(50, step_ms)) == BlockPlan(Counted.OPTIMIZER, 3, steps)


def test_batches_that_lie_ready_do_not_fill_a_block() -> None:
    assert planned(record(50, 40, prefetched=16)).steps == 32


def test_a_block_holds_whole_epochs() -> None:
    assert planned(record(50, 20, starts=(0, 15, 30, 45))).steps == 15
    assert planned(record(50, 5, starts=(0, 15, 30, 45))).steps == 45


def test_a_short_cell_is_repeated() -> None:
    assert planned(record(13, 2, whole=True)) == BlockPlan(Counted.OPTIMIZER, 3, 10, repeats=10)
    assert planned(record(6, 20, whole=True)) == BlockPlan(Counted.OPTIMIZER, 1, 5, repeats=2)
    assert BlockPlan.of_steps(record(2, 20, whole=True), LONGEST_NS) is None


def test_only_the_steps_after_the_warm_ones_are_timed() -> None:
    timing = Timing(BlockPlan(Counted.OPTIMIZER, 2, 3))
    timing.begin()
    assert not timing.marks_ns
    for count in (1, 2, 2, 3, 4):
        timing.stepped(Counted.OPTIMIZER, count)
        timing.stepped(Counted.BATCH, count)
    with pytest.raises(BlockEnd):
        timing.stepped(Counted.OPTIMIZER, 5)
    assert timing.steps == 3 and timing.took_ns == timing.marks_ns[-1] - timing.marks_ns[0] > 0


def test_a_whole_cell_is_timed_to_its_end() -> None:
    timing = Timing(BlockPlan(Counted.NOTHING, 0, None))
    timing.begin()
    timing.stepped(Counted.BATCH, 1)
    timing.finish()
    assert timing.took_ns == timing.end_ns - timing.marks_ns[0] > 0


def test_settled() -> None:
    assert settled([1e9, 100, 100, 101, 100, 101])
    assert not settled([100] * 4)
    assert not settled([500, 400, 300, 200, 150, 120, 110, 105, 90])
    assert settled([100, 120, 90, 110, 95, 115, 92, 108])  # noisy, but no longer falling
    assert SHORTEST_NS == 200 * MS
