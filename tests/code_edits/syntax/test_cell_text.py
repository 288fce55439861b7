"""Which variable a name stands for, and the text after an edit."""

from __future__ import annotations

import ast

import pytest

from gpuprof.code_edits.syntax.cell_text import CellText, Edit, Variable


def text_of(source: str) -> CellText:
    text = CellText.of(source)
    assert text is not None
    return text


def scopes(source: str, name: str) -> list[str]:
    """For each mention of a name what kind of scope its variable has."""
    text = text_of(source)
    names = sorted((each for each in text.names() if each.id == name), key=lambda each: (each.lineno, each.col_offset))
    return [type(text.variable(each).scope).__name__ for each in names]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\nprint(x)\n", ["Module", "Module"]),
        ("def f():\n    return x\n", ["Module"]),
        ("def f():\n    x = 1\n    return x\n", ["FunctionDef", "FunctionDef"]),
        ("def f(x):\n    return x\n", ["FunctionDef"]),
        ("def f(a=x):\n    x = a\n", ["Module", "FunctionDef"]),
        ("def f(x):\n    def g():\n        return x\n", ["FunctionDef"]),
        ("y = [x for x in x]\n", ["ListComp", "ListComp", "Module"]),
        ("y = [x + z for z in x]\n", ["Module", "Module"]),
        ("f = lambda x: x\n", ["Lambda"]),
        ("class A:\n    x = 1\n    def f(self):\n        return x\n", ["ClassDef", "Module"]),
        ("def f():\n    for x in y:\n        pass\n    import os\n    return [x for z in x]\n", ["FunctionDef"] * 3),
    ],
)
def test_a_name_belongs_to_the_scope_that_binds_it(source: str, expected: list[str]) -> None:
    assert scopes(source, "x") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch\ntorch.linalg.inv\n", "torch.linalg.inv"),
        ("import torch.nn.functional as G\nG.relu\n", "torch.nn.functional.relu"),
        ("from torch import linalg\nlinalg.inv\n", "torch.linalg.inv"),
        ("from numpy.linalg import inv as i\ni\n", "numpy.linalg.inv"),
        # by custom, where an earlier cell imported it
        ("np.linalg.inv\n", "numpy.linalg.inv"),
        ("F.relu\n", "torch.nn.functional.relu"),
        ("np = 1\nnp.linalg.inv\n", None),
        ("import other as np\nnp.inv\n", "other.inv"),
        ("def f(np):\n    pass\nx.inv\n", None),
        ("g().inv\n", None),
    ],
)
def test_full_names_follow_the_imports(source: str, expected: str | None) -> None:
    text = text_of(source)
    last = text.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert text.full_name(last.value) == expected


def test_a_value_is_known_where_it_is_given_once() -> None:
    text = text_of("a, b = 1, c\nd = 2\nd = 3\ne, f = g\nimport h\ndef k(m, n=4):\n    return m\nk(5)\nk(m=6)\n")
    values = {name: text.value_of(Variable(name, text.tree)) for name in "abdefh"}
    shown = {name: ast.unparse(each) if each is not None else None for name, each in values.items()}
    assert shown == {"a": "1", "b": "c", "d": None, "e": None, "f": None, "h": None}
    function = text.definition(Variable("k", text.tree))
    assert function is not None
    given = [text.given(Variable(name, function)) for name in "mn"]
    assert [[ast.unparse(part) for part in each or []] for each in given] == [["5", "6"], ["4", "4"]]


@pytest.mark.parametrize("end", ["run(k)\n", "k(*rows)\n", "k(**rows)\n", "k()\n"])
def test_what_is_given_to_a_function_is_not_known_where_others_may_call_it(end: str) -> None:
    text = text_of(f"def k(m):\n    return m\nk(5)\n{end}")
    function = text.definition(Variable("k", text.tree))
    assert function is not None and text.given(Variable("m", function)) is None


@pytest.mark.parametrize("source", ["def f():\n    global x\n", "x = (y := 1)\n", "x = (\n", "%%bash\nls\n", "a\fb\n"])
def test_what_is_unclear_is_not_read(source: str) -> None:
    assert CellText.of(source) is None


def test_edits_keep_all_else() -> None:
    source = "%matplotlib inline\nx = 'ü' + f(a)  # kept\nif x:\n    y = 1\n"
    text = text_of(source)
    calls = [each for each in text.nodes if isinstance(each, ast.Call)]
    edits = [*text.replaced([(calls[0], "b")]), Edit(3, 2, ("z = 0",)), Edit(4, 4, ("    y = 2",))]
    assert text.changed(edits) == "%matplotlib inline\nx = 'ü' + b  # kept\nz = 0\nif x:\n    y = 2\n"
    assert text.changed([Edit(2, 3, ()), Edit(3, 4, ())]) is None
    assert text.changed([Edit(4, 4, ())]) is None
    assert text.changed([]) is None


def test_windows_line_ends_are_those_of_the_cell() -> None:
    text = text_of("x = 1\r\ny = 2\r\n")
    assert text.changed([Edit(2, 1, ("z = 3",))]) == "x = 1\r\nz = 3\r\ny = 2\r\n"


@pytest.mark.parametrize(
    ("line", "alone"),
    [
        ("x = 1", True),
        ("x = 1  # why", True),
        ("x = f(\n  1)", True),
        ("x = 1; y = 2", False),
        ('x = """\na"""', False),
    ],
)
def test_a_statement_stands_alone_on_its_lines(line: str, alone: bool) -> None:
    text = text_of(f"{line}\n")
    assert text.stands_alone(text.tree.body[0]) is alone
