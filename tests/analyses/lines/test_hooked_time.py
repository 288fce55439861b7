"""Samples are weighted so that they add up to what light hooks measured."""

from __future__ import annotations

import sysconfig
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.cell_time import CellTime
from gpuprof.analyses.lines.hooked_time import OPTIMIZER, REST, WAIT, hooked_kinds
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from tests.support.trace_builder import CELL_FILE, TraceBuilder

LIBRARIES = sysconfig.get_paths()["purelib"]
FORWARD, STEP, LOOP, USED = ((CELL_FILE, "<module>", line) for line in (5, 7, 3, 9))
ADAM = (f"{LIBRARIES}/torch/optim/adam.py", "Adam.step", 100)
WRAPPER = (
    f"{LIBRARIES}/torch/optim/optimizer.py",
    "Optimizer.profile_hook_step.<locals>.wrapper",
    500,
)
ZERO_GRAD = (f"{LIBRARIES}/torch/optim/optimizer.py", "Optimizer.zero_grad", 900)
SCHEDULER = (f"{LIBRARIES}/torch/optim/lr_scheduler.py", "LRScheduler.step", 50)
NEXT = (f"{LIBRARIES}/torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__", 700)
ENDING = (NEXT[0], "_MultiProcessingDataLoaderIter._shutdown_workers", 1500)
ITEM = (CELL_FILE, "Data.__getitem__", 12)


def kinds(*stacks: tuple[tuple[str, str, int], ...]) -> list[int]:
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    for at, frames in enumerate(stacks):
        builder.stack(at * 10, 10, *frames)
    trace = builder.build()
    return [int(each) for each in hooked_kinds(trace)[trace.stack_samples["node"]]]


def test_a_stack_tells_whether_hooks_time_it() -> None:
    closure, own = (CELL_FILE, "closure", 20), (CELL_FILE, "Mine.step", 30)
    assert kinds((STEP, ADAM), (STEP, WRAPPER, ADAM), (STEP, WRAPPER, own)) == [OPTIMIZER] * 3
    assert kinds((LOOP, NEXT), (LOOP, NEXT, ITEM)) == [WAIT] * 2
    beside = ((STEP, ZERO_GRAD), (STEP, SCHEDULER), (STEP, WRAPPER, ADAM, closure), (LOOP, NEXT, ENDING), (FORWARD,))
    assert kinds(*beside) == [REST] * 5


def loop(*, optimizer_us: float | None, wait_us: float | None = None, batches_read: int = 10) -> Trace:
    """Ten iterations of 1 ms, each sampled as 400 µs of a step, 200 of a wait, 400 of forward; then 2 ms of line 9."""
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    for at in range(0, 10_000, 1_000):
        builder.iteration(at, 1_000, optimizer_us=optimizer_us, plain=True)
        builder.stack(at, 200, LOOP, NEXT).stack(at + 200, 400, FORWARD).stack(at + 600, 400, STEP, WRAPPER, ADAM)
    trace = builder.stack(10_000, 2_000, USED).build()
    if wait_us is None:
        return trace
    loader = Loader(
        workers=0,
        batches_read=batches_read,
        wait_start_ns=tuple(range(0, 10_000_000, 1_000_000)),
        wait_ns=(int(wait_us * 1_000),) * 10,
    )
    return replace(trace, context=msgspec.structs.replace(trace.context, loaders=(loader,)))


def by_line(trace: Trace) -> dict[int, float]:
    found = Results(trace).get(Stretches)
    parent, line = trace.stack_nodes["parent"], trace.stack_nodes["line"]
    top = np.arange(len(parent))
    while (parent[top] >= 0).any():
        top = np.where(parent[top] >= 0, parent[top], top)
    lines = line[top[found.node]]
    return {int(each): round(float(found.spent_ns[lines == each].sum()) / 1_000, 3) for each in np.unique(lines)}


def test_the_step_of_an_optimizer_takes_what_its_hooks_say() -> None:
    # GIVEN a sampler that saw steps for 400 µs where each took 100
    trace = loop(optimizer_us=100)
    # THEN the others have the rest, each in proportion, and what lies after the loop is as it was
    assert by_line(trace) == {3: 3_000, 5: 6_000, 7: 1_000, 9: 2_000}
    assert Results(trace).get(Stretches).measured.sum() == 10


def test_waits_and_steps_at_once() -> None:
    assert by_line(loop(optimizer_us=100, wait_us=500)) == {3: 5_000, 5: 4_000, 7: 1_000, 9: 2_000}


@pytest.mark.parametrize(
    "trace",
    [loop(optimizer_us=None), loop(optimizer_us=700, wait_us=400), loop(optimizer_us=None, wait_us=1, batches_read=11)],
    ids=["nothing was timed", "more was timed than there is", "not every wait was timed"],
)
def test_nothing_changes_where_the_sum_is_not_known(trace: Trace) -> None:
    assert by_line(trace) == {3: 2_000, 5: 4_000, 7: 4_000, 9: 2_000}


def test_phases_lines_and_hot_spots_agree() -> None:
    results = Results(loop(optimizer_us=100, wait_us=500))
    phases = {each.phase: each for each in results.get(CellPhases).phases}
    assert phases[Phase.OPTIMIZER].share == pytest.approx(1 / 12)
    assert phases[Phase.DATA].share == pytest.approx(5 / 12)
    lines = results.get(CellTime).table
    assert dict(zip(lines["line"].tolist(), lines["share"].tolist(), strict=True))[7] == pytest.approx(1 / 12)
    assert {each.line: each.share for each in results.get(HotSpots).spots}[7] == pytest.approx(1 / 12)


def test_long_iterations_are_weighted_apart() -> None:
    # GIVEN an evaluation of 20 ms in one iteration, sampled as it was, and steps sampled twice as often as they ran
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    for at in range(0, 10_000, 1_000):
        builder.iteration(at, 1_000, optimizer_us=200, plain=True)
        builder.stack(at, 600, FORWARD).stack(at + 600, 400, STEP, WRAPPER, ADAM)
    builder.iteration(10_000, 21_000, optimizer_us=200, plain=True)
    builder.stack(10_000, 20_000, USED).stack(30_000, 600, FORWARD).stack(30_600, 400, STEP, WRAPPER, ADAM)
    found = by_line(builder.build())
    # THEN the regular ones give the time of steps to forward, not to the evaluation
    assert found[5] == pytest.approx(8_000 + 600, abs=10) and found[9] == pytest.approx(20_000, abs=200)


@given(
    st.lists(st.sampled_from([(FORWARD,), (STEP, WRAPPER, ADAM), (LOOP, NEXT), (USED,)]), min_size=1, max_size=40),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_the_whole_stays_whole(stacks: list[tuple[tuple[str, str, int], ...]], step_us: int, wait_us: int) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    for at, frames in enumerate(stacks):
        builder.stack(at * 50, 50, *frames).iteration(at * 50, 50, optimizer_us=step_us, plain=True)
    trace = builder.build()
    starts = tuple(range(0, len(stacks) * 50_000, 50_000))
    loader = Loader(workers=0, wait_start_ns=starts, wait_ns=(wait_us * 1_000,) * len(starts))
    found = Results(replace(trace, context=msgspec.structs.replace(trace.context, loaders=(loader,)))).get(Stretches)
    assert found.spent_ns.sum() == pytest.approx(found.duration_ns.sum())
    assert (found.spent_ns >= 0).all()
