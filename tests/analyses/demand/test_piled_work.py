"""What backward passes compute for gradients that nobody uses, in real looks."""

from __future__ import annotations

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.piled_work import PiledWork
from gpuprof.capture.look.close_look import CloseLook
from tests.support.looked_runs import looked_at

SIZE = 64


def seen(*, frozen: bool = False, beside: bool = False, stepping: bool = False) -> PiledWork:
    """Of a model whose weights no optimizer has, and an input that is trained through it, or (`beside`) a weight beside
    it; `stepping`: the optimizer has the model, too."""
    model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.Tanh(), torch.nn.Linear(SIZE, SIZE))
    model.requires_grad_(not frozen)
    design = torch.rand(SIZE, SIZE, requires_grad=True)
    given = torch.rand(SIZE, SIZE)
    optimizer = torch.optim.SGD([design, *(model.parameters() if stepping else ())], lr=0.1)

    def run(look: CloseLook) -> None:
        for _ in range(3):
            optimizer.zero_grad()
            made = model(given) * design if beside else model(design)
            made.square().sum().backward()
            optimizer.step()
            look.iteration_ended()

    return Results(looked_at(run, iterations=4)).get(PiledWork)


def test_weights_on_the_way_to_an_input() -> None:
    """Half of what backward does at each layer: the gradients of what comes before are needed."""
    found = seen()
    assert found.gradients == 4 and 0 < found.share < 0.7 and 0.2 < found.part <= 1


def test_a_model_beside_what_is_trained() -> None:
    """All that goes back through it."""
    beside = seen(beside=True)
    assert beside.gradients == 4 and len(beside.rows) > len(seen().rows) and beside.part == 1


@pytest.mark.parametrize("facts", [{"frozen": True}, {"stepping": True}])
def test_where_nothing_piles_up(facts: dict[str, bool]) -> None:
    found = seen(**facts)
    assert (found.gradients, found.share, found.part, len(found.rows)) == (0, 0, 0, 0)
