"""Which values of a loop's body may still be an item or a view of one, and what keeps it."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.containers.item_aliases import ItemAliases, put_in
from gpuprof.analyses.containers.loop_effects import functions_of

FUNCTIONS = functions_of(
    ast.parse(
        """
def part(x):
    y = x[:, 0]
    return y

def mean(x, other=None):
    return x.mean()

def pick(x, other):
    return other

def keep(x):
    kept.append(x)

def keep_first(x):
    kept.insert(0, x)

def either(x):
    if x.any():
        return 3
    return x

def keep_inside(x):
    mine = []
    mine.append(x)
    return len(mine)

def keep_by(x):
    keep(x)

def deep1(x):
    return deep2(x)

def deep2(x):
    return deep3(x)

def deep3(x):
    return deep4(x)

def deep4(x):
    return x
"""
    )
)


def aliases() -> ItemAliases:
    return ItemAliases({"x"}, FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "may_be"),
    [
        *(
            ("x", True),
            ("y", False),
            ("x.T", True),
            ("x.shape", False),
            ("y.T", False),
            ("x[0]", True),
            ("y[x]", False),
        ),
        *(("x.view(-1)", True), ("x.mean()", False), ("x.add_(1)", True), ("x.add(1)", False), ("y.view_as(x)", True)),
        *(("torch.from_numpy(x)", True), ("torch.exp(x)", False), ("np.asarray(a=x)", True), ("nn.Wrap(x)", True)),
        *(("float(x)", False), ("len(x)", False), ("list(x)", True), ("sorted(x)", False), ("Result(3, x)", True)),
        *(("Result(3)", False), ("unknown(x)", False), ("zip(y, x)", True), ("f()(x)", False)),
        *(("part(x)", True), ("part(y)", False), ("mean(x)", False), ("pick(x, y)", False), ("pick(y, x)", True)),
        *(("pick(y, other=x)", True), ("pick(*x)", True), ("pick(*y)", False)),
        *(("pick(y, other=3)", False), ("pick(y, 3, *x)", True), ("either(x)", True), ("either(y)", False)),
        *(("{3: x, 4: y}", True), ("np.asarray(x, y)", True), ("{0: each for each in x}", True)),
        *(("deep2(x)", True), ("deep1(x)", False)),
        *(("x if y else 3", True), ("3 if x else x", True), ("3 if x else 4", False), ("y or x", True)),
        *(("y and 3", False), ("(y, x)", True), ("[y, 3]", False), ("{x}", True), ("{3: x}", True), ("{3: y}", False)),
        *(("[each for each in x]", True), ("[each + 1 for each in x]", False), ("{k: v for k, v in x}", True)),
        *(("{k: 1 for k in y}", False), ("x + 1", False), ("(*x, 3)", True), ("3", False), ("lambda: x", False)),
    ],
)
def test_values_that_may_share_the_memory_of_an_item(text: str, may_be: bool) -> None:
    assert aliases().may_be_item(ast.parse(text, mode="eval").body) is may_be


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        *(("rows.append(x)", True), ("rows.append(x.mean())", False), ("y = x[0]\nrows.append(y)", True)),
        *(("rows.append(y)\ny = x", False), ("a, (b, c) = x\nrows.append(c)", True), ("y: int = x\nd[3] = y", True)),
        *(("y = x.mean()\nrows.append(y)", False), ("for y in x:\n    rows.append(y)", True)),
        *(("for y in x.sum(0):\n    rows.append(y)", False), ("f(y := x)\nrows.append(y)", True), ("d[3] = x", True)),
        *(("d[x] = 3", False), ("total += x", False), ("rows += [x]", True), ("rows += [x.sum()]", False)),
        *(("metric.update(x)", False), ("d.update({3: x})", True), ("d.update({3: 4})", False)),
        *(("return", True), ("break", True), ("yield 3", True), ("continue", False), ("pass", False)),
        *(
            ("keep(x)", True),
            ("keep_first(x)", True),
            ("keep(x + 1)", False),
            ("keep_inside(x)", False),
            ("keep_by(x)", True),
        ),
        *(("keep_by(3)", False), ("unknown(x)", False), ("def g():\n    return x", True)),
        *(("f(lambda: rows.append(x))", False), ("if x.any():\n    rows.append(x)", True)),
    ],
)
def test_bodies_that_keep_an_item(text: str, keeps: bool) -> None:
    body = ast.parse(f"def around():\n    for x in xs:\n        {text.replace(chr(10), chr(10) + '        ')}").body[0]
    assert isinstance(body, ast.FunctionDef) and isinstance(body.body[0], ast.For)
    assert aliases().keeps(body.body[0].body) is keeps


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("rows.append(x, key=y)", ["x", "y"]),
        ("metric.update(x)", []),
        ("d.update({1: x})", ["{1: x}"]),
        ("d.update({x})", ["{x}"]),
        ("update(x)", ["x"]),
        ("rows += [x]", ["[x]"]),
        ("rows += x", []),
        ("d[1] = x", ["x"]),
        ("del d", []),
    ],
)
def test_what_is_put_in(text: str, given: list[str]) -> None:
    statement = ast.parse(text).body[0]
    node = statement.value if isinstance(statement, ast.Expr) else statement
    assert [ast.unparse(each) for each in put_in(node)] == given
