"""A run just under a threshold, and one that reaches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Severity
from gpuprof.rules.registry import rule

ABSTAINS = "abstains"


@dataclass(frozen=True)
class Edge:
    """`build(case, under)` is judged as `before`, `build(case, at)` as `after`: None, a severity, or ABSTAINS.

    `case` is the rule's module of tests.rules.cases."""

    rule: str
    threshold: str
    build: Callable[[Any, Any], Any]
    under: float
    at: float
    before: Severity | str | None
    after: Severity | str | None


def outcome(name: str, run: Any) -> Severity | str | None:
    answer = rule(name).check(run if isinstance(run, Results) else Results(run))
    if answer is None:
        return None
    return ABSTAINS if isinstance(answer, Abstention) else answer.severity
