"""At which value of a threshold a rule says something else of a run, and which of the two answers holds at it.

A run whose figure is 0.1 is judged alike by a threshold of 0.1 and of a little less, or of a little more: so a rule
that takes in its bound can be told from one that leaves it out, whatever the figure is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.base.rule import Rule

HALVINGS = 40
FAR = 1e4
"""So many times the default is beyond any figure, or below it."""


def critical_values(rule: Rule, results: Results) -> dict[str, list[Any]]:
    """For each threshold that matters to the run: the value, and `below` or `above`, whichever the value itself is
    judged like (None where the figure is no short number)."""
    found = {}
    for name, default, _ in rule.thresholds():
        if isinstance(default, int | float) and default > 0:
            for side, far in (("up", default * FAR), ("down", default / FAR)):
                critical = critical_value(lambda value, name=name: _said(rule, name, value, results), default, far)
                if critical is not None:
                    found[f"{name} {side}"] = critical
    return found


def _said(rule: Rule, name: str, value: float, results: Results) -> tuple[object, ...]:
    answer = replace(rule, **{name: value}).check(results)  # type: ignore[type-var]
    if isinstance(answer, Finding):
        return answer.severity, answer.change, answer.title, answer.saving is None
    return (type(answer),)


def critical_value(said: Callable[[float], object], near: float, far: float) -> list[Any] | None:
    """Where what is said changes between two values, if it does; None is no answer."""
    first, last = said(near), said(far)
    if None in (first, last) or first == last:
        return None
    for _ in range(HALVINGS):
        middle = math.sqrt(near * far)
        near, far = (middle, far) if said(middle) == first else (near, middle)
    low, high = sorted((near, far))
    value = float(f"{low:.6g}")
    if not low * (1 - 1e-9) <= value <= high * (1 + 1e-9):
        return [float(f"{low:.6g}"), None]
    under, at, over = (said(each) for each in (value * (1 - 1e-7), value, value * (1 + 1e-7)))
    side = None if under == over else "below" if at == under else "above" if at == over else None
    return [value, side]
