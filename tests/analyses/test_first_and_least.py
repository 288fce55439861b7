"""What is first among what is numbered, or only just enough: figures that no built run tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.host_work import HostWork
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.chain_orders import Factor
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.dataflow.zero_operands import ZeroOperands
from gpuprof.analyses.demand.sparse_orders import SparseOrder, _effort
from gpuprof.analyses.efficiency.looked_products import looked_products
from gpuprof.analyses.efficiency.matrix_flops import FACTORS, product_flops
from gpuprof.analyses.training.repeated_passes import RepeatedPasses
from tests.analyses.accounts.cells import line
from tests.analyses.accounts.test_cell_memory import MIB, read
from tests.rules.cases.training.repeated_backward import LAYERS, steps
from tests.support.altering.reordered import with_first_name
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

SHAPES = {
    "mm": ((2, 3), (3, 5)),
    "bmm": ((4, 2, 3), (4, 3, 5)),
    "mv": ((2, 3), (3,)),
    "dot": ((3,), (3,)),
    "vdot": ((3,), (3,)),
    "linear": ((2, 3), (5, 3)),
}


@pytest.mark.parametrize("name", FACTORS)
def test_each_product_counts_its_own_two_factors(name: str) -> None:
    """Two operations for each of the pairs, whatever is added to them."""
    first, plain = FACTORS[name][0], name.removeprefix("aten::")
    kind = next((each for each in ("bmm", "linear", "vdot", "dot", "mv") if each in plain), "mm")
    left, right = SHAPES[kind]
    expected = 2 * math.prod(left) * {"mv": 1, "dot": 1, "vdot": 1}.get(kind, 5)
    assert FACTORS[name] == (first, first + 1)
    assert product_flops(name, (*((7, 7),) * first, left, right)) == expected
    assert product_flops(name, (*((7, 7),) * first, left)) is None


def test_a_shape_may_be_the_first_name() -> None:
    look = LookBuilder().tensor("x", shape=(2, 3)).tensor("w", shape=(3, 5))
    trace = look.operator("aten::mm", 1, reads="x w", makes="y", shape=(2, 5), arguments="[null, null]").build()
    for first in range(len(trace.names)):
        run = with_first_name(trace, first)
        (found,) = looked_products(run, Results(run).get(ValueGraph), np.arange(1), on_device=False)
        assert (found.flops, found.dtype, found.shapes) == (60, "float32", ((2, 3), (3, 5)))


def test_what_surrounds_all_passes_is_the_only_operator_between_them() -> None:
    """All that an operator runs on the main thread, the first one of all, is one pass."""
    assert Results(steps(20).build()).get(RepeatedPasses).repeats == 20
    assert Results(steps(20).operator("torch::region", 0, 10_000).build()).get(RepeatedPasses).repeats == 0
    apart = steps(20, between=LAYERS)
    assert Results(apart.build()).get(RepeatedPasses).repeats == 0


def test_the_effort_of_a_sparse_product_is_the_same_from_both_sides() -> None:
    """Its entries times the columns of the other one, and for each entry what it takes by itself."""
    graph, x = Factor(1000, 1000, entries=10_000, entry_columns=8), Factor(1000, 500)
    assert _effort(graph, x) == _effort(Factor(500, 1000), graph) == 10_000 * 508


def test_a_sparse_matrix_on_the_right_of_a_chain() -> None:
    """508 rows become 16, as on the left."""
    graph = Factor(1000, 1000, entries=10_000, entry_columns=8)
    factors, wide = (Factor(8, 500), Factor(500, 1000), graph), (0, (1, 2))
    found = SparseOrder.of(factors, wide, (508_000, 10_000))
    assert found.order == ((0, 1), 2)
    assert found.saved_share == pytest.approx(1 - 26_000 / 518_000)


def test_a_matrix_of_zeros_times_one_column() -> None:
    look = LookBuilder().tensor("a", shape=(400, 400), zeros_share=0.99, content=3)
    for each in range(3):
        look.tensor(f"x{each}", shape=(400, 1), content=each + 5)
        look.operator("aten::mm", 500, reads=f"a x{each}", makes="y", shape=(400, 1), iteration=each)
    (found,) = Results(look.build()).get(ZeroOperands).operands
    assert (found.left, found.free, found.count) == (True, 1, 3)


def test_loading_may_be_the_only_frame() -> None:
    """It is the first node of the tree of stacks."""
    builder = TraceBuilder().stack(0, 700, ("torch/utils/data/_utils/fetch.py", "fetch", 3)).stack(700, 300, line(2))
    found = Results(builder.build()).get(HostWork)
    assert (found.total_ns, found.loading_ns) == (1_000_000, 700_000)


def test_memory_of_no_line_and_of_an_unknown_line_are_apart() -> None:
    """Of the second file a line that is not known, and then stacks without any code of the user."""
    other = "/home/user/model.py"
    builder = TraceBuilder().stack(0, 1_000_000, line(5)).stack(1_000_000, 500_000, (other, "run", -1))
    builder.stack(1_500_000, 600_000)
    held = [300.0] * 11 + [300.0 + 50 * number for number in range(1, 9)] + [700.0, 700.0]
    grown = Results(read(builder, held, ends_ms=(100, 300, 500, 700, 900))).get(CellMemory).grown
    assert sorted(each.bytes for each in grown) == [200 * MIB, 200 * MIB]
    assert {each.source_file for each in grown} == {None, other}
