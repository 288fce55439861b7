"""What of the repeated operators counts, and which chains they form."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.repeated_chains import Again
from gpuprof.analyses.dataflow.repeated_work import RepeatedWork
from gpuprof.model.kinds import ValueKind
from tests.support.look_builder import LookBuilder


def found(look: LookBuilder) -> RepeatedWork:
    return Results(look.build()).get(RepeatedWork)


def lines(results: Results, places: tuple[int, ...]) -> list[int]:
    look = results.context.look
    assert look is not None
    return [look.places[place].line for place in places]


def test_a_mask_made_in_each_iteration_is_a_chain_with_its_last_result() -> None:
    look = LookBuilder()
    for each in range(3):
        look.operator("aten::ones", 10, makes="ones", line=2, iteration=each)
        look.operator("aten::triu", 20, reads="ones", makes="upper", line=2, iteration=each)
        look.operator("aten::_to_copy", 10, reads="upper", makes="mask", line=3, iteration=each, elements=1 << 20)
        look.tensor(f"x{each}").operator("aten::where", 60, reads=f"mask x{each}", makes="y", line=4, iteration=each)
    results = Results(look.build())
    work = results.get(RepeatedWork)
    (chain,) = work.chains
    assert work.share == chain.share == pytest.approx(0.3)  # the fill does not count
    assert chain.again is Again.EACH_ITERATION and len(chain.rows) == 4  # of the later two iterations
    assert chain.names == ("aten::triu", "aten::_to_copy")
    assert (lines(results, chain.places), lines(results, chain.kept)) == ([2, 3], [3])
    assert lines(results, (chain.read_at,)) == [4]
    assert chain.kept_bytes == (4 << 20,)
    assert chain.place_shares == pytest.approx((2 / 3, 1 / 3))


def test_a_backbone_run_several_times_on_each_batch_repeats_within_an_iteration() -> None:
    look = LookBuilder().tensor("weight")
    for each in range(2):
        look.tensor(f"x{each}")
        for _ in range(4):
            look.operator("aten::mm", 20, reads=f"x{each} weight", makes="h", line=5, iteration=each)
            look.operator("aten::bernoulli", 5, reads="h", makes="y", random=True, line=6, iteration=each)
    (chain,) = found(look).chains
    assert chain.again is Again.WITHIN_ITERATION and len(chain.rows) == 3
    assert chain.share == pytest.approx(60 / 100)


def test_what_is_multiplied_by_nothing_but_zeros_is_equal_by_chance() -> None:
    """Silence between two volleys, and the weights stay for that long."""
    for fill, share in (("aten::zeros", 0.0), ("aten::ones", 20 / 30), ("aten::rand", 0.0)):
        look = LookBuilder().tensor("weight")
        for each in range(3):
            look.operator(fill, 10, makes="x", random=fill == "aten::rand", iteration=each)
            look.operator("aten::mm", 20, reads="x weight", makes="h", line=5, iteration=each)
        assert found(look).share == pytest.approx(share)


def test_without_iterations_all_counts() -> None:
    look = LookBuilder().tensor("k")
    for _ in range(4):
        look.operator("aten::linalg_inv_ex", 10, reads="k", makes="inverse")
    work = found(look)
    assert work.share == pytest.approx(0.75) and work.chains[0].again is Again.UNKNOWN


def test_calculations_that_do_not_meet_are_chains_of_their_own_largest_first() -> None:
    look = LookBuilder().tensor("k").tensor("m")
    for _ in range(2):
        look.operator("aten::log", 1, reads="m", makes="b", line=7).operator(
            "aten::exp", 9, reads="k", makes="a", line=3
        )
    assert [chain.names for chain in found(look).chains] == [("aten::exp",), ("aten::log",)]


def test_a_write_that_leaves_weights_as_they_were_is_not_blamed() -> None:
    for kind, share in ((ValueKind.PARAMETER, 0), (ValueKind.OPTIMIZER_STATE, 0), (ValueKind.GRADIENT, 0), (0, 0.5)):
        look = LookBuilder().tensor("zero", content=1).tensor("w", content=2)
        for each in range(2):
            look.operator(
                "aten::add_",
                10,
                reads="w zero",
                writes="w",
                content=2,
                iteration=-1,
                scalars=each * 0,
                kind=ValueKind(kind),
            )
        assert found(look).share == share


def test_activation_checkpointing_computes_again_what_it_has_to() -> None:
    look = LookBuilder().tensor("w")
    for each in range(2):
        look.tensor(f"x{each}").operator("aten::mm", 10, reads=f"x{each} w", makes="h", iteration=each)
        look.operator("aten::mm", 10, reads=f"x{each} w", makes="h", iteration=each, backward=True)
        look.operator("aten::mm", 10, reads=f"x{each} w", makes="h", iteration=each, backward=True)
    assert found(look).share == 0


def test_the_derivative_of_what_stays_the_same_goes_with_it() -> None:
    look = LookBuilder().tensor("g")
    for each in range(3):
        look.operator("aten::mul", 10, reads="g", makes="h", iteration=each, backward=True)
    assert found(look).share == 0


def test_two_backward_passes_of_the_same_are_one_too_many() -> None:
    look = LookBuilder()
    for each in range(2):
        look.tensor(f"g{each}")
        for _ in range(2):
            look.operator("aten::mm", 10, reads=f"g{each}", makes="h", iteration=each, backward=True)
    assert found(look).share == 0.5


def test_what_makes_nothing_is_no_work_to_keep() -> None:
    look = LookBuilder().tensor("x")
    for _ in range(3):
        look.operator("aten::_local_scalar_dense", 10, reads="x").looked("aten::view", "x")
    assert found(look).share == 0


def test_filling_a_row_is_work_and_filling_a_tensor_is_none() -> None:
    look = LookBuilder()
    for _ in range(2):
        look.operator("aten::zeros", 30, makes="t").view("row", "t", view=3, elements=8)
        look.operator("aten::fill_", 10, writes="row", scalars=4)
    assert found(look).share == pytest.approx(10 / 80)


def test_nothing_looked_at() -> None:
    work = found(LookBuilder())
    assert (work.share, work.chains) == (0.0, ())


@pytest.mark.parametrize(
    ("iterations", "again"),
    [
        ((0, 0), Again.WITHIN_ITERATION),
        ((3, 3), Again.WITHIN_ITERATION),
        ((0, 1), Again.EACH_ITERATION),
        ((-1, 0), Again.UNKNOWN),
        ((0, -1), Again.UNKNOWN),
        ((-1, -1), Again.UNKNOWN),
    ],
)
def test_whether_work_repeats_within_an_iteration_or_from_one_to_the_next(
    iterations: tuple[int, int], again: Again
) -> None:
    look = LookBuilder().tensor("x").tensor("weight")
    for each in iterations:
        look.operator("aten::mm", 20, reads="x weight", makes="h", iteration=each)
    (chain,) = found(look).chains
    assert chain.again is again


def test_what_the_very_first_operator_makes_joins_those_that_read_it() -> None:
    look = LookBuilder().tensor("x").tensor("weight")
    for _ in range(2):
        look.operator("aten::mm", 20, reads="x weight", makes="h", line=2, iteration=0)
        look.operator("aten::mm", 20, reads="h weight", makes="y", line=3, iteration=0)
    (chain,) = found(look).chains
    assert len(chain.rows) == 2


@pytest.mark.parametrize("lasting", [(10, 20), (20, 10)])
def test_the_chain_that_takes_most_comes_first(lasting: tuple[int, int]) -> None:
    look = LookBuilder().tensor("x").tensor("weight")
    for each in range(3):
        for line, for_us in zip((2, 3), lasting, strict=True):
            look.operator(
                "aten::mm", for_us, reads="x weight", makes=f"y{line}", scalars=line, line=line, iteration=each
            )
    chains = found(look).chains
    assert [each.share for each in chains] == pytest.approx([2 / 3, 1 / 3])


def states(*state_of_iteration: str) -> RepeatedWork:
    """In each iteration something is computed of the state then, and of a proposal: the next states were proposed."""
    look = LookBuilder()
    for name in dict.fromkeys(state_of_iteration):
        look.tensor(name)
    for each, state in enumerate(state_of_iteration):
        look.operator("aten::mv", 20, reads=state, makes=f"kept{each}", line=5, iteration=each)
        look.tensor(f"p{each}").operator("aten::mv", 20, reads=f"p{each}", makes=f"new{each}", line=6, iteration=each)
    return found(look)


@pytest.mark.parametrize(
    ("state_of_iteration", "again"),
    [
        (("a", "a", "a", "a", "a"), Again.EACH_ITERATION),
        (("a", "a", "b", "b", "b", "c", "c", "d", "d"), Again.LAST_ITERATION),
        (("a", "a", "b", "b"), Again.LAST_ITERATION),
        (("a", "b", "a", "b", "a", "b"), Again.EACH_ITERATION),  # in turns: both are to be kept
        (("a", "a", "b", "b", "a", "a"), Again.EACH_ITERATION),
    ],
)
def test_what_changes_now_and_then_is_the_same_as_in_the_iteration_before(
    state_of_iteration: tuple[str, ...], again: Again
) -> None:
    (chain,) = states(*state_of_iteration).chains
    assert chain.again is again


@pytest.mark.parametrize("graphs", [(False, False), (True, False), (False, True)])
def test_autograd_recorded_it_or_what_it_repeats(graphs: tuple[bool, bool]) -> None:
    look = LookBuilder().tensor("a")
    for each, graph in enumerate(graphs):
        look.operator("aten::mm", 20, reads="a a", makes="b", line=5, iteration=0, graph=graph)
        look.tensor(f"x{each}").operator("aten::mm", 20, reads=f"b x{each}", makes="y", iteration=0, graph=True)
    (chain,) = found(look).chains
    assert len(chain.rows) == 1 and chain.graph is any(graphs)


def test_the_line_that_most_of_the_time_was_called_from() -> None:
    look = LookBuilder().tensor("a")
    for for_us, by_lines in ((30, (7, 1)), (50, (8,)), (40, (7, 2)), (20, ()), (60, ())):
        look.operator("aten::mm", for_us, reads="a a", makes="b", line=5, by_lines=by_lines)
    results = Results(look.build())
    called = results.get(LookedLines)
    place, share = called.called_from(results, np.arange(4))
    assert lines(results, (place,)) == [7] and share == pytest.approx(70 / 140)
    assert called.called_from(results, np.arange(5)) == called.called_from(results, np.arange(0)) == (-1, 0.0)
