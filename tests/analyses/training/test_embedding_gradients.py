"""Which gradients of tables are dense, how many rows they are of, and what else takes the tables."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.embedding_gradients import EmbeddingGradients
from gpuprof.model.trace import Trace
from tests.rules.cases.training.dense_embedding_gradients import training
from tests.support.trace_builder import TraceBuilder

PLAIN, BAG = "aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"


def gradients(trace: Trace) -> EmbeddingGradients:
    return Results(trace).get(EmbeddingGradients)


def lookups(
    *indices: int, begun: int = 1, added: int = 0, name: str = PLAIN, values: str = '["", "", "500", "-1", "False"]'
) -> Trace:
    """One step: a gradient of a table of 500 × 8 for each number of indices; `begun` new ones, `added` to one there."""
    builder = TraceBuilder()
    for place, number in enumerate(indices):
        builder.operator(name, 10 * place, 9, dims=f"[[{number}, 8], [{number}], [], [], []]", values=values)
    for place in range(begun + added):
        at = 1000 + 10 * place
        builder.operator("torch::autograd::AccumulateGrad", at, 9, dims="[[500, 8]]")
        if place >= begun:
            builder.operator("aten::add_", at + 1, 5, dims="[[500, 8], [500, 8], []]")
    builder.optimizer_step("SGD", 2000, 50)
    builder.operator("aten::_foreach_add_", 2001, 40, dims="[[[500, 8], [24, 250]], [[500, 8], [24, 250]], []]")
    return builder.build()


def test_a_table_and_what_takes_it() -> None:
    found = gradients(training(reading="aten::_foreach_norm").build())
    (table,) = found.tables
    assert (found.known, len(found.backwards)) == (True, 5)
    assert (table.rows, table.width, table.filled) == (100_000, 64, 1000)
    assert table.parts.tolist() == [1.0] * 5
    assert (table.reads - table.reads[0]).tolist() == [each * 10_000_000 for each in range(5)]
    assert (table.optimizers, table.operators) == (("SGD",), frozenset({"aten::add_"}))


def test_the_part_of_an_operator_on_many_weights_goes_by_their_elements() -> None:
    (table,) = gradients(lookups(10)).tables
    assert table.parts.tolist() == [0.4]


@pytest.mark.parametrize(
    ("indices", "begun", "added", "filled"),
    [
        ((10,), 1, 0, 10),
        ((10, 30), 1, 0, 40),  # two lookups in one table
        ((10, 30), 2, 0, 20),  # two tables of one size
        ((10, 30), 1, 1, 40),  # two backward passes for one step
        ((10, 30), 0, 2, 20),  # gradients are kept and zeroed
    ],
)
def test_rows_are_counted_for_a_table_and_a_step(
    indices: tuple[int, ...], begun: int, added: int, filled: float
) -> None:
    (table,) = gradients(lookups(*indices, begun=begun, added=added)).tables
    assert table.filled == filled


@pytest.mark.parametrize(
    ("by_frequency", "mode", "tables"), [("False", "0", 1), ("False", "1", 1), ("False", "2", 0), ("True", "0", 0)]
)
def test_bags_but_for_the_largest_can_be_sparse(by_frequency: str, mode: str, tables: int) -> None:
    values = f'["", "", "", "", "", "500", "{by_frequency}", "{mode}", "", "-1"]'
    found = gradients(lookups(10, name=BAG, values=values))
    assert found.known
    assert len(found.tables) == tables


@pytest.mark.parametrize(
    "values", ['["", ""]', '["", "", "", "-1", "False"]', '["", "", "0", "-1", "False"]', "7", "["]
)
def test_sizes_that_were_not_recorded(values: str) -> None:
    found = gradients(lookups(10, values=values))
    assert (found.known, found.tables, len(found.backwards)) == (False, (), 1)


def test_sparse_gradients_are_none_of_these() -> None:
    found = gradients(lookups(10, name="aten::embedding_sparse_backward"))
    assert (found.known, found.tables, len(found.backwards)) == (True, (), 0)
