from __future__ import annotations

import libcst as cst
import pytest

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree

CELL = """\
import torch.optim as optim
x = 1
for x in range(3):
    def inner():
        for y in (x for x in z):
            use(y)
    while again(x):
        use(x, key=x).use
else:
    use(x)
opt = optim.SGD(p)
"""


def tree() -> CellTree:
    made = CellTree.of(CELL)
    assert made is not None
    return made


def test_loops_are_those_that_repeat_a_node_in_its_function() -> None:
    cell = tree()
    found = [[type(loop).__name__ for loop in cell.loops(call)] for call in cell.all(m.Call(m.Name("use")))]
    assert found == [["For"], ["While", "For"], []]
    (condition,) = cell.all(m.Call(m.Name("again")))
    assert [type(loop).__name__ for loop in cell.loops(condition)] == ["While", "For"]
    (head,) = cell.all(m.Call(m.Name("range")))
    assert cell.loops(head) == []


def test_names_are_variables_only() -> None:
    assert [name.value for name in tree().names()].count("use") == 3
    assert "key" not in [name.value for name in tree().names()]


def test_imported_names_are_known_in_full() -> None:
    cell = tree()
    (call,) = cell.all(m.Call(m.Attribute(attr=m.Name("SGD"))))
    assert cell.imported_as(call.func) == "torch.optim.SGD"
    assert cell.imported_as(cell.all(m.Name("again"))[0]) is None


@pytest.mark.parametrize("end", ["", "\n", "\n\n   # c", "\n\n  \n# c\n", "\n\n   ", "\r\n\r\n", "\nfor x in y:\n  z"])
def test_the_end_of_the_text_is_kept(end: str) -> None:
    cell = CellTree.of(f"x = 1{end}")
    assert cell is not None and len(cell.statements) == 1 + ("for" in end)
    assert cell.changed({cell.all(m.Integer())[0]: lambda _: cst.Integer("2")}) == f"x = 2{end}"


def test_a_change_that_would_be_no_python_is_none() -> None:
    cell = tree()
    (name,) = cell.all(m.Call(m.Name("again")))
    assert cell.changed({}) is None
    assert cell.changed({name.func: lambda _: cst.Name("class")}) is None
    assert cell.changed({name.func: lambda _: cst.Name("once")}) == CELL.replace("again", "once")
