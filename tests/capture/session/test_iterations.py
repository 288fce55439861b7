"""Every iteration of a cell is timed, and those outside the recording are known as plain."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
import torch

from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Results
from gpuprof.capture.session.session import Session
from gpuprof.capture.session.steps import StepCount
from gpuprof.ingest.load import load_trace


class Slow(torch.utils.data.Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(0.002)
        return torch.ones(4)


def test_a_cell_is_timed_to_its_end(new_session: Callable[..., Session]) -> None:
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters())
    stopwatch: list[tuple[float, float, float]] = []
    session = new_session(steps=6)
    session.start()
    batches = iter(torch.utils.data.DataLoader(Slow(), batch_size=1))
    for _ in range(60):
        begin = time.perf_counter()
        batch = next(batches)
        waited = time.perf_counter()
        model(batch).sum().backward()
        time.sleep(0.002)
        optimizer.step()
        stopwatch.append((begin, waited, time.perf_counter()))
    captured = session.stop()
    trace = load_trace(captured.folder)

    rows = trace.iterations
    assert len(rows) == 59
    assert 20 <= rows["plain"].sum() <= 52  # saving the recording takes some, more on a busy machine
    assert not rows["plain"][:7].any() and rows["plain"][-1]
    assert (rows["optimizer_ns"] > 0).all() and (rows["optimizer_ns"] < rows["duration_ns"]).all()
    found = Results(trace).get(PlainIterations).plain
    assert found is not None
    begin, waited, end = np.array(stopwatch[1:])[rows["plain"]].T
    like = end - begin <= 3 * np.median(end - begin)
    true = (waited - begin)[like].sum() / (end - begin)[like].sum()
    assert abs(found.wait_share - true) < 0.05


def test_a_recorded_cell_has_no_plain_iteration(new_session: Callable[..., Session]) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 0.1)
    session = new_session()
    session.start()
    for _ in range(10):
        optimizer.step()
    trace = load_trace(session.stop().folder)
    assert len(trace.iterations) == 9 and not trace.iterations["plain"].any()


def test_the_optimizers_of_a_step_are_added_up() -> None:
    now = [0]
    steps = StepCount(lambda: now[0])
    for _ in range(1, 4):
        now[0] += 10
        steps.optimizer_stepped(1, 3)  # of one network
        now[0] += 10
        steps.optimizer_stepped(2, 4)  # of the other
    rows = steps.iterations(0, 1)
    assert list(rows["duration_ns"]) == [20, 20]
    assert list(rows["optimizer_ns"]) == [7, 7]
    assert list(rows["plain"]) == [False, True]


def test_batches_alone_make_iterations_without_an_optimizer() -> None:
    now = [0]
    steps = StepCount(lambda: now[0])
    for number in range(4):
        now[0] += 5
        steps.batches_used(number)
    assert list(steps.iterations(0, None)["optimizer_ns"]) == [-1, -1]
    assert len(StepCount().iterations(0, 0)) == 0


@pytest.mark.parametrize(("batches", "recorded"), [(12, 8), (20, 14), (9, 6), (5, 5)])
def test_a_third_of_a_short_pass_is_left_to_run_by_itself(
    new_session: Callable[..., Session], batches: int, recorded: int
) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 0.1)
    session = new_session()
    session.start()
    for _ in torch.utils.data.DataLoader(torch.ones(batches, 3), batch_size=1):
        optimizer.step()
    window = session.stop().context.window
    assert window is not None and window.steps_seen == batches
    assert window.steps_recorded == recorded
    assert window.ended_by == ("steps" if recorded < batches else "cell")


def test_steps_that_were_asked_for_are_recorded(new_session: Callable[..., Session]) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 0.1)
    session = new_session(steps=9, skip=0)
    session.start()
    for _ in torch.utils.data.DataLoader(torch.ones(12, 3), batch_size=1):
        optimizer.step()
    window = session.stop().context.window
    assert window is not None and window.steps_recorded == 9
