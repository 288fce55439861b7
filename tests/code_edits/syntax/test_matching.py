"""The patterns mean what libcst's own matchers of the same names mean."""

from typing import Any

import libcst as cst
import libcst.matchers as theirs
import pytest

from gpuprof.code_edits.syntax import matching as ours

CODE = '''
import torch as t
from a import b, c as d
for i, (x, y) in enumerate(loader, 1):
    total += loss.item() * 2.5
    kept.append(loss.detach().cpu())
    x.add_(1); x.to("cuda", non_blocking=True)
    if not -i > 3: call(True, *rest, set_to_none=False, **more)
with torch.no_grad() as g: pass
left, right = values[1:2], (n := 3)
"""a text"""
'''

PATTERNS = {
    "a class": lambda m: m.Call(),
    "a name": lambda m: m.Name("loss"),
    "a regular expression": lambda m: m.Name(m.MatchRegex(r".*_")),
    "an attribute": lambda m: m.Attribute(value=m.Name("loss"), attr=m.Name()),
    "either": lambda m: m.Call(m.Attribute(attr=m.OneOf(m.Name("item"), m.Name("cpu")))),
    "or": lambda m: m.Name("x") | m.Integer("1"),
    "no arguments": lambda m: m.Call(args=[]),
    "one argument": lambda m: m.Call(args=[m.Arg()]),
    "an argument among others": lambda m: m.Call(args=[m.ZeroOrMore(), m.Arg(keyword=m.Name()), m.ZeroOrMore()]),
    "only such arguments": lambda m: m.Call(args=[m.ZeroOrMore(m.Arg(keyword=None))]),
    "two or more": lambda m: m.Call(args=[m.AtLeastN(m.Arg(), n=2)]),
    "one, then more": lambda m: m.Call(args=[m.Arg(m.Name("True")), m.ZeroOrMore(m.Arg(star="*")), m.ZeroOrMore()]),
    "no keyword": lambda m: m.Arg(keyword=None),
    "a function that says yes": lambda m: m.MatchIfTrue(lambda node: isinstance(node, cst.Float)),
    "what may be left out": lambda m: m.Assign(semicolon=m.Semicolon()),
    "an operator": lambda m: m.AugAssign(operator=m.AddAssign()),
    "a list that is a function's to judge": lambda m: m.Call(args=m.MatchIfTrue(lambda args: len(args) == 2)),
    "a line": lambda m: m.SimpleStatementLine(body=[m.Expr(m.SimpleString())]),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_same_nodes_are_found(pattern: str) -> None:
    tree = cst.parse_module(CODE)
    expected: list[Any] = list(theirs.findall(tree, PATTERNS[pattern](theirs)))

    found = ours.findall(tree, PATTERNS[pattern](ours))

    assert len(found) == len(expected)
    assert all(one is other for one, other in zip(found, expected, strict=True))
    assert all(ours.matches(node, PATTERNS[pattern](ours)) for node in found)


def test_most_patterns_find_something_here() -> None:
    tree = cst.parse_module(CODE)

    nothing = [name for name, pattern in PATTERNS.items() if not ours.findall(tree, pattern(ours))]

    assert nothing == ["what may be left out"]


def test_a_class_that_is_no_node() -> None:
    with pytest.raises(AttributeError, match="no node 'parse_module'"):
        ours.parse_module()
