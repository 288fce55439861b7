"""Names for lists that were still being filled."""

from __future__ import annotations

import pytest

from gpuprof.analyses.containers.unnamed_lists import with_names
from gpuprof.model.memory import UNNAMED, HeldTensors

CELL = """%%gpuprofile
def embed(loader):
    parts = [
        net(x)[:, 0]
        for x in loader
    ]
    whole = torch.cat([net(x) for x in loader])
    kept = list(outputs(loader))
    return parts
posterior = list(sample())
show([net(x) for x in loader])
parts = net(x)
"""


def named(*filling: tuple[str, int], graphs: int = 0) -> list[tuple[str, str]]:
    row = HeldTensors(name=UNNAMED, kind="frame", device="cpu", bytes=8, tensors=9, graphs=graphs, filling=filling)
    return [(each.name, each.kind) for each in with_names([row], {"other": "def f(:", "": CELL})]


@pytest.mark.parametrize(
    ("function", "line", "name"),
    [("embed", 4, "parts in embed()"), ("embed", 7, "whole in embed()"), ("embed", 8, "kept in embed()")],
)
def test_of_a_function(function: str, line: int, name: str) -> None:
    assert named((function, line)) == [(name, "frame")]


def test_of_the_cell() -> None:
    assert named(("<module>", 10)) == [("posterior", "peak")]


def test_the_first_that_fills_one() -> None:
    assert named(("forward", 3), ("embed", 9), ("<module>", 10)) == [("posterior", "peak")]


@pytest.mark.parametrize("filling", [("<module>", 11), ("<module>", 12), ("embed", 9), ("embed", 10)])
def test_where_the_text_has_no_name_for_it(filling: tuple[str, int]) -> None:
    assert named(filling) == []


def test_with_graphs_it_waits_for_its_name() -> None:
    assert named(("embed", 4), graphs=3) == []


def test_names_stay() -> None:
    row = HeldTensors(name="x", kind="global", device="cpu", bytes=8, tensors=1)
    assert with_names([row], {"": CELL}) == (row,)
