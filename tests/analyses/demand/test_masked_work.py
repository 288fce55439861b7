"""What masks throw away as a whole, in small programs that really run under the close look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.masked_work import MaskedPlace, MaskedWork
from gpuprof.analyses.demand.unread_work import Unread, UnreadWork
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.trace import Trace
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")

TURNS, BATCH, WIDTH = 12, 4, 8


def even(trace: Trace) -> Trace:
    """With operators that all take 1 µs."""
    table = trace.looked_operators
    timed = table.replace(duration_ns=np.full(len(table), 1000))
    return replace(trace, tables={**trace.tables, "looked_operators": timed})


def masked(code: Callable[[CloseLook], Any], turns: int = TURNS) -> tuple[list[MaskedPlace], Trace]:
    """Of the places those with a layer."""
    trace = even(looked_at(code, iterations=turns))
    found = Results(trace).get(MaskedWork).found
    return [each for each in found if "aten::addmm" in names(trace, each)], trace


def names(trace: Trace, place: MaskedPlace) -> set[str]:
    return {str(name) for name in trace.names_of(trace.looked_operators)[place.rows]}


def wasted(trace: Trace, place: MaskedPlace, name: str = "aten::addmm") -> float:
    """The share of the runs of all of its operators that is for nothing; those of that name are among them."""
    assert name in names(trace, place)
    return place.wasted_ns / place.rows_ns


def test_nothing_without_a_look() -> None:
    assert not Results(LookBuilder().builder.build()).get(MaskedWork).found


class Decoder:
    """A loop that generates numbers with a cache of what came before; row k of the batch is done at `ends[k]`."""

    def __init__(self, *ends: int) -> None:
        self.embedding, self.key = torch.nn.Embedding(50, WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.head = torch.nn.Linear(WIDTH, 50)
        self.ends = torch.tensor(ends)
        self.kept: list[Any] = []

    def start(self, rows: int = BATCH) -> Any:
        self.cache = torch.zeros(rows, TURNS + 1, WIDTH)
        return self.model(torch.ones(rows, dtype=torch.long), 0)

    def model(self, token: Any, at: int) -> Any:
        hidden = self.embedding(token)
        self.cache[:, at] = self.key(hidden)
        before = self.cache[:, : at + 1]
        weight = torch.bmm(before, hidden[:, :, None]).softmax(1)
        return self.head((weight * before).sum(1))

    def run(self, look: CloseLook, turns: int = TURNS) -> Any:
        out, logits = torch.zeros(BATCH, TURNS, dtype=torch.long), self.start()
        done = torch.zeros(BATCH, dtype=torch.bool)
        for at in range(turns):
            token = self.chosen(done, logits)
            out[:, at] = token
            done = self.decided(done, token, at)
            if self.leaves(done, at):
                break
            logits = self.model(token, at)
            self.keep(logits)
            look.iteration_ended()
        return out, logits, done, self.cache

    def chosen(self, done: Any, logits: Any) -> Any:
        return torch.where(done, 0, logits.argmax(-1))

    def decided(self, done: Any, token: Any, at: int) -> Any:
        done |= self.ends <= at
        return done

    def leaves(self, done: Any, at: int) -> bool:
        return False

    def keep(self, logits: Any) -> None:
        pass


@torch.no_grad()
def of(decoder: Decoder, **facts: Any) -> tuple[list[MaskedPlace], Trace]:
    return masked(lambda look: decoder.run(look, **facts))


def test_a_loop_that_goes_on_behind_the_end_of_all() -> None:
    """All are done with the sixth number: behind it the model computes seven of twelve times for nothing."""
    (place,), trace = of(Decoder(2, 5, 4, 0))
    assert place.lasting and not place.tested and not place.random
    assert [tuple(each) for each in place.turns] == [(12, 6)] and place.elements == BATCH
    assert {"aten::addmm", "aten::bmm", "aten::argmax", "aten::copy_"} <= names(trace, place)
    # 13 runs with that before the loop; what fills the cache from its beginning runs once more often than the choice
    assert wasted(trace, place) == pytest.approx(7 / 13, abs=0.03)
    assert place.ran == 12 and place.empty == 6


def test_from_the_first_iteration_that_was_looked_at() -> None:
    (place,), trace = of(Decoder(-1, -1, -1, -1))
    assert place.empty == 11
    assert wasted(trace, place) == pytest.approx(12 / 13, abs=0.03)


@pytest.mark.parametrize("ends", [(99, 99, 99, 99), (0, 0, 0, 99), (11, 11, 11, 11)])
def test_while_one_row_goes_on_all_is_needed(ends: tuple[int, ...]) -> None:
    assert of(Decoder(*ends))[0] == []


class Unfinished(Decoder):
    """As transformers does: whole numbers that are 0 where a row is finished."""

    def run(self, look: CloseLook, turns: int = TURNS) -> Any:
        self.left = torch.ones(BATCH, dtype=torch.long)
        return super().run(look, turns)

    def chosen(self, done: Any, logits: Any) -> Any:
        return logits.argmax(-1) * self.left + 0 * (1 - self.left)

    def decided(self, done: Any, token: Any, at: int) -> Any:
        self.left = self.left.mul((self.ends > at).long())
        return done


class Alive(Decoder):
    """Flags that are cleared, with a view and another type of them as factors."""

    def run(self, look: CloseLook, turns: int = TURNS) -> Any:
        self.alive = torch.ones(BATCH, dtype=torch.bool)
        return super().run(look, turns)

    def chosen(self, done: Any, logits: Any) -> Any:
        return (logits * self.alive.float()[:, None]).argmax(-1)

    def decided(self, done: Any, token: Any, at: int) -> Any:
        self.alive = torch.logical_and(self.alive, self.ends > at)
        return done


class Filled(Decoder):
    def decided(self, done: Any, token: Any, at: int) -> Any:
        return done.masked_fill_(self.ends <= at, True)

    def chosen(self, done: Any, logits: Any) -> Any:
        return logits.argmax(-1).masked_fill_(done, 0)


class Put(Decoder):
    def decided(self, done: Any, token: Any, at: int) -> Any:
        done[self.ends <= at] = True
        return done

    def chosen(self, done: Any, logits: Any) -> Any:
        return torch.where(~done, logits.argmax(-1), 0)


@pytest.mark.parametrize("kind", [Unfinished, Alive, Filled, Put])
def test_other_ways_to_write_it(kind: type[Decoder]) -> None:
    (place,), trace = of(kind(2, 5, 4, 0))
    assert place.lasting and place.ran == 12 and place.empty == 6
    assert wasted(trace, place) == pytest.approx(7 / 13, abs=0.05)


class KeepsLogits(Decoder):
    def keep(self, logits: Any) -> None:
        self.kept.append(logits)


class ReadsLogits(Decoder):
    def keep(self, logits: Any) -> None:
        self.kept.append(logits.sum().item())


class Averages(Decoder):
    def keep(self, logits: Any) -> None:
        self.kept = [(self.kept[0] if self.kept else 0.0) + logits.mean(1)]


@pytest.mark.parametrize("kind", [KeepsLogits, ReadsLogits, Averages])
def test_what_somebody_else_reads_is_needed(kind: type[Decoder]) -> None:
    assert of(kind(2, 5, 4, 0))[0] == []


class Leaves(Decoder):
    def leaves(self, done: Any, at: int) -> bool:
        return bool(done.all())


class LeavesSometimes(Decoder):
    def leaves(self, done: Any, at: int) -> bool:
        return at % 11 == 10 and bool(done.all())


def test_a_loop_that_ends_early() -> None:
    assert of(Leaves(2, 5, 4, 0))[0] == []
    (place,), _ = of(LeavesSometimes(2, 5, 4, 0))
    assert place.tested


def test_the_end_of_one_batch_and_the_beginning_of_the_next() -> None:
    """What the first one kept is freed: nobody can read it."""
    decoder = Decoder(0, 2, 1, 0)

    @torch.no_grad()
    def code(look: CloseLook) -> Any:
        first = decoder.run(look, 6)[0]
        return first, decoder.run(look, 6)

    (place,), trace = masked(code)
    assert place.ran == 12 and place.empty == 6
    # the last logits of the first one are read by nobody anyway
    assert wasted(trace, place) == pytest.approx(7 / 14, abs=0.03)


def test_a_solver_that_goes_on_when_all_have_converged() -> None:
    step, start = torch.nn.Linear(WIDTH, WIDTH), torch.rand(BATCH, WIDTH)

    @torch.no_grad()
    def code(look: CloseLook) -> Any:
        x, converged = start.clone(), torch.zeros(BATCH, dtype=torch.bool)
        for at in range(TURNS):
            x = torch.where(converged[:, None], x, x + step(x))
            converged = converged | torch.full((BATCH,), at >= 3)
            look.iteration_ended()
        return x

    (place,), trace = masked(code)
    assert place.lasting and place.empty == 8
    # the choice itself is left out, too
    assert wasted(trace, place) == pytest.approx(8 / 12, abs=0.06)


# branches


def _branch(mask: Callable[[Any, int], Any], *, graph: bool = False) -> Callable[[CloseLook], Any]:
    first, second, x = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH), torch.rand(BATCH, WIDTH)

    def code(look: CloseLook) -> Any:
        kept = []
        for at in range(TURNS):
            with torch.set_grad_enabled(graph):
                y = first(x)
                z = torch.where(mask(y, at), second(y).exp(), y)
                if graph:
                    z.sum().backward()
                kept.append(z.detach().sum().item())
            look.iteration_ended()
        return kept

    return code


def test_a_branch_that_is_never_taken() -> None:
    (place,), trace = masked(_branch(lambda y, at: y > 99))
    assert not place.lasting and place.ran == place.empty == TURNS
    # the other branch is at another line, and so is not among these
    assert names(trace, place) == {"aten::addmm", "aten::exp"}
    assert place.wasted_ns == place.rows_ns


@pytest.mark.parametrize(
    "mask",
    [
        lambda y, at: y > y.mean(),
        lambda y, at: y > (99 if at % 2 else -99),
        lambda y, at: y > -99,
        lambda y, at: torch.arange(BATCH)[:, None] > 1,
    ],
)
def test_a_branch_that_is_taken_in_part_or_at_times(mask: Callable[[Any, int], Any]) -> None:
    assert masked(_branch(mask))[0] == []


def test_where_a_backward_pass_goes_through_it_is_needed() -> None:
    assert masked(_branch(lambda y, at: y > 99, graph=True))[0] == []


def test_a_mask_of_the_values_that_it_throws_away_is_known_too_late() -> None:
    layer, x = torch.nn.Linear(WIDTH, WIDTH), torch.rand(BATCH, WIDTH)

    @torch.no_grad()
    def code(look: CloseLook) -> Any:
        kept = []
        for _ in range(TURNS):
            y = layer(x)
            kept.append(torch.where(y > 99, y, 0.0).sum().item())
            look.iteration_ended()
        return kept

    assert masked(code)[0] == []


def test_an_index_that_chooses_nothing() -> None:
    layer, x = torch.nn.Linear(WIDTH, WIDTH), torch.rand(BATCH, WIDTH)

    @torch.no_grad()
    def code(look: CloseLook) -> Any:
        kept = []
        for _ in range(TURNS):
            chosen = x[:, 0] > 99
            kept.append(layer(x)[chosen].sum().item())
            look.iteration_ended()
        return kept

    found, trace = masked(code)
    # no mask decides there, but the number of elements: it is work that nobody reads
    assert found == [] and {each.kind for each in Results(trace).get(UnreadWork).places} == {Unread.RESULTS}


def test_healthy_masks() -> None:
    """Causal and padding masks, dropout, the mask of a loss, and flags of beams of which some go on."""
    attention = torch.nn.MultiheadAttention(WIDTH, 2, dropout=0.1, batch_first=True)
    x, layer = torch.rand(BATCH, 6, WIDTH), torch.nn.Linear(WIDTH, WIDTH)
    causal, padding = (
        torch.ones(6, 6, dtype=torch.bool).triu(1),
        torch.arange(6)[None] >= torch.tensor([[6], [4], [5], [6]]),
    )
    optimizer = torch.optim.SGD([*attention.parameters(), *layer.parameters()], lr=0.01)

    def code(look: CloseLook) -> Any:
        kept, finished = [], torch.zeros(BATCH, dtype=torch.bool)
        for at in range(6):
            y = layer(attention(x, x, x, attn_mask=causal, key_padding_mask=padding)[0])
            loss = ((y - x).square().mean(-1) * ~padding).sum() / (~padding).sum()
            weight = torch.where(padding, 0.0, y.detach().sum(-1).clamp(min=1e-3))
            finished |= torch.arange(BATCH) <= at - 4
            kept.append(torch.where(finished[:, None], -torch.inf, weight).topk(2).values)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            look.iteration_ended()
        return kept

    assert masked(code, 6)[0] == []
