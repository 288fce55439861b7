"""How repeated work of the host is said: where it is, how often, and of what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.model.operands import Operand
from gpuprof.rules.host.operations import ALWAYS, Family, Operation
from gpuprof.rules.host.repeated_host_work import RepeatedHostWork, is_nested, line_of, lines_of, object_words, often

SPAN = np.zeros(0, np.int64)


def line(number: int = 5, **facts: Any) -> WorkLine:
    known = {
        "file": "/home/me/net.py",
        "is_cell": False,
        "execution_count": None,
        "function": "encode",
        "ns": 9,
        "share": 0.3,
        "own_share": 1.0,
        "first": "",
        "below": (),
        "depth": 1,
        "per_sample": False,
        "phase": None,
        "operands": (),
        "cell_lines": (),
        "starts_ns": SPAN,
        "ends_ns": SPAN,
    }
    return WorkLine(**(known | {"line": number} | facts))


def work(*lines: WorkLine, family: Family = Family.SEARCH) -> RepeatedHostWork:
    return RepeatedHostWork(Operation(family, "f"), lines, 9, 0.3)


@pytest.mark.parametrize(
    ("family", "facts", "words"),
    [
        (Family.SEARCH, {"depth": 1}, "repeatedly"),
        (Family.SEARCH, {"depth": 2}, "for each item"),
        (Family.SEARCH, {"depth": 1, "per_sample": True}, "for each sample"),
        (Family.SEARCH, {"depth": 0, "per_sample": True}, "for each sample"),
        (Family.SEARCH, {"depth": 0}, "repeatedly"),
        (Family.ITEMS, {"depth": 1}, "for each item"),
        (Family.ITEMS, {"depth": 1, "per_sample": True}, "for each item"),
        (Family.AGAIN, {"depth": 3}, "repeatedly"),
        *((family, {"depth": 0}, "once") for family in sorted(ALWAYS, key=lambda each: each.name)),
        *((family, {"depth": 1}, "repeatedly") for family in sorted(ALWAYS, key=lambda each: each.name)),
        *(
            (family, {"depth": 0, "per_sample": True}, "for each sample")
            for family in sorted(ALWAYS, key=lambda each: each.name)
        ),
    ],
)
def test_how_often_it_is_done(family: Family, facts: dict[str, Any], words: str) -> None:
    assert often(work(line(**facts), family=family)) == words


@pytest.mark.parametrize(
    ("facts", "nested"),
    [({"depth": 1}, False), ({"depth": 2}, True), ({"depth": 0, "per_sample": True}, True), ({"depth": 3}, True)],
)
def test_what_is_done_for_each_item_is_nested(facts: dict[str, Any], nested: bool) -> None:
    assert is_nested(work(line(**facts))) is nested


def test_a_line_is_named_with_its_cell_or_its_file() -> None:
    assert line_of(line(16)) == "line 16 of net.py"
    assert line_of(line(16, file=r"C:\work\net.py")) == "line 16 of net.py"
    assert line_of(line(3, execution_count=2)) == "line 3 of In [2]"
    assert line_of(line(3, is_cell=True, execution_count=2)) == "line 3"


def test_of_many_lines_of_one_function_three_are_named() -> None:
    cell = {"is_cell": True}
    assert lines_of(work(line(16, **cell))) == "line 16 in `encode`"
    assert lines_of(work(line(16, **cell), line(16, **cell))) == "line 16 in `encode`"
    assert lines_of(work(line(20, **cell), line(16, **cell))) == "lines 16 and 20 in `encode`"
    many = [line(each, **cell) for each in (20, 16, 17, 18)]
    assert lines_of(work(*many)) == "lines 16, 17 and 20 in `encode`"
    assert lines_of(work(line(20), line(16))) == "lines 16 and 20 of net.py in `encode`"
    assert lines_of(work(line(20, **cell), line(16, function="other", **cell))) == "line 20 in `encode`"
    assert lines_of(work(line(20, function="<module>", **cell))) == "line 20"
    assert lines_of(work(line(20, function="run.<locals>.step", **cell))) == "line 20 in `step`"


@pytest.mark.parametrize(
    ("kind", "most", "items", "words"),
    [
        ("builtins.list", 256, "", "a list of 256 items"),
        ("builtins.list", 256, "numpy.ndarray", "a list of 256 arrays"),
        ("pandas.core.frame.DataFrame", 300_000, "", "a DataFrame of 300,000 rows"),
        ("pandas.core.series.Series", 300, "numpy.ndarray", "a Series of 300 rows"),
        ("numpy.ndarray", 300, "", "an array of 300 items"),
        ("collections.OrderedDict", 9, "", "an OrderedDict of 9 items"),
        ("networkx.Graph", None, "", "a Graph"),
        ("networkx.Edges", None, "", "an Edges"),
    ],
)
def test_an_object_is_named_with_its_size(kind: str, most: int | None, items: str, words: str) -> None:
    over = Operand(file="", first=1, last=9, name="x", kind=kind, most=most, items=items)
    assert object_words(over) == words


def test_an_object_that_is_not_known() -> None:
    assert object_words(None) == "an object"
