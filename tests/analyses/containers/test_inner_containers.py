"""Containers in attributes of objects that a name holds."""

from __future__ import annotations

import pytest

from gpuprof.analyses.containers.inner_containers import inner_container
from gpuprof.model.memory import HolderLevel

TRAINER = """class Trainer:
    def __init__(self, lr):
        self.net = build()
        self.history = []
    def fit(self):
        for epoch in range(7):
            {fill}
        return self
runs = {{}}
for lr in rates:
    runs[lr] = Trainer(lr).fit()
for lr, run in runs.items():
    {use}
"""
LEVELS = (
    HolderLevel(kind="dict", items=4, step="[…]"),
    HolderLevel(kind="Trainer", items=2, step=".history"),
    HolderLevel(kind="list", items=7, step="[…]"),
    HolderLevel(kind="dict", items=2, step='["state"]'),
)
BEST = 'best = min(run.history, key=score)\n    run.net.load(best["state"])'


def text(fill: str = "self.history.append(state())", use: str = BEST) -> str:
    return TRAINER.format(fill=fill, use=use)


def test_the_attribute_its_lines_and_the_item_that_is_taken() -> None:
    found = inner_container([text()], "runs", LEVELS)
    assert found is not None and (found.name, found.number, found.items, found.lines) == ("history", 4, 7, (7,))
    assert found.chosen is not None
    assert (found.chosen.calls, found.chosen.lines) == (("min(run.history, …)",), (13,))


@pytest.mark.parametrize(
    "fill", ["self.history += [state()]", "self.history[epoch] = state()", "self.history[epoch].append(state())"]
)
def test_ways_to_fill_it(fill: str) -> None:
    found = inner_container([text(fill)], "runs", LEVELS)
    assert found is not None and found.lines == (7,)


@pytest.mark.parametrize("fill", ["self.history += 1", "history.append(state())", "self.history = state()"])
def test_what_does_not_fill_it(fill: str) -> None:
    assert inner_container([text(fill)], "runs", LEVELS) is None


@pytest.mark.parametrize(
    "use",
    [
        "plot(run.history)",
        f"{BEST}\n    save(run)",
        f"{BEST}\ntorch.save(runs, path)",
        f"{BEST}\n    show(run.__dict__)",
    ],
)
def test_all_may_be_read(use: str) -> None:
    found = inner_container([text(use=use)], "runs", LEVELS)
    assert found is not None and found.chosen is None


def test_no_object_on_the_way() -> None:
    assert inner_container([text()], "runs", LEVELS[2:]) is None
    assert inner_container(["def f(:"], "runs", LEVELS) is None
