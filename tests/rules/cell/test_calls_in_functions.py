"""Which calls in functions compute the same each time that the function is called; and what only looks so."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.unchanged_calls import unchanged_calls

HEAD = """import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
points = np.load("points.npy")
rng = np.random.default_rng(0)
"""
FUNCTION = (
    HEAD
    + """
def near(place):
    STATEMENT
    return np.sort(place)

for place in np.load("places.npy"):
    near(place)
"""
)
CLASS = (
    HEAD
    + """
class Map:
    def __init__(self, points):
        self.points = points
        self.seen = 0

    def near(self, place):
        tree = cKDTree(self.points)
        return tree.query(place)

city = Map(points)
for place in np.load("places.npy"):
    city.near(place)
"""
)


def found(source: str) -> list[tuple[str, str, bool]]:
    calls = (each for each in unchanged_calls(source) if each.function)
    return [(each.function, each.call, each.alone) for each in calls]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("tree = cKDTree(points)", ("near", "cKDTree", True)),
        ("near = cKDTree(points).query(place)", ("near", "cKDTree", False)),
        ("near = NearestNeighbors(n_neighbors=3).fit(points).kneighbors(place)", ("near", "fit", False)),
        ("u, s, v = np.linalg.svd(points)", ("near", "np.linalg.svd", True)),
    ],
)
def test_of_names_that_nothing_changes(statement: str, expected: tuple[str, str, bool]) -> None:
    ((function, call, alone),) = found(FUNCTION.replace("STATEMENT", statement))
    assert (function, call.rpartition(").")[2], alone) == expected


@pytest.mark.parametrize(
    "statement",
    [
        # of the argument, or of what is made of it
        "tree = cKDTree(place)",
        "moved = points + place; tree = cKDTree(moved)",
        # chance, and what is only a container, a copy, or a class without data
        "sample = rng.choice(points)",
        "copied = points.copy()",
        "model = NearestNeighbors(n_neighbors=3)",
        # what it makes is changed afterwards
        "scaled = np.sqrt(points); scaled += place",
        # the data change
        "points[0] = place; tree = cKDTree(points)",
        "global points; points = place; tree = cKDTree(points)",
        # for some places only
        "tree = cKDTree(points) if place[0] else None",
        # what else takes the time is not known
        "found = place + cKDTree(points).n",
    ],
)
def test_what_may_differ(statement: str) -> None:
    assert found(FUNCTION.replace("STATEMENT", statement)) == []


@pytest.mark.parametrize(
    "change",
    [
        ("near(place)\n", "near(place)\n    points += 1\n"),
        ("    near(place)", "    points = place * 2\n    near(place)"),
        ("\nfor place", "\nview = points[3:]\nview.sort()\nfor place"),
    ],
)
def test_what_the_rest_of_the_text_changes(change: tuple[str, str]) -> None:
    source = FUNCTION.replace("STATEMENT", "tree = cKDTree(points)")
    changed = change[1].join(source.rsplit(change[0], 1))
    assert changed != source and found(source)
    assert found(changed) == []


def test_an_attribute_that_only_the_constructor_gives() -> None:
    (call,) = (each for each in unchanged_calls(CLASS) if each.function)
    assert (call.first, call.call, call.loop, call.unknown) == (14, "cKDTree", 18, frozenset({"self.points"}))


@pytest.mark.parametrize(
    "statement",
    [
        "self.points = self.points + place",
        "self.points[0] = place",
        "self.points += place",
        "self.points.sort()",
        "self.points.resize_(3)",
    ],
)
def test_an_attribute_that_changes(statement: str) -> None:
    assert found(CLASS.replace("        tree =", f"        {statement}\n        tree =")) == []


def test_an_argument_that_is_the_same_in_every_call() -> None:
    source = HEAD + "def near(among, place):\n    tree = cKDTree(among)\n    return tree.query(place)\n"
    same = source + "for place in (1, 2):\n    x = near(points, place)\n"
    assert found(same) == [("near", "cKDTree", True)]
    assert found(same + "y = near(rng.normal(size=(9, 2)), 1)\n") == []
    assert found(source + "for among in (points, points * 2):\n    x = near(among, 1)\n") == []


def test_a_variable_of_another_function_is_not_the_text_s_own() -> None:
    source = HEAD + (
        "def near(among):\n    tree = cKDTree(among)\n    return tree\n"
        "def outer(among):\n    return near(among)\n"
        "found = [outer(points + k) for k in range(9)]\n"
    )
    assert found(source) == []
    inside = HEAD + (
        "def outer(among):\n    def near(place):\n        tree = cKDTree(among)\n        return tree.query(place)\n"
        "    return near(among[0])\n"
        "found = [outer(points + k) for k in range(9)]\n"
    )
    assert found(inside) == []


def test_a_function_that_no_loop_runs() -> None:
    assert found(FUNCTION.replace("STATEMENT", "tree = cKDTree(points)").replace("for place in", "place =").replace(
        ":\n    near(place)", "\nnear(place)")) == []  # fmt: skip


def test_a_loop_around_what_calls_it() -> None:
    source = HEAD + (
        "def inner(place):\n    tree = cKDTree(points)\n    return tree.query(place)\n"
        "def outer(place):\n    return inner(place)\n"
        "found = [outer(place) for place in range(9)]\n"
    )
    (call,) = (each for each in unchanged_calls(source) if each.function)
    assert (call.function, call.loop) == ("inner", 12)


@pytest.mark.parametrize(("between", "known"), [(4, True), (5, False)])
def test_so_many_functions_may_lie_between_the_loop_and_it(between: int, known: bool) -> None:
    calls = "".join(f"def f{each}(place):\n    return f{each - 1}(place)\n" for each in range(1, between + 1))
    source = f"{HEAD}def f0(place):\n    return cKDTree(points).query(place)\n{calls}"
    source += f"for place in range(9):\n    f{between}(place)\n"
    assert bool(found(source)) is known
