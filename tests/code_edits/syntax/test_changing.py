"""What statements change, and which variables may hold the same memory."""

from __future__ import annotations

import ast

import pytest

from gpuprof.code_edits.syntax.cell_text import Variable
from gpuprof.code_edits.syntax.reading import CellReading


def read(source: str) -> CellReading:
    reading = CellReading.of(source)
    assert reading is not None
    return reading


def changed(source: str) -> tuple[set[str], set[str], set[str]]:
    """The names that the last statement binds, puts something into, and changes in place."""
    reading = read(source)
    found = reading.changing.by(reading.text.tree.body[-1])
    return tuple({each.name for each in names} for names in (found.bound, found.grown, found.inside))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("statement", "bound", "grown", "inside"),
    [
        ("a = b + c", {"a"}, set(), set()),
        ("a, (b, *c) = d", {"a", "b", "c"}, set(), set()),
        ("for a in b:\n    c = a", {"a", "c"}, set(), set()),
        ("with b as a:\n    pass", {"a"}, set(), set()),
        ("import a", {"a"}, set(), set()),
        ("del a", {"a"}, set(), set()),
        ("a += 1", {"a"}, set(), {"a"}),
        ("a[0].b = 1", set(), set(), {"a"}),
        ("a.b[0] += 1", set(), set(), {"a"}),
        ("a.append(b)", set(), {"a"}, set()),
        ("seen.add(b)", set(), {"seen"}, set()),
        ("a.mul_(b)", set(), set(), {"a", "b"}),
        ("torch.add(a, b, out=c)", set(), set(), {"a", "b", "c"}),
        ("np.random.shuffle(a)", set(), set(), {"a"}),
        ("print(a, len(b), torch.rand(3), a.abs())", set(), set(), set()),
        ("loss.backward()", set(), set(), set()),
        ("net.train()", set(), set(), set()),
        ("a.sort()", set(), set(), {"a"}),
    ],
)
def test_what_a_statement_changes(statement: str, bound: set[str], grown: set[str], inside: set[str]) -> None:
    assert changed(f"{statement}\n") == (bound, grown, inside)


def test_a_function_of_another_cell_may_change_what_that_cell_can_name() -> None:
    _, _, inside = changed("mine, given = 1, 2\nshown = theirs\nother(given)\n")
    assert inside >= {"given", "theirs", "other"} and "mine" not in inside


def test_an_optimizer_changes_what_it_was_made_with() -> None:
    _, _, inside = changed("net = nn.Linear(3, 4)\nopt = torch.optim.SGD(net.parameters(), lr=1)\nopt.step()\n")
    assert inside >= {"net", "opt"}
    reading = read("opt = given\nopt.step()\n")
    assert reading.changing.by(reading.text.tree.body[-1]).trains


@pytest.mark.parametrize("statement", ["exec(code)", "def f():\n    pass", "await x", "f = 1\nrun(lambda: f)"])
def test_what_the_text_does_not_say_is_unclear(statement: str) -> None:
    reading = read(f"{statement}\n")
    assert reading.changing.by(reading.text.tree.body[-1]).unclear


@pytest.mark.parametrize(
    ("body", "inside"),
    [
        ("def f(x):\n    x.add_(1)\n", {"a"}),
        ("def f(x):\n    y = x.view(-1)\n    y[0] = 1\n", {"a"}),
        ("def g(y):\n    y += 1\ndef f(x):\n    g(x)\n", {"a"}),
        ("def f(x):\n    for part in table:\n        part.zero_()\n", {"table"}),
        ("def f(x):\n    y = x + 1\n    y.add_(1)\n", set()),
        ("def f(x):\n    y = x + 1\n    return y\n", set()),
    ],
)
def test_functions_are_followed_to_what_they_are_given_and_what_they_name(body: str, inside: set[str]) -> None:
    reading = read(f"table = torch.ones(3)\na, b = torch.ones(3), torch.ones(3)\n{body}f(a)\n")
    found = reading.changing.by(reading.text.tree.body[-1])
    tree = reading.text.tree
    assert {n for n in ("a", "b", "table") if reading.changing.inside({Variable(n, tree)}, found)} == inside


def test_one_that_calls_itself_is_unclear() -> None:
    reading = read("def f(x):\n    return f(g(x)) + x.pop()\nf(a)\n")
    assert reading.changing.by(reading.text.tree.body[-1]).unclear


@pytest.mark.parametrize(
    ("line", "shared"),
    [
        ("b = a", True),
        ("b = a[0]", True),
        ("b = a.view(-1)", True),
        ("b = [a, 1]", True),
        ("b = {'x': a}", True),
        ("b = other(a)", True),
        ("b, c = a, 1", True),
        ("for b in a:\n    pass", True),
        ("b = []\nb.append(a)", True),
        ("b = Box(a)", True),
        ("b = np.asarray(a)", True),
        ("b = a if c else d", True),
        ("b = lambda: a", True),
        ("b = list(a) + list(c)", True),
        ("b = a + 1", False),
        ("b = a.clone()", False),
        ("b = torch.stack([a, c])", False),
        ("b = copy.deepcopy(a)", False),
        ("b = a > 0", False),
        ("b = 3", False),
        ("b = torch.zeros(3)\nb[0] = a", False),
        ("b = {}\nb[0] = a", True),
    ],
)
def test_what_may_be_a_part_of_another_shares_its_memory(line: str, shared: bool) -> None:
    reading = read(f"import copy\n{line}\n")
    a, b = (Variable(name, reading.text.tree) for name in "ab")
    assert reading.changing.memory.shares({a}, {b}) is shared


def test_objects_hold_what_their_methods_put_into_them() -> None:
    source = "class Box:\n    def keep(self, x):\n        self.x = x\nbox = Box()\nbox.keep(a)\nb = torch.ones(3)\n"
    reading = read(source)
    tree = reading.text.tree
    assert reading.changing.memory.shares({Variable("box", tree)}, {Variable("a", tree)})
    assert not reading.changing.memory.shares({Variable("box", tree)}, {Variable("b", tree)})


def test_what_a_function_returns_is_what_it_was_there() -> None:
    functions = "def go(x):\n    rows = []\n    rows.append(x)\n    return rows\ndef new(x):\n    return x + 1\n"
    reading = read(f"{functions}a = go(1)\nb = new(a)\n")
    tree = reading.text.tree
    rows = Variable("rows", tree.body[0])
    assert reading.changing.memory.shares({Variable("a", tree)}, {rows})
    assert not reading.changing.memory.shares({Variable("b", tree)}, {rows, Variable("a", tree)})


def test_names_of_nested_scopes_are_their_own() -> None:
    reading = read("def f(a):\n    a.add_(1)\na = torch.ones(3)\nprint(a)\n")
    tree = reading.text.tree
    assert isinstance(tree.body[0], ast.FunctionDef)
    inner = reading.changing.by(tree.body[0].body[0])
    assert inner.inside == {Variable("a", tree.body[0])}
    assert not reading.changing.inside({Variable("a", tree)}, inner)
