"""Loops over small pieces, in real looks: which turns need an earlier one, and which do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.turns.separate_turns import SeparateLoop, SeparateTurns
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at
from tests.support.trace_builder import TraceBuilder

N = 20


def found_in(code: Callable[[], Any]) -> tuple[SeparateLoop, ...]:
    return Results(looked_at(lambda look: code())).get(SeparateTurns).loops


def rows() -> torch.Tensor:
    return torch.arange(5.0 * N).reshape(N, 5) / 100


def added() -> Any:
    x, loss = rows(), torch.zeros(())
    for i in range(N):
        loss = loss + (x[i] - x).square().sum()
    return loss


def two_sums_in_one_line() -> Any:
    x, loss = rows(), torch.zeros(())
    for i in range(N):
        loss = loss + x[i].exp().sum() - x[i].max()
    return loss


def kept_in_a_list() -> Any:
    return torch.stack([row.sin().sum() for row in rows()])


def joined() -> Any:
    out = torch.empty(0)
    for row in rows():
        out = torch.cat([out, row.sin().sum().reshape(1)])
    return out


def written_to_its_place() -> Any:
    x, out = rows(), torch.zeros(N)
    for i in range(N):
        out[i] = x[i].cos().prod()
    return out


def changed_in_its_place() -> Any:
    x = rows()
    for i in range(N):
        x[i] = x[i].softmax(0).square()
    return x


def random_ones() -> Any:
    return [(torch.rand(3) * row.sum()).max() for row in rows()]


def the_most_of_all() -> Any:
    most = torch.tensor(-1.0)
    for row in rows():
        most = torch.maximum(most, row.sin().sum())
    return most


def read_by_python() -> Any:
    x = rows()
    return [x[i].sin().sum().item() for i in range(N)]


def inner_loops_of_a_recurrence() -> Any:
    x, state = rows(), torch.ones(5)
    for _ in range(3):
        state = torch.stack([(row * state).sum().tanh() for row in x])[:5]
    return state


SEPARATE = [
    added,
    two_sums_in_one_line,
    kept_in_a_list,
    joined,
    written_to_its_place,
    changed_in_its_place,
    random_ones,
    the_most_of_all,
    read_by_python,
    inner_loops_of_a_recurrence,
]


@pytest.mark.parametrize("code", SEPARATE)
def test_turns_that_need_no_other(code: Callable[[], Any]) -> None:
    (loop,) = found_in(code)
    assert abs(loop.turns - N) <= 1
    assert loop.runs == (3 if code is inner_loops_of_a_recurrence else 1)
    assert loop.random == (code is random_ones)


def recurrence() -> Any:
    h = torch.zeros(5)
    for row in rows():
        h = (h + row).tanh()
    return h


def recurrence_in_a_buffer() -> Any:
    x, out = rows(), torch.zeros(N + 1, 5)
    for i in range(N):
        out[i + 1] = out[i] * 0.9 + x[i]
    return out


def neighbours_in_place() -> Any:
    x = rows()
    for i in range(1, N - 1):
        x[i] = (x[i - 1] + x[i + 1]) / 2
    return x


def queue() -> Any:
    waits = torch.zeros(())
    for row in rows():
        waits = torch.maximum(waits + row.sum(), torch.zeros(()))
    return waits


def generated() -> Any:
    table, ids = rows(), torch.zeros(1, dtype=torch.long)
    for _ in range(N):
        ids = torch.cat([ids, table[ids].sum(1).argmax().reshape(1)])
    return ids


def sums_of_sums() -> Any:
    small = large = torch.zeros(())
    for row in rows():
        small = small + row.sum()
        large = large + small
    return large


def by_way_of_a_number() -> Any:
    x, at = rows(), 1.0
    for _ in range(N):
        at = (x * at).mean().tanh().item() + 0.3
    return at


def by_way_of_a_new_tensor() -> Any:
    state = [0.1, 0.2]
    for _ in range(N):
        state = (torch.tensor(state) * 2).sin().tolist()
    return state


def by_way_of_an_index() -> Any:
    x, at = rows(), 0
    for _ in range(N):
        at = int(x[at].sum().mul(17).item()) * 7 % N
    return at


def by_way_of_numpy() -> Any:
    x = torch.ones(4)
    for _ in range(N):
        x = torch.from_numpy(x.sin().numpy() + 1)
    return x


def a_search_that_seldom_gets_on() -> Any:
    torch.manual_seed(0)
    best, at = 1e-3, torch.zeros(3)
    for _ in range(N):
        tried = at + torch.randn(3)
        value = tried.square().sum().item()
        if value < best:
            best, at = value, tried
    return at


def trained() -> Any:
    weight = torch.nn.Parameter(torch.ones(5))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for row in rows():
        optimizer.zero_grad()
        (row @ weight).square().backward()
        optimizer.step()
    return weight


def averaged() -> Any:
    mean = torch.zeros(5)
    for row in rows():
        mean.mul_(0.9).add_(row.sin(), alpha=0.1)
    return mean


NEEDED = [
    recurrence,
    recurrence_in_a_buffer,
    neighbours_in_place,
    queue,
    generated,
    sums_of_sums,
    by_way_of_a_number,
    by_way_of_a_new_tensor,
    by_way_of_an_index,
    by_way_of_numpy,
    a_search_that_seldom_gets_on,
    trained,
    averaged,
]


@pytest.mark.parametrize("code", NEEDED)
def test_turns_that_need_an_earlier_one(code: Callable[[], Any]) -> None:
    assert found_in(code) == ()


def large_pieces() -> Any:
    x = torch.ones(N, 5000)
    return [x[i].sin().exp() for i in range(N)]


def batches() -> Any:
    model, x = torch.nn.Linear(5, 3), torch.ones(8 * N, 5)
    with torch.no_grad():
        return [model(x[i : i + 8]).relu() for i in range(0, 8 * N, 8)]


def a_model_each() -> Any:
    models, x = [torch.nn.Linear(5, 3) for _ in range(N)], torch.ones(5)
    return [model(x) for model in models]


def averages_of_weights() -> Any:
    model = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(N)))
    means: dict[str, torch.Tensor] = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    for _ in range(2):
        for name, weight in model.named_parameters():
            means[name] = means[name] * 0.9 + weight.detach() * 0.1
    return means


def only_views() -> Any:
    x = rows()
    return [x[i][None] for i in range(N)]


def few_turns() -> Any:
    return [row.sin().exp() for row in rows()[:15]]


@pytest.mark.parametrize("code", [large_pieces, batches, a_model_each, averages_of_weights, only_views, few_turns])
def test_pieces_that_are_no_small_parts_of_a_whole(code: Callable[[], Any]) -> None:
    assert found_in(code) == ()


def test_what_is_said_of_a_loop() -> None:
    def samples() -> Any:
        model, x = torch.nn.Linear(5, 3), rows()
        loss = torch.zeros(())
        for i in range(N):
            loss = loss + model(x[i]).exp().sum()
        loss.backward()  # type: ignore[no-untyped-call]

    (loop,) = found_in(samples)
    assert (loop.indexed, loop.turns, loop.runs, loop.random) == ("[20, 5]", 20, 1, False)
    assert loop.made in (1, 3)
    assert 0 < loop.backward_share < loop.share <= 1
    assert "aten::addmm" in loop.names and loop.head in loop.places


def test_nothing_looked_at() -> None:
    assert found_in(lambda: None) == ()
    assert Results(TraceBuilder().build()).get(SeparateTurns).loops == ()


STEPS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "sin": lambda x, y: x.sin(),
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "maximum": lambda x, y: torch.maximum(x, y),
    "sub": lambda x, y: y - x,
    "softmax": lambda x, y: x.softmax(0),
    "copy": lambda x, y: y.clone().copy_(x),
}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=0, max_size=3),
    st.integers(16, 24),
)
# what is copied over all of a tensor is the first thing that is read
@example(["add", "copy", "mul"], [], 16)
def test_a_loop_with_a_carried_value_is_never_reported(chain: list[str], before: list[str], turns: int) -> None:
    """The value goes through a recurrence (the sine) and whatever else in each turn; without it, it is reported."""
    for carried in (True, False):

        def code(carried: bool = carried) -> Any:
            x, state, kept = torch.rand(turns, 4), torch.zeros(4), []
            for i in range(turns):
                value = x[i]
                for name in before:
                    value = STEPS[name](value, x[i])
                value = (value + state).sin() if carried else (value + x[i]).sin()
                for name in chain:
                    value = STEPS[name](value, x[i])
                if carried:
                    state = value
                kept.append(value)
            return kept

        assert bool(found_in(code)) is not carried


def test_large_weights_that_change_between_runs_are_no_pieces() -> None:
    def code() -> Any:
        weight, x, kept = torch.ones(200, 200) / 200, torch.rand(N, 200), []
        for _ in range(4):
            kept.append(torch.stack([(row @ weight).tanh() for row in x]))
            weight = weight * 0.9
        return kept

    (loop,) = found_in(code)
    assert loop.runs == 4


def test_turns_begin_where_no_value_goes_from_one_to_the_next() -> None:
    look = LookBuilder().tensor("s").tensor("x")
    for _ in range(N):
        # the sine reads what the turn before has made, if a turn begins with it
        look.operator("aten::sin", 1, reads="s", makes="y", line=2, shape=(4,))
        look.operator("aten::exp", 1, reads="x", makes="s", line=1, shape=(4,))
    (loop,) = Results(look.build()).get(SeparateTurns).loops
    assert loop.turns >= N - 1 and len(loop.rows) >= 2 * N - 2


@pytest.mark.parametrize(("ended_by", "found"), [("operators", 1), ("seconds", 1), ("cell", 0), ("iterations", 0)])
def test_fewer_turns_do_where_the_look_was_cut_off(ended_by: str, found: int) -> None:
    look = LookBuilder().tensor("x")
    for _ in range(5):
        look.operator("aten::exp", 1, reads="x", makes="y", shape=(4,)).operator("aten::sin", 1, reads="y", makes="z")
    assert len(Results(look.build(ended_by=ended_by)).get(SeparateTurns).loops) == found
