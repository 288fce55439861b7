from __future__ import annotations

from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.basics.result import Results
from tests.analyses.accounts.cells import MS, cell, reading
from tests.support.trace_builder import TraceBuilder


def test_a_pass_without_optimizer_steps_reads_only() -> None:
    # GIVEN steps that end at 20, 30 … 60 and 110, 120 ms, and another loader read from 62 to 92 ms
    train = reading((10, 20, 30, 40, 50, 101, 110), passes_ms=(10, 101))
    evaluation = reading((62, 72, 82))
    trace = cell(TraceBuilder(), ends_ms=(20, 30, 40, 50, 60, 110, 120), loaders=(train, evaluation))
    found = Results(trace).get(Passes)

    assert found.trains and found.first_ns == 20 * MS
    assert list(found.reading.starts) == [62 * MS] and list(found.reading.ends) == [92 * MS]
    assert list(found.training.starts) == [20 * MS, 92 * MS] and list(found.training.ends) == [62 * MS, 120 * MS]
    assert list(found.regular.starts) == [20 * MS, 110 * MS] and list(found.regular.ends) == [60 * MS, 120 * MS]


def test_without_an_optimizer_all_is_reading() -> None:
    trace = cell(TraceBuilder(), ends_ms=(10, 20), loaders=(reading((0, 10)),), optimizer=False)
    found = Results(trace).get(Passes)
    assert not found.trains and found.first_ns is None and not found.training.total_ns
    assert found.reading.total_ns == 20 * MS


def test_a_cell_without_any_has_none() -> None:
    found = Results(cell(TraceBuilder())).get(Passes)
    assert not found.trains and not found.reading.total_ns and not found.regular.total_ns


def test_a_wait_at_the_beginning_of_a_pass_belongs_to_it_alone() -> None:
    # GIVEN a pass with waits at 10, 20 and 30 ms, and the next one, which begins with its wait at 60 ms
    loader = reading((10, 20, 30, 60, 70), passes_ms=(10, 60))
    found = Results(cell(TraceBuilder(), loaders=(loader,))).get(Passes)
    # THEN the first ends about as long after its last wait as the waits lie apart, not where the next begins
    assert list(found.reading.starts) == [10 * MS, 60 * MS] and list(found.reading.ends) == [40 * MS, 80 * MS]
