"""Every rule that can change a cell says how far that may move what the cell computes."""

from __future__ import annotations

import ast
import inspect
import sys

import pytest

from gpuprof.rules.base.guard import EXACT_TOLERANCE, FUSED_TOLERANCE, Guard
from gpuprof.rules.base.rule import Rule
from gpuprof.rules.registry import all_rules

RULES = {rule.name: rule for rule in all_rules()}


def gives_diffs(rule: Rule) -> bool:
    """Whether its module passes anything but None as the `diff` of something."""
    tree = ast.parse(inspect.getsource(sys.modules[type(rule).__module__]))
    given = [
        word.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "diff"
    ]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_with_a_diff_declares_its_class(rule: Rule) -> None:
    assert gives_diffs(rule) == (rule.guard is not None)


def test_the_classes_are_those_of_the_changes() -> None:
    assert RULES["fp32_matmul"].guard is Guard.NUMERIC
    assert RULES["sync_in_step"].guard is Guard.EXACT and RULES["sync_in_step"].loss_tolerance == EXACT_TOLERANCE
    assert RULES["unfused_optimizer"].loss_tolerance == FUSED_TOLERANCE
