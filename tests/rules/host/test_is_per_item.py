"""Callbacks at the limits: how often and how quickly they are seen to run, and which time a change leaves out."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.accounts.library_callbacks import LibraryCallback
from gpuprof.model.operands import Operand
from gpuprof.rules.cell.callback_text import CallbackText
from gpuprof.rules.host.callback_kinds import CallbackKind, given_to, is_per_item, kind_of, removed_ns

KINDS = list(CallbackKind)
NUMBERS = (CallbackKind.VALUE, CallbackKind.ELEMENT, CallbackKind.ROW)


def seen(**facts: Any) -> LibraryCallback:
    figures: dict[str, Any] = {
        "ns": 1000,
        "share": 0.5,
        "library_share": 0.5,
        "inner_share": 0.1,
        "torch_share": 0.0,
        "stays": 8,
    }
    lines = {"line": 4, "callback_line": 2, "cell_lines": (4,), "is_cell": True, "execution_count": None}
    names = {"file": "", "function": "f", "call": "apply", "callback": "g", "callback_file": ""}
    rest = {"below": {}, "operands": (), "starts_ns": np.empty(0), "ends_ns": np.empty(0)}
    return LibraryCallback(**(figures | lines | names | rest | facts))


def text(
    arguments: tuple[str, ...] = ("s",), *, arithmetic: bool = False, straight: bool = False, built_in: bool = False
) -> CallbackText:
    return CallbackText(arguments, arithmetic, straight, built_in)


def given(kind: str, least: int | None, most: int | None = None, name: str = "s", *, callable: bool = False) -> Operand:
    return Operand(
        file="", first=1, last=2, name=name, kind=kind, least=least, most=most or least, callable=callable
    )  # fmt: skip


@pytest.mark.parametrize("kind", [each for each in KINDS if each not in (CallbackKind.VALUE, CallbackKind.ELEMENT)])
def test_how_often_and_for_how_much_of_the_time(kind: CallbackKind) -> None:
    least = 0.1 if kind in (CallbackKind.WINDOW, CallbackKind.ROW) else 0.2
    assert is_per_item(kind, seen(library_share=least), None)
    assert not is_per_item(kind, seen(library_share=least - 0.01), None)
    assert not is_per_item(kind, seen(stays=7), None)
    assert not is_per_item(kind, seen(torch_share=0.1), None)
    assert is_per_item(kind, seen(torch_share=0.09), None)


@pytest.mark.parametrize("kind", KINDS)
def test_by_the_text_of_what_is_seen_too_seldom(kind: CallbackKind) -> None:
    small = seen(stays=1, operands=(given("numpy.ndarray", 9, 1000),))
    numbers = kind in NUMBERS
    assert is_per_item(kind, seen(stays=1), text(arithmetic=True)) is numbers
    assert is_per_item(kind, small, text(straight=True)) is not numbers
    for none in (given("numpy.ndarray", 9, 1001), given("builtins.list", 9), given("numpy.ndarray", None)):
        assert not is_per_item(kind, seen(stays=1, operands=(none,)), text(straight=True))
    assert not is_per_item(kind, small, text())
    assert not is_per_item(kind, small, None)


@pytest.mark.parametrize("kind", KINDS)
def test_of_large_arrays_each_call_is_long(kind: CallbackKind) -> None:
    for what, least, is_long in (
        *(("numpy.ndarray", 1001, True), ("numpy.ndarray", 1000, False), ("pandas.Series", 1001, True)),
        *(("builtins.list", 5000, False), ("numpy.ndarray", None, False)),
    ):
        found = seen(operands=(given(what, least, 5000),))
        plain = text(arithmetic=True, straight=True)
        assert is_per_item(kind, found, plain) is not (is_long or (kind in NUMBERS[:2] and what.startswith("builtins")))


@pytest.mark.parametrize("kind", NUMBERS[:2])
def test_single_values_are_numbers_that_are_computed_with(kind: CallbackKind) -> None:
    assert is_per_item(kind, seen(stays=0), text(arithmetic=True))
    assert not is_per_item(kind, seen(), text(straight=True, built_in=True))
    assert not is_per_item(kind, seen(), None)
    for what in ("builtins.str", "datetime.date", "torch.Tensor", "numpy.str_"):
        assert not is_per_item(kind, seen(operands=(given(what, 3),)), text(arithmetic=True))


def test_one_small_argument_is_enough() -> None:
    rows = (given("numpy.ndarray", 9), given("numpy.ndarray", None, name="t"))
    assert is_per_item(CallbackKind.PAIR, seen(stays=1, operands=rows), text(("s", "t"), straight=True))


def test_the_kind_is_that_of_any_function_below() -> None:
    below = {"scipy.spatial.distance.cdist": 1.0, "other.f": 0.5}
    assert kind_of(seen(below=below)) is CallbackKind.PAIR


def test_what_its_arguments_stood_for() -> None:
    rows = (given("a", 1), given("b", 1, name="t"), given("c", 1, callable=True))
    assert [each.kind for each in given_to(seen(operands=rows), text())] == ["a"]
    assert [each.kind for each in given_to(seen(operands=rows), text(("t", "s")))] == ["a", "b"]
    assert given_to(seen(operands=rows), None) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_the_time_that_a_change_leaves_out(kind: CallbackKind) -> None:
    found = seen(library_share=0.25, inner_share=0.125)
    inner = 125 if kind in (CallbackKind.WINDOW, CallbackKind.ROW) else 0
    assert removed_ns(kind, found, None) == removed_ns(kind, found, text()) == 250 + inner
    assert removed_ns(kind, found, text(arithmetic=True)) == removed_ns(kind, found, text(built_in=True)) == 1000
    straight = 250 if kind is CallbackKind.GROUP else 1000
    assert removed_ns(kind, found, text(straight=True)) == straight


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("t.apply(f, axis=1)", CallbackKind.ROW),
        ("t.apply(f, 1)", CallbackKind.ROW),
        ("t.apply(f, 'columns')", CallbackKind.ROW),
        ("t.apply(f, axis='columns')", CallbackKind.ROW),
        ("t.apply(1)", None),
        ("t.apply(f, 0)", None),
        ("t.apply(f, 0, 1)", None),
        ("t.apply(f, axis=k)", None),
        ("t.apply(f, raw=1)", None),
        ("t.apply(f, 0, axis=1)", CallbackKind.ROW),
        ("t.map(f, axis=1)", None),
        ("apply(f, axis=1)", None),
    ],
)
def test_rows_of_a_frame_by_the_text(statement: str, kind: CallbackKind | None) -> None:
    below = dict.fromkeys(("pandas.core.apply.FrameApply.apply_standard", "pandas.core.frame.DataFrame.apply"), 1.0)
    nodes = list(ast.walk(ast.parse(statement)))
    assert kind_of(seen(below=below), nodes) is kind
    assert kind_of(seen(below={"pandas.core.frame.DataFrame.apply": 1.0}), nodes) is None
