"""Which written loop is around a chain of lines, and whether its text shows that no turn needs another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.rules.cell.loops_on_path import IndependentLoop, independent_loop

SWEEP = """\
import numpy as np
import torch
from torch import nn

policy = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))

def act(row):
    return policy(torch.from_numpy(row)[None])

def sweep(fleet):
    for t in range(150):
        obs = fleet.observe()
        actions = np.zeros(fleet.n)
        for i in range(fleet.n):
            a = act(obs[i])
            actions[i] = a.item()
        fleet.step(actions)
"""
FOUND = IndependentLoop("", 14, "sweep", frozenset("i"), None, alone=False)


def of(source: str, *lines: int, models: tuple[str, ...] = ()) -> IndependentLoop | None:
    return independent_loop({"": source}, [("", line) for line in lines], frozenset(models))


def test_the_innermost_loop_past_the_functions_that_were_called() -> None:
    assert of(SWEEP, 15) == of(SWEEP, 8, 15) == FOUND
    # of the loop over time the text does not say that `fleet` stays as it is
    assert of(SWEEP, 12) is of(SWEEP, 14) is None
    assert of(SWEEP, 8) is None


def test_what_is_written_of_its_turns() -> None:
    alone = SWEEP.replace("for t in range(150)", "if True").replace("range(fleet.n)", "range(96)")
    assert of(alone, 8, 15) == replace(FOUND, turns=96, alone=True)
    called = alone + "for epoch in range(3):\n    sweep(None)\n"
    assert of(called, 8, 15, 19) == replace(FOUND, turns=96)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("            actions[i] = a.item()", "            actions[i] = a.item() + actions[i - 1]"),
        ("            actions[i] = a.item()", "            fleet.push(a.item())"),
        ("            a = act(obs[i])", "            a = fleet.act(obs[i])"),
        ("        for i in range(fleet.n):", "        while fleet.more:"),
        ("            a = act(obs[i])", "            obs = a = act(obs)"),
    ],
)
def test_turns_that_may_need_each_other(line: str, changed: str) -> None:
    assert SWEEP.count(line) == 1
    assert of(SWEEP.replace(line, changed), 15) is None


LOOP = """\
right = 0
for image, label in dataset:
    right += (model(image[None]).argmax() == label).item()
"""


def test_a_model_of_another_cell_has_to_be_known() -> None:
    assert of(LOOP, 3) is None
    assert of(LOOP, 3, models=("model",)) == IndependentLoop(
        "", 2, "<module>", frozenset(("image", "label")), None, alone=True
    )


def test_a_comprehension() -> None:
    found = of("out = [model(row[None]).item() for row in rows]\n", 1, models=("model",))
    assert found == IndependentLoop("", 1, "<module>", frozenset(("row",)), None, alone=True)


def test_what_is_no_python_or_not_known() -> None:
    assert of("for x in\n", 1) is None
    assert independent_loop({}, [("", 3)]) is None
