from __future__ import annotations

import ast

import libcst as cst
import pytest

from gpuprof.code_edits.syntax.keywords import with_keyword, without_keyword


def call_of(source: str) -> cst.Call:
    return cst.ensure_type(cst.parse_expression(source), cst.Call)


def code(call: cst.Call) -> str:
    return cst.Module([]).code_for_node(call)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(k=1)"),
        ("f( )", "f( k=1)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a,)", "f(a, k=1,)"),
        ("f( a ,b )", "f( a ,b,k=1 )"),
        ("f(a, k=0, b=2)", "f(a, k=1, b=2)"),
        ("f(a, k = g(\n 3))", "f(a, k = 1)"),
        ("f(x for x in y)", "f((x for x in y), k=1)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    k=1,\n)"),
        ("f(\n    a, b\n)", "f(\n    a, b, k=1\n)"),
        ("f(\n    a\n)", "f(\n    a,\n    k=1\n)"),
        ("f(a,\n  b=2)", "f(a,\n  b=2,\n  k=1)"),
        ("f(a,  # one\n  b=2)", "f(a,  # one\n  b=2,\n  k=1)"),
        ("f(\n    a,\n    b=2,  # two\n)", "f(\n    a,\n    b=2,  # two\n    k=1,\n)"),
        ("f(\n    a,\n    b=2  # two\n)", "f(\n    a,\n    b=2,  # two\n    k=1\n)"),
    ],
)
def test_a_keyword_is_given_in_the_style_of_the_call(before: str, after: str) -> None:
    result = code(with_keyword(call_of(before), "k", "1"))
    assert result == after
    ast.parse(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [("f(k=0)", "f()"), ("f(a, k=0)", "f(a)"), ("f(a, k=0,)", "f(a,)"), ("f(k=0, b=2)", "f(b=2)"), ("f(a)", "f(a)")],
)
def test_a_keyword_is_taken_away(before: str, after: str) -> None:
    assert code(without_keyword(call_of(before), "k")) == after
