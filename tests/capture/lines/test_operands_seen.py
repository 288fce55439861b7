"""Which names are looked at again."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from gpuprof.capture.lines.operands_seen import OperandsSeen

SOURCE = "def f(x):\n    late = g(x)\n    return late\n"


@pytest.mark.parametrize(("value", "looks"), [(None, 30), (3.5, 3)])
def test_names_without_a_value_are_looked_for_longer_than_numbers(value: Any, looks: int) -> None:
    """The first call of a library takes long, and what it gives has no value so long."""
    seen = OperandsSeen()
    seen.read("cell", ast.parse(SOURCE))
    scope = seen.scope_at("cell", 2)
    assert scope is not None
    asked = list[str]()

    def value_of(chain: tuple[str, ...]) -> tuple[bool, Any]:
        asked.append(".".join(chain))
        return value is not None, value

    for _ in range(40):
        scope.note(value_of)
    assert asked.count("late") == looks
