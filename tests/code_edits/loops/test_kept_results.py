from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.kept_results import keep_without_graph
from tests.code_edits.executed import assert_rest_is_kept, run

TRAINED = """\
import torch
criterion = nn.CrossEntropyLoss()
net = nn.Linear(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=16):
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
VALIDATED = (
    TRAINED
    + """\
    held = 0
    for x, y in DataLoader(data, batch_size=16):
        held += criterion(net(x), y)
    held = held / 4
    shown = held.detach()
"""
)
COLLECTED = """\
import torch
net = nn.Linear(8, 4)
held = []
for x, y in DataLoader(data, batch_size=16):
    out = net(x)
    held.append(out)
shown = torch.cat(held).detach()
"""
WATCHED = (
    TRAINED.replace("for epoch", "held = []\nfor epoch").replace(
        "        opt.step()\n", "        opt.step()\n        held.append(net(x).relu() + 1)\n"
    )
    + "shown = torch.stack(held).detach()\n"
)


@pytest.mark.parametrize("cell", [VALIDATED, COLLECTED, WATCHED], ids=["summed", "collected", "beside training"])
def test_what_is_kept_has_the_same_values_and_no_graph(cell: str) -> None:
    after = keep_without_graph(cell, "held", {"net"})
    assert after is not None
    assert_rest_is_kept(cell, after)
    before, changed = run(cell), run(after)
    assert bool((before["shown"] == changed["shown"]).all())
    with_graph, without = (
        each["held"][0] if isinstance(each["held"], list) else each["held"] for each in (before, changed)
    )
    assert with_graph.requires_grad and not without.requires_grad


def test_a_loop_that_only_evaluates_records_nothing() -> None:
    after = keep_without_graph(VALIDATED, "held", {"net"})
    assert after is not None and "    with torch.no_grad():\n        for x, y in" in after
    assert "net(x)" in after and ".append(out)\n" in (keep_without_graph(COLLECTED, "held", {"net"}) or "")


def test_a_loop_that_trains_keeps_its_graphs_but_for_the_result() -> None:
    after = keep_without_graph(WATCHED, "held", {"net"})
    assert after is not None and "held.append((net(x).relu() + 1).detach())" in after and "no_grad" not in after


@pytest.mark.parametrize(
    "end",
    [
        "held[0].sum().backward()\n",
        "whole = torch.stack(held)\nwhole.sum().backward()\n",
        "for each in held:\n    (each ** 2).sum().backward()\n",
        "grads = torch.autograd.grad(held[0].sum(), net.parameters())\n",
        "update(held)\n",
        "held.extend([out])\n",
        "held.append(loss)\n" * 2 + "for x in y:\n    held.append(x)\n",
    ],
)
def test_what_may_need_its_graph_stays(end: str) -> None:
    assert keep_without_graph(COLLECTED + end, "held", {"net"}) is None


@pytest.mark.parametrize("value", ["(x, out)", "[out]", "out.item()", "out.detach()", "3"])
def test_only_a_tensor_that_stands_alone_is_changed(value: str) -> None:
    assert keep_without_graph(COLLECTED.replace("append(out)", f"append({value})"), "held", {"net"}) is None


def test_what_else_leaves_the_loop_keeps_its_graph() -> None:
    after = keep_without_graph(COLLECTED + "out.sum().backward()\n", "held", {"net"})
    assert after is not None and "held.append(out.detach())" in after and "no_grad" not in after
    # the hidden state of the turn before
    state = "import torch\nheld, h = [], torch.zeros(4)\nfor x in y:\n    h = net(x) + h\n    held.append(h)\n"
    assert keep_without_graph("for e in z:\n    q = h\n    " + "    ".join(state.splitlines(True)[2:]), "held", {"net"})


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_a_loop_without_gradients_stays(mode: str) -> None:
    head, loop = COLLECTED.split("for x, y", 1)
    inside = "".join(f"    {line}" for line in ("for x, y" + loop).splitlines(True))
    assert keep_without_graph(f"{head}with torch.{mode}():\n{inside}", "held", {"net"}) is None


def test_nothing_fills_it() -> None:
    assert keep_without_graph(COLLECTED, "other") is None and keep_without_graph("for x in", "held") is None
