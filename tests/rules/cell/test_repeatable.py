"""Which expressions give the same each time, what they read, and what calls may change: by the text alone."""

from __future__ import annotations

import ast

import pytest

from gpuprof.rules.cell.repeatable import Repeatable, changed_by

TEXT = """
import json
import mystery
import numpy as np
import os.path
import torch
from math import sqrt as root
from torch import nn
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.ensemble import RandomForestClassifier

rng = np.random.default_rng(4)
table = [3, 1, 2]
pairs = dict(a=1)
twice = 1
twice = 2
made = np.ones(4)
grid = np.arange(9).reshape(3, 3)
net = nn.Linear(3, 4)
drawn = rng.normal(size=4)
left, right = np.zeros(2), np.ones(2)
shown: int = 3
one = other = np.ones(2)
pick = lambda x: x
loose = unknown(3)
kept = sorted(table)
squares = [each * each for each in table]
lines = open("x").readlines()

class Model:
    def score(self, x):
        return x

def plain(x, width=2):
    y = x * width
    return np.sort(y) + made

def deep1(x):
    return deep2(x)

def deep2(x):
    return deep3(x)

def deep3(x):
    return deep4(x)

def deep4(x):
    return deep5(x)

def deep5(x):
    return abs(x)

def noisy(x):
    return x + torch.randn(3)

def same_name(x):
    return x

def same_name(y):
    return y

def in_place(w):
    w -= 1

def own_copy(w):
    w = w.clone()
    w -= 1
    return w

def fills(rows):
    rows.sort()

def fills_own(n):
    rows = [n]
    rows.sort()
    return rows

def calls_in_place(w):
    return in_place(w)

def gives_out(w):
    np.add(w, 1, out=w)

def in_order(x):
    return np.sort(x, axis=0)

def looped(x):
    while x:
        x = looped(x - 1)
    return x

for step, item in enumerate(table):
    pass

with open("x") as handle:
    pass
"""
TREE = ast.parse(TEXT)
CELL = Repeatable(TREE)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def call(text: str) -> ast.Call:
    found = expression(text)
    assert isinstance(found, ast.Call)
    return found


@pytest.mark.parametrize(
    "text",
    [
        *("3", "made", "made + 1", "abs(made)", "np.sort(made)", "root(4)", "json.dumps(table)", "torch.exp(made)"),
        *("plain(made)", "deep2(3)", "made.sum()", "torch.nn.functional.relu(made)", "nn.functional.relu(made)"),
        *("np.linalg.inv(grid)", "[abs(each) for each in table]", "KDTree(grid)", "torch.as_tensor(made)"),
        *("KNeighborsClassifier(3)", "np.random.normal(3, random_state=0)", "RandomForestClassifier(random_state=3)"),
        *("own_copy(made)", "dict(a=1)", "grid.T.mean(axis=0)"),
    ],
)
def test_what_gives_the_same_each_time(text: str) -> None:
    assert CELL.is_unchanged(expression(text), {"step"})


@pytest.mark.parametrize(
    "text",
    [
        # chance, with a seed that is none, or none at all
        *("np.random.normal(3)", "RandomForestClassifier(3)", "RandomForestClassifier(random_state=None)"),
        *("RandomForestClassifier(random_state=table)", "noisy(made)", "made.shuffle()", "rng.integers(3)"),
        *("rng.normal(3)", "torch.rand(3)", "torch.randperm(4)", "f(random_state=3)"),
        # clocks, files, the unknown
        *("time()", "open('x')", "next(handle)", "unknown(3)", "mystery.f(3)", "os.path.join('a')", "table(3)"),
        # a state
        *("nn.Linear(3, 4)", "torch.nn.Linear(3, 4)", "torch.optim.SGD(made)", "torch.utils.data.DataLoader(made)"),
        *("torch.jit.script(plain)", "table.append(3)", "made.step()"),
        # methods of the text's own classes, functions too deep to follow, and of two meanings
        *("net.score(made)", "deep1(3)", "same_name(3)", "looped(3)"),
        # what only looks like an expression
        *("(yield)", "(x := 3)", "sorted(table, key=lambda x: -x)", "f()()", "table[0](3)"),
    ],
)
def test_what_may_not(text: str) -> None:
    assert not CELL.is_unchanged(expression(text), {"step"})


def test_what_reads_a_name_that_changes_does_not() -> None:
    assert not CELL.is_unchanged(expression("abs(step)"), {"step"})
    assert not CELL.is_unchanged(expression("plain(3)"), {"made"})
    assert CELL.is_unchanged(expression("plain(3)"), {"x", "y", "width"})
    assert CELL.is_unchanged(expression("[step for step in table]"), {"step"})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("made + 1", {"made"}),
        ("plain(step)", {"plain", "step", "np", "made"}),
        ("[each for each in table]", {"table"}),
        ("deep1(3)", {"deep1", "deep2", "deep3", "deep4", "deep5"}),
        ("net.weight", {"net"}),
        ("same_name(3)", {"same_name"}),
    ],
)
def test_names_that_are_read_from_outside(text: str, names: set[str]) -> None:
    assert CELL.reads(expression(text)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("made + len(table)", set()),
        ("squares", set()),
        ("drawn", set()),
        ("grid", set()),
        ("kept", set()),
        ("left + right", set()),
        ("net", {"net"}),
        ("rng", {"rng"}),
        ("loose", {"loose"}),
        ("lines", {"lines"}),
        ("shown + handle", {"shown", "handle"}),
        ("twice + nowhere", {"twice", "nowhere"}),
        ("np.zeros(3) + plain(3)", set()),
        ("item", set()),
        ("one + other", set()),
        ("pick", {"pick"}),
        ("x", {"x"}),
    ],
)
def test_names_that_may_be_anything(text: str, names: set[str]) -> None:
    assert CELL.not_data(expression(text)) == names


def test_a_chain_of_names_is_followed_eight_times() -> None:
    for length, known in ((7, True), (8, True), (9, False)):
        text = "a0 = [3]\n" + "".join(f"a{at + 1} = a{at}\n" for at in range(length - 1))
        assert (Repeatable(ast.parse(text)).not_data(expression(f"a{length - 1}")) == set()) is known, length


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(("table", True), ("pairs", True), ("kept", True), ("squares", True), ("made", True), ("grid", False)),
        *(("net", False), ("twice", False), ("nowhere", False), ("lines", False), ("drawn", False)),
    ],
)
def test_collections_that_can_be_gone_over_again(name: str, is_one: bool) -> None:
    assert CELL.is_collection(name) is is_one


@pytest.mark.parametrize(
    ("name", "names"),
    [
        *(("kept", {"sorted", "table"}), ("grid", set()), ("squares", {"each", "table"}), ("drawn", {"rng"})),
        *(("step", {"enumerate", "table"}), ("left", set()), ("shown", set()), ("nowhere", set())),
    ],
)
def test_names_that_something_is_made_of(name: str, names: set[str]) -> None:
    assert CELL.sources(name) == names


@pytest.mark.parametrize(
    ("text", "plain"), [("list(x)", True), ("x.clone()", True), ("np.zeros(3)", True), ("np.sort(x)", False)]
)
def test_calls_that_only_make_a_container_or_a_copy(text: str, plain: bool) -> None:
    assert CELL.is_plain_call(call(text)) is plain


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("in_place(table)", {"in_place", "table"}),
        ("calls_in_place(table)", {"calls_in_place", "in_place", "table"}),
        ("gives_out(made)", {"gives_out", "np", "made"}),
        ("fills(table)", {"fills", "table"}),
        ("own_copy(table)", set()),
        ("fills_own(table)", set()),
        ("in_order(table)", set()),
        ("deep1(table)", {"deep1", "deep2", "deep3", "deep4", "deep5", "table"}),
        ("deep2(table)", set()),
        ("abs(table)", set()),
        ("table.append(made.x, key=grid)", {"table", "made", "grid"}),
        ("Model(table, size=made)", {"table", "made"}),
        ("Model(abs(table))", set()),
    ],
)
def test_names_that_a_call_may_change(text: str, names: set[str]) -> None:
    assert CELL.given_to_effects(call(text)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("shuffle(rows, key=order)", {"rows", "order"}),
        ("rows.sort(other)", {"rows", "other"}),
        ("rows.append(other)", {"rows"}),
        ("print(rows)", set()),
        ("K.diagonal().add_(w[1])", {"K", "w"}),
        ("f(*rows, 3)", {"rows"}),
    ],
)
def test_names_that_a_statement_changes(text: str, names: set[str]) -> None:
    assert changed_by(call(text)) == names
