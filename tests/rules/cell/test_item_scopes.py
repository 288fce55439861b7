from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.cell.item_scopes import ItemScope, item_scopes


def scopes(source: str, *callers: int) -> list[ItemScope]:
    """Of the call of `f`."""
    tree = parsed(source)
    assert tree is not None
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "f")
    return list(item_scopes(source, call, callers))


def is_item(source: str) -> bool:
    tree = parsed(source)
    assert tree is not None
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "f")
    return any(found.is_item(call.args[0]) and not found.is_carried(call) for found in item_scopes(source, call))


@pytest.mark.parametrize(
    ("loop", "items", "over"),
    [
        ("for p in points", {"p"}, ("points",)),
        ("for i in range(len(z))", {"i"}, ("z",)),
        ("for i in range(z.shape[0])", {"i"}, ("z",)),
        ("for i, (a, b) in enumerate(zip(xs, self.ys))", {"i", "a", "b"}, ("xs", "xs", "self.ys")),
        ("for i, row in tqdm(table.iterrows())", {"i", "row"}, ("table",)),
        ("for price in table['price'].values", {"price"}, ("table",)),
    ],
)
def test_what_a_loop_goes_over(loop: str, items: set[str], over: tuple[str, ...]) -> None:
    (found,) = scopes(f"{loop}:\n    f(0)\n")
    assert found.items == items and set(found.over) == set(over) and found.line == 1


@pytest.mark.parametrize(
    "loop",
    [
        "for batch in loader()",
        "for s in range(0, n, 64)",
        "for part in np.array_split(x, 9)",
        "for b in order.split(64)",
        "while True",
    ],
)
def test_batches_and_what_is_not_known_have_no_items(loop: str) -> None:
    assert scopes(f"{loop}:\n    f(0)\n") == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("f(z[i, 0])", True),
        ("f(z[i:i + 1])", True),
        ("f(float(z[i]))", True),
        ("row = z[i]\n    f(row[0])", True),
        ("f(z)", False),
        ("f(z[i:i + 64])", False),
        ("f(z[:i])", False),
        ("f(z[labels == i])", False),
        # each iteration needs the one before
        ("f(z[i] + state)\n    state = g(z[i])", False),
    ],
)
def test_single_items(body: str, told: bool) -> None:
    assert is_item(f"state = 0\nfor i in range(n):\n    {body}\n") is told


def test_inner_loops_come_first_and_functions_end_them() -> None:
    found = scopes("for a in xs:\n    for b in ys:\n        g = [f(c) for c in zs]\n")
    assert [each.over for each in found] == [("zs",), ("ys",), ("xs",)]
    assert scopes("for a in xs:\n    def g(b):\n        f(b)\n") == []


def test_an_argument_of_a_function_that_is_called_for_each_item() -> None:
    source = "def draw(ax, p):\n    x = p[0]\n    f(x)\n\nfor i in range(len(points)):\n    draw(axes, points[i])\n"
    (found,) = scopes(source, 3, 6)
    assert found.items == {"p", "x"} and "points" in found.over and found.line == 5
    assert scopes(source) == []
    assert scopes(source.replace("points[i])", "points)"), 3, 6) == []
    method = source.replace("draw(ax, p)", "draw(self, ax, p)").replace("    draw(axes", "    plot.draw(axes")
    assert [each.items for each in scopes(method, 3, 6)] == [{"p", "x"}]


def test_names_with_an_iteration_count_in_the_text() -> None:
    assert [each.times for each in scopes("for c in range(10):\n    f(c)\n")] == [10]
    assert [each.times for each in scopes("for c in (1, 2, 3):\n    f(c)\n")] == [3]


@pytest.mark.parametrize(
    ("read", "names"),
    [
        *(("z[i]", {"z"}), ("z[i, 0]", {"z"}), ("z[[i]]", {"z"}), ("z[[i], 0]", {"z"}), ("z[i:i + 1]", {"z"})),
        *(
            ("z[[i, 3]]", set()),
            ("z[[]]", set()),
            ("z[:i]", set()),
            ("z[0, i]", set()),
            ("z[3]", set()),
            ("z()[i]", set()),
        ),
        ("z.rows[i] + y[i]", {"z.rows", "y"}),
    ],
)
def test_what_is_read_at_the_place_of_the_item(read: str, names: set[str]) -> None:
    (found,) = scopes("for i in range(len(z)):\n    f(0)\n")
    assert set(found.indexed(ast.parse(read))) == names
