"""Sparse tensors under the close look: told by what they consist of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.repeated_work import RepeatedWork
from gpuprof.analyses.dataflow.value_numbers import ValueNumbers
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.context import RunContext
from gpuprof.model.look_schema import LOOKED, PARTS
from gpuprof.model.trace import Source, Trace, empty_tables
from tests.capture.look.looks import look_at

N = 40
GENERATOR = torch.Generator().manual_seed(3)
EDGES = torch.randint(0, N, (2, 200), generator=GENERATOR)
X = torch.rand(N, 4, generator=GENERATOR)

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support"),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks"),
]


def adjacency(edges: torch.Tensor = EDGES, scale: float = 1.0) -> torch.Tensor:
    values = torch.ones(edges.shape[1]) * scale
    return torch.sparse_coo_tensor(edges, values, (N, N)).coalesce()


def trace_of(code: Callable[[int], Any], iterations: int = 3) -> Trace:
    look = CloseLook(__file__, iterations=iterations, most_seconds=60.0)
    with look:
        for iteration in range(iterations):
            code(iteration)
            look.iteration_ended()
    assert look.failure is None
    tables, said = look.result()
    named = {schema.name: table for schema, table in zip(LOOKED, tables, strict=True)}
    return Trace(Source("x"), said.names, {**empty_tables(), **named}, 0, 1, context=RunContext(look=said))


def repeated(trace: Trace) -> set[str]:
    """The names of operators of later iterations that need not have run."""
    work = Results(trace).get(RepeatedWork)
    rows = (work.repeated & work.steady).nonzero()[0]
    return {own_name(str(name)) for name in trace.names_of(trace.looked_operators.take(rows))}


@pytest.mark.parametrize(
    ("layout", "converted"), [("to_sparse_csr", "_to_sparse_csr"), ("to_sparse_csc", "_to_sparse_csc")]
)
def test_a_matrix_that_is_built_in_each_iteration_is_repeated(layout: str, converted: str) -> None:
    found = repeated(trace_of(lambda _: getattr(adjacency(), layout)() @ X))
    assert {"_coalesce", converted, "mm"} <= found


def test_its_product_with_something_new_is_not() -> None:
    found = repeated(trace_of(lambda iteration: adjacency().to_sparse_csr() @ (X + iteration)))
    assert "_coalesce" in found and not found & {"mm", "addmm", "_sparse_mm", "add"}


@pytest.mark.parametrize(
    "code",
    [
        lambda iteration: adjacency(
            EDGES.roll(iteration, 1).flip(0) if iteration % 2 else EDGES.roll(1 + iteration, 1)
        ),
        lambda iteration: adjacency(scale=1.0 + iteration),
        lambda iteration: adjacency(EDGES[:, : 100 + iteration]),
    ],
    ids=["indices", "values", "entries"],
)
def test_another_matrix_is_none_that_was_built_before(code: Callable[[int], torch.Tensor]) -> None:
    assert "_coalesce" not in repeated(trace_of(code))


def test_shapes_count() -> None:
    def code(iteration: int) -> torch.Tensor:
        return torch.sparse_coo_tensor(EDGES, torch.ones(200), (N + iteration, N)).coalesce()

    assert "_coalesce" not in repeated(trace_of(code))


def test_what_is_written_to_its_values_changes_it() -> None:
    matrix = adjacency().to_sparse_csr()

    def code(_: int) -> None:
        matrix @ X
        matrix.values().mul_(2.0)

    assert not repeated(trace_of(code)) & {"mm", "addmm", "_sparse_mm"}


def test_and_what_is_written_to_it_as_a_whole() -> None:
    matrix = adjacency().to_sparse_csr()

    def code(_: int) -> None:
        matrix @ X
        matrix.mul_(2.0)

    assert not repeated(trace_of(code)) & {"mm", "addmm", "_sparse_mm"}


def test_a_matrix_that_is_kept_is_the_same_each_time() -> None:
    matrix = adjacency().to_sparse_csr()
    assert repeated(trace_of(lambda _: matrix @ X)) & {"mm", "addmm", "_sparse_mm"}


def test_equal_content_from_elsewhere_is_equal() -> None:
    """GIVEN matrices that were made before the look, each anew THEN their fingerprints tell that they are equal."""
    # `coalesce` allocates for all entries that it is given, and leaves the rest as it is
    made = [adjacency().to_sparse_csr().clone() for _ in range(3)]
    other = [adjacency(scale=2.0 + each).to_sparse_csr().clone() for each in range(3)]
    assert repeated(trace_of(lambda iteration: made[iteration] @ X))
    assert not repeated(trace_of(lambda iteration: other[iteration] @ X))


def test_what_it_consists_of_has_rows_of_its_own() -> None:
    found = look_at(functools.partial(torch.matmul, adjacency().to_sparse_csr(), X))
    rows = found.reads.take(found.reads["position"] >= PARTS)
    assert len(rows) == 3 and (rows["value"] >= 0).all()
    whole = found.reads.take(found.reads["value"] < 0)
    assert len(whole) == 1 and whole["view"][0] != 0 and whole["elements"][0] == -1
    assert found.facts.unseen_writes == 0


def test_gradients_and_values_are_those_without_the_look() -> None:
    def train() -> tuple[torch.Tensor, torch.Tensor]:
        weight = torch.ones(4, 3, requires_grad=True)
        (torch.sparse.mm(adjacency().to_sparse_csr(), X @ weight) ** 2).sum().backward()
        assert weight.grad is not None
        return weight.grad, adjacency().to_dense()

    plain, looked = train(), list[Any]()
    look_at(lambda: looked.extend(train()))
    assert all(torch.equal(one, other) for one, other in zip(plain, looked, strict=True))


def test_first_equals_are_within_what_ran() -> None:
    trace = trace_of(lambda _: adjacency().to_sparse_csr() @ X)
    first = Results(trace).get(ValueNumbers).first
    assert (first < range(len(first))).all()
