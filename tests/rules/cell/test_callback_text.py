"""What the text of a callback says of it."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.callback_text import CallbackText, callback_text

SOURCE = """import math

def scaled(row):
    "With the tax."
    total = row["price"] * row.units
    if total > limits.get(row.kind, 9.0):
        return math.log(total)
    return np.where(total > 0, helper(total), 0.0)

def helper(x):
    return round(x) ** 2

class Table:
    def spread(self, g):
        return g.max() - g.min()

    def apart(self, a, b):
        return sum(abs(x - y) for x, y in zip(a, b))

def build(s):
    return s.apply(lambda v: v if v > 0 else -v), s.map(lambda t: t.strip())

pair = s.map(lambda v: v + 1).map(lambda t: words[t])
far = s.map(lambda v: minimize(f, v).x)
"""


def read(name: str, line: int) -> CallbackText:
    found = callback_text(SOURCE, name, line)
    assert found is not None
    return found


def test_arithmetic_with_what_it_calls() -> None:
    assert read("scaled", 5) == CallbackText(("row",), True, True, False)


def test_methods_of_groups() -> None:
    assert read("Table.spread", 15) == CallbackText(("g",), False, True, True)


def test_a_loop_of_its_own() -> None:
    assert read("Table.apart", 18) == CallbackText(("a", "b"), False, False, False)


def test_of_several_on_one_line_what_holds_for_all() -> None:
    assert read("build.<locals>.<lambda>", 21).is_arithmetic is False
    assert read("<lambda>", 23) == CallbackText(("t", "v"), True, True, True)


def test_what_is_long_in_itself() -> None:
    assert not read("<lambda>", 24).is_straight


def test_numbers_that_are_packed_for_a_row_are_arithmetic() -> None:
    source = """
def features(row):
    x, y = math.radians(row["x"]), float(row["y"] > 3)
    return pd.Series({"x": math.sin(x), "y": y})
table.apply(features, axis=1)
"""
    found = callback_text(source, "features", 3)
    assert found is not None and found.is_arithmetic
    for other in ("pd.Series({'x': load(x)})", "pd.Series(row.to_dict())", "{'x': x}"):
        found = callback_text(source.replace('pd.Series({"x": math.sin(x), "y": y})', other), "features", 3)
        assert found is not None and not found.is_arithmetic


@pytest.mark.parametrize("body", ["v[2:9]", "v(3)", "f'{v}'", "[v]", "np.linalg.svd(v)", "load(v)", "v.lower()"])
def test_what_is_no_arithmetic(body: str) -> None:
    found = callback_text(f"s.map(lambda v: {body})\n", "<lambda>", 1)
    assert found is not None and not found.is_arithmetic


@pytest.mark.parametrize(
    ("source", "name", "line"),
    [(SOURCE, "scaled", 20), (SOURCE, "other", 5), ("", "scaled", 5), ("def f(:", "f", 1)],
)
def test_what_is_not_known(source: str, name: str, line: int) -> None:
    assert callback_text(source, name, line) is None
