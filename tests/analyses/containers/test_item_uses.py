"""Where a name is bound, filled and read in one loop: the statements by line, and what rules a loop out."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.containers.item_uses import ItemUses, runs_at_once, same_order
from gpuprof.analyses.containers.loop_effects import functions_of

FUNCTIONS = """
def score(rows, start=0):
    for row in rows:
        start += row.sum()
    return start

def twice(rows):
    for row in rows:
        pass
    for row in rows:
        pass

def nested(rows):
    for at in range(3):
        for row in rows:
            f(row)

def lazy(rows):
    for row in rows:
        yield row

def attribute(rows):
    for row in rows.items():
        f(row)

def by_place(rows):
    for at in places:
        f(rows[at])

def shown(rows):
    for row in tqdm(rows, total=len(rows)):
        f(row)

def counted(rows):
    n = len(rows)
    for row in rows:
        f(row / n)

@torch.no_grad()
def graded(rows):
    for row in rows:
        f(row)

@lru_cache
def cached(rows):
    for row in rows:
        f(row)
"""
FILL = "for b in data:\n    xs.append(b)\n"


def told(text: str, name: str = "xs") -> str | None:
    """`bound fills reader (read_at name_there)`, by lines within the text; `places` where it reads by them."""
    tree = ast.parse(text + FUNCTIONS)
    uses = ItemUses(tree, tree, functions_of(tree)).of(name)
    if uses is None:
        return None
    fills = ",".join(str(each.lineno) for each in uses.fills)  # type: ignore[attr-defined]
    line = getattr(uses.reader, "lineno", 0)
    last = text.count("\n") + 1
    reader = str(line) if line <= last else "function"
    at = f" ({uses.read_at.lineno} {uses.name_there})" if uses.read_at is not uses.reader else ""
    return f"{uses.bound.lineno} {fills} {reader}{at}{' places' if uses.by_place else ''}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xs = []\n" + FILL + "for x in xs:\n    f(x)", "1 3 4"),
        ("xs = list()\n" + FILL + "for x in xs:\n    f(x)", "1 3 4"),
        ("xs = deque()\n" + FILL + "ys = [f(x) for x in xs]", "1 3 4"),
        ("xs: list = []\n" + FILL + "ys = {f(x) for x in xs}", "1 3 4"),
        ("a, xs = 3, []\n" + FILL + "ys = sum(f(x) for x in xs)", "1 3 4"),
        ("xs = []\nfor b in data:\n    xs += [b]\nfor x in xs:\n    f(x)", "1 3 4"),
        ("xs = []\nfor b in data:\n    xs.extend(b)\nfor x in xs:\n    f(x)", "1 3 4"),
        ("xs = {}\nfor b in data:\n    xs[b] = 3\nfor k, x in xs.items():\n    f(x)", "1 3 4"),
        ("xs = {}\nfor b in data:\n    xs[b] = 3\nfor x in xs.values():\n    f(x)", "1 3 4"),
        ("xs = []\n" + FILL + "xs.append(3)\nfor x in xs:\n    f(x)", "1 3,4 5"),
        ("xs = [f(b) for b in data]\nfor x in xs:\n    f(x)", "1 1 2"),
        ("xs = list(data)\nfor x in xs:\n    f(x)", "1 1 2"),
        ("xs = {b: 3 for b in data}\nfor x in xs:\n    f(x)", "1 1 2"),
        ("xs = []\n" + FILL + "for i, x in enumerate(xs):\n    f(x)", "1 3 4"),
        ("xs = []\n" + FILL + "for x, y in zip(tqdm(xs), ys):\n    f(x)", "1 3 4"),
        ("xs = []\n" + FILL + "for i in range(len(xs)):\n    f(xs[i])", "1 3 4 places"),
        ("xs = []\n" + FILL + "ys = [f(xs[i]) for i in order]", "1 3 4 places"),
        ("xs = []\n" + FILL + "n = len(xs)\ndel xs[0]\nfor x in xs:\n    f(x)", None),
        ("xs = []\n" + FILL + "n = len(xs)\nfor x in xs:\n    f(x)\ndel xs", "1 3 5"),
        ("xs = []\n" + FILL + "print(score(xs))", "1 3 function (4 rows)"),
        ("xs = []\n" + FILL + "print(score(start=3, rows=xs))", "1 3 function (4 rows)"),
        ("xs = []\n" + FILL + "print(shown(xs))", "1 3 function (4 rows)"),
        ("xs = []\n" + FILL + "print(graded(xs))", "1 3 function (4 rows)"),
        ("xs = [f(b) for b in data]\nprint(score(tqdm(xs)))", None),
    ],
)
def test_the_one_loop_that_reads_it(text: str, expected: str | None) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        # bound twice, to something else, or not
        *("xs = []\nxs = []\n" + FILL + "for x in xs:\n    f(x)", "xs = f()\n" + FILL + "for x in xs:\n    f(x)"),
        *("xs = [3]\n" + FILL + "for x in xs:\n    f(x)", "xs = {3: 4}\n" + FILL + "for x in xs:\n    f(x)"),
        *("xs = deque(maxlen=3)\n" + FILL + "for x in xs:\n    f(x)", FILL + "for x in xs:\n    f(x)"),
        *("xs = list(a, b)\nfor x in xs:\n    f(x)", "xs = sorted(a)\nfor x in xs:\n    f(x)"),
        "for xs in []:\n    f(xs)\nxs = []\n" + FILL + "for x in xs:\n    f(x)",
        # never filled, or filled after a comprehension
        *("xs = []\nfor x in xs:\n    f(x)", "xs = [b for b in data]\nxs.append(3)\nfor x in xs:\n    f(x)"),
        # read by none, two, or something else
        *("xs = []\n" + FILL, "xs = []\n" + FILL + "for x in xs:\n    f(x)\nfor x in xs:\n    f(x)"),
        *("xs = []\n" + FILL + "print(xs)", "xs = []\n" + FILL + "for x in xs.tail:\n    f(x)"),
        *("xs = []\n" + FILL + "for x in sorted(xs):\n    f(x)", "xs = []\n" + FILL + "for x in xs[1:]:\n    f(x)"),
        *("xs = []\n" + FILL + "for x in ys:\n    f(xs)", "xs = []\n" + FILL + "y = xs[0]"),
        *("xs = []\n" + FILL + "for x in m.items(xs):\n    f(x)", "xs = []\n" + FILL + "y = [f(xs[i])]"),
        "xs = []\n" + FILL + "ys = [f(x) for x in xs for y in x]",
        "xs = []\n" + FILL + "y = xs.append(3)\nfor x in xs:\n    f(x)",
        "xs = []\n" + FILL + "xs[0] += 1\nfor x in xs:\n    f(x)",
        # a function that reads it otherwise, later, or in another way
        *("xs = []\n" + FILL + f"print({name}(xs))" for name in ("twice", "nested", "lazy", "attribute", "by_place")),
        *("xs = []\n" + FILL + f"print({name}(xs))" for name in ("counted", "cached", "unknown", "m.score")),
        *("xs = []\n" + FILL + "score(*xs)", "xs = []\n" + FILL + "score(xs, **xs)"),
        "xs = []\n" + FILL + "score(xs, *more)",
        # a mapping, or one whose length is asked, cannot be made a generator
        "xs = {}\nfor b in data:\n    xs[b] = 3\nprint(score(xs))",
        "xs = []\n" + FILL + "print(len(xs), score(xs))",
    ],
)
def test_what_is_read_in_another_way(text: str) -> None:
    assert told(text) is None


def test_a_length_that_is_only_shown_keeps_a_function() -> None:
    text = "xs = []\n" + FILL + "bar = tqdm(total=len(xs))\nprint(score(xs))"
    assert told(text) == "1 3 function (5 rows)"


@pytest.mark.parametrize(
    ("loop", "same"),
    [
        *(
            ("for x in xs:\n    f(x)", True),
            ("for k in xs:\n    f(xs[k])", None),
            ("for k in ids:\n    f(xs[k])", True),
        ),
        *(("for k in others:\n    f(xs[k])", False), ("for k in range(len(xs)):\n    f(xs[k])", True)),
        *(("for k in range(len(xs) - 1):\n    f(xs[k])", False), ("ys = [f(xs[k]) for k in ids]", True)),
        ("ys = [f(xs[k]) for k in others]", False),
    ],
)
def test_places_in_the_order_in_which_they_were_filled(loop: str, same: bool | None) -> None:
    for fill in ("xs = {}\nfor k in ids:\n    xs[k] = f(k)\n", "xs = {k: f(k) for k in ids}\n"):
        tree = ast.parse(fill + loop)
        uses = ItemUses(tree, tree).of("xs")
        if uses is not None:
            maker = (
                next(each for each in tree.body[1:] if isinstance(each, ast.For)) if "for k in ids:" in fill else None
            )
            assert same_order(uses, maker or tree.body[0]) is (True if same is None else same), fill


def test_functions_that_run_when_they_are_called() -> None:
    functions = functions_of(ast.parse(FUNCTIONS))
    assert {name for name, each in functions.items() if not runs_at_once(each)} == {"cached"}


def test_whole_statements_between_two() -> None:
    tree = ast.parse("a = 1\nif b:\n    c = 2\n    d = 3\ne = 4\nfor f in g:\n    h = 5\ni = 6\n")
    uses = ItemUses(tree, tree)
    last = tree.body[3]
    assert isinstance(last, ast.stmt)
    assert [each.lineno for each in uses.between(tree.body[0], last)] == [2, 5]
    assert [each.lineno for each in uses.between(tree.body[1], tree.body[4])] == [5, 6]
    assert [each.lineno for each in uses.between(tree.body[0], tree.body[1])] == []


def test_the_contexts_around_a_statement() -> None:
    tree = ast.parse(
        "with a:\n    try:\n        x = 1\n    except E:\n        pass\n@b\ndef f():\n    with c:\n        y = 2\n"
    )
    kinds = {
        each.lineno: sorted(type(around).__name__ for around in ItemUses(tree, tree).contexts(each))
        for each in ast.walk(tree)
        if isinstance(each, ast.Assign)
    }
    assert kinds == {3: ["Try", "With"], 9: ["Name", "With"]}
