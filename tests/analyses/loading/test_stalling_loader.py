"""Whether an iterator is started for every batch."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.model.context import Loader
from tests.support.trace_builder import TraceBuilder


def each_batch(**facts: Any) -> bool:
    loader = Loader(workers=0, **{"iterations_started": 100, "batches_read": 100, "batches": 1000, **facts})
    trace = TraceBuilder().operator("aten::mm", 0, 10).context(loaders=(loader,)).build()
    return Results(trace).get(StallingLoader).iterator_each_batch


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, True),
        ({"batches": None}, True),
        ({"batches_read": 111}, True),
        ({"iterations_started": 8, "batches_read": 8}, True),
        ({"iterations_started": 7, "batches_read": 7}, False),
        ({"batches_read": 112}, False),
        # a loop over a loader with a single batch, whose length is known or not
        ({"batches": 1}, False),
        ({"batches": None, "iteration_end_ns": (1,) * 50}, False),
        ({"batches": None, "iteration_end_ns": (1,) * 49}, True),
        ({"iterations_started": 1}, False),
    ],
)
def test_nearly_as_many_iterators_as_batches(facts: dict[str, Any], expected: bool) -> None:
    assert each_batch(**facts) is expected


def test_without_a_loader_there_is_none() -> None:
    assert not Results(TraceBuilder().build()).get(StallingLoader).iterator_each_batch
