from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.plain_iterations import FEWEST, PlainIterations
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader, RunContext, Window
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables

MS = 1_000_000


def trace(lengths_ms: list[float], plain_from: int, *, waits_ms: float = 0.0, optimizer_ms: float = -1.0) -> Trace:
    """Iterations one after the other, the first `plain_from` of them recorded; the first step of all is not timed."""
    lengths = (np.array(lengths_ms) * MS).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    plain = np.arange(len(lengths)) >= plain_from
    columns: dict[str, Any] = {"start_ns": starts, "duration_ns": lengths, "plain": plain}
    columns["optimizer_ns"] = np.full(len(lengths), int(optimizer_ms * MS) if optimizer_ms >= 0 else -1)
    waits = (int(waits_ms * MS),) * len(lengths)
    loader = Loader(workers=0, wait_ns=waits, wait_start_ns=tuple(int(each) for each in starts))
    context = RunContext(
        window=Window(steps_recorded=plain_from + 1, ended_by="steps"), loaders=(loader,), options={"skip": 2}
    )
    tables = {**empty_tables(), "iterations": Table(ITERATIONS, columns)}
    return Trace(Source("built"), (), tables, 0, 1, context=context)


def test_both_kinds_are_told_apart() -> None:
    found = Results(trace([30.0] * 20 + [10.0] * 30, 20, waits_ms=2.0, optimizer_ms=3.0)).get(PlainIterations)

    assert found.plain is not None and found.recorded is not None and found.known
    assert found.plain.count == 30 and found.plain.median_ns == 10 * MS
    assert found.recorded.median_ns == 30 * MS and found.recorded.count == 18
    assert found.plain.wait_share == pytest.approx(0.2)
    assert found.plain.optimizer_ns == 3 * MS and found.plain.rest_ns == 5 * MS
    assert found.wait_factor == pytest.approx(1.0) and found.rest_factor == pytest.approx(5 / 25)
    assert found.error == 0.0


def test_an_iteration_with_an_evaluation_in_it_is_left_out() -> None:
    found = Results(trace([10.0] * 40 + [500.0], 0)).get(PlainIterations)
    assert found.plain is not None and found.plain.mean_ns == 10 * MS and found.plain.count == 40


@pytest.mark.parametrize("count", [FEWEST - 1, FEWEST])
def test_few_iterations_show_nothing(count: int) -> None:
    found = Results(trace([10.0] * count, 0)).get(PlainIterations)
    assert (found.plain is not None) is (count >= FEWEST)
    assert found.recorded is None and not found.known
    assert found.wait_factor == found.rest_factor == found.optimizer_factor == 1.0


def test_without_a_window_nothing_is_known() -> None:
    found = Results(Trace(Source("built"), (), empty_tables(), 0, 1)).get(PlainIterations)
    assert found.plain is None and found.recorded is None


@given(st.lists(st.floats(1, 50), min_size=FEWEST, max_size=40), st.floats(0, 60), st.floats(0, 60))
def test_parts_never_exceed_the_whole(lengths: list[float], waits_ms: float, optimizer_ms: float) -> None:
    found = Results(trace(lengths, 0, waits_ms=waits_ms, optimizer_ms=optimizer_ms)).get(PlainIterations)
    assert found.plain is not None
    assert 0 <= found.plain.wait_share <= 1
    assert found.plain.rest_ns >= 0 and found.plain.error >= 0
    assert found.plain.wait_ns <= found.plain.mean_ns * (1 + 1e-9)
