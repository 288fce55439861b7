"""Where gradients that nobody reads end."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.unread_ends import end_in_a_model, rows_of
from gpuprof.analyses.demand.unread_work import Unread, UnreadWork
from gpuprof.rules.needless.unread import amount
from gpuprof.rules.needless.unread_gradients import _change
from tests.rules.needless.test_product_order import looked_cell

FIELD = """import torch
from torch import nn
model = nn.Sequential(nn.Linear(3, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1))
opt = torch.optim.Adam(model.parameters())
def step():
    z = torch.rand(512, 3).requires_grad_(True)
    slope = torch.autograd.grad(model(z).sum(), z, create_graph=True)[0]
    loss = (slope ** 2).mean() + (model(z) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CRITIC = """import torch
from torch import nn
maker, critic = (nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64)) for _ in range(2))
opts = [torch.optim.Adam(each.parameters()) for each in (maker, critic)]
def step():
    noise = torch.rand(256, 64)
    for opt, sign in zip(opts, (1, -1)):
        loss = sign * critic(maker(noise)).mean()
        opts[0].zero_grad()
        opts[1].zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(("source", "in_model"), [(FIELD, False), (CRITIC, True)])
def test_gradients_of_inputs_and_of_weights(source: str, in_model: bool) -> None:
    results = Results(looked_cell(source, "step()"))
    places = [each for each in results.get(UnreadWork).places if each.kind is Unread.GRADIENTS]
    assert places and end_in_a_model(results.get(ValueGraph), rows_of(places)) is in_model
    found = amount(results, Unread.GRADIENTS)
    if found is not None and not in_model:
        assert "loss.backward(inputs=list(model.parameters()))" in _change(results, found, shown=False)
