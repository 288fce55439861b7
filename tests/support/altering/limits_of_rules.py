"""The limits in the code of rules beside their thresholds, and at which of their values a rule says something else.

As `limits.py` does it for analyses. A limit is tried on the cases of the rules whose modules import its own, directly
or through others of `gpuprof.rules`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import gpuprof.rules
from gpuprof.analyses.basics.result import Results
from gpuprof.errors import UsageError
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import all_rules, rule
from tests.rules.cases import case_of
from tests.support.critical import FAR, critical_value
from tests.support.figures import plain
from tests.support.limits import ENOUGH, REFUSED, names_of_limits

KINDS = ("fires", "stays_quiet")
MOST_RULES = 12
"""Of what more rules import these are asked, by their names."""
_TOLD = ("severity", "title", "explanation", "evidence", "change", "diff", "saving")
_OWN = "gpuprof.rules."


@dataclass(frozen=True)
class RuleLimit:
    """One limit: its module, and its name there."""

    module: ModuleType
    name: str

    @property
    def key(self) -> str:
        """As it is told."""
        return f"{self.module.__name__.removeprefix('gpuprof.')}.{self.name}"

    def said(self, run: str, value: float) -> str | None:
        """What a rule says of its case (`rule:kind`) with another limit; None where it cannot be that."""
        before = getattr(self.module, self.name)
        _forget()
        setattr(self.module, self.name, value)
        try:
            return _said(*run.split(":"))
        except (*REFUSED, UsageError):
            return None
        finally:
            setattr(self.module, self.name, before)
            _forget()


def _said(name: str, kind: str) -> str:
    answer = rule(name).judge(_fresh(name, kind))
    if not isinstance(answer, Finding):
        return json.dumps(plain(answer))
    return json.dumps([plain(getattr(answer, each)) for each in _TOLD])


def _fresh(name: str, kind: str) -> Results:
    """With what analyses found, and without what rules keep there."""
    known = _case(name, kind)
    fresh = Results(known.trace)
    fresh.others = known.others
    fresh._known = known._known = {
        each: found for each, found in known._known.items() if not each.__module__.startswith(_OWN)
    }
    return fresh


@functools.cache
def _case(name: str, kind: str) -> Results:
    run: Any = getattr(case_of(name), kind)()
    results = run if isinstance(run, Results) else Results(run)
    rule(name).judge(results)
    return results


@functools.cache
def _modules() -> dict[str, ModuleType]:
    found = pkgutil.walk_packages(gpuprof.rules.__path__, _OWN)
    return {each.name: importlib.import_module(each.name) for each in found}


@functools.cache
def _caches() -> tuple[Any, ...]:
    each = [value for module in _modules().values() for value in vars(module).values()]
    return tuple({id(value): value for value in each if hasattr(value, "cache_clear")}.values())


def _forget() -> None:
    for each in _caches():
        each.cache_clear()


@functools.cache
def _importers() -> dict[str, set[str]]:
    found = defaultdict[str, set[str]](set)
    for name, module in _modules().items():
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_OWN.rstrip(".")):
                for each in (node.module, *(f"{node.module}.{one.name}" for one in node.names)):
                    found[each].add(name)
    return found


def rules_of(limit: RuleLimit) -> list[str]:
    """The rules that may depend on it."""
    reached, waiting = {limit.module.__name__}, [limit.module.__name__]
    while waiting:
        new = _importers()[waiting.pop()] - reached
        reached |= new
        waiting += new
    names = {type(each).__module__: each.name for each in all_rules()}
    return sorted(names[each] for each in reached if each in names)[:MOST_RULES]


@functools.cache
def limits_of_rules() -> dict[str, RuleLimit]:
    """Every limit, by its key."""
    found = [RuleLimit(module, name) for module in _modules().values() for name in names_of_limits(module)]
    return {limit.key: limit for limit in found}


def runs_of(limit: RuleLimit) -> Iterator[str]:
    """`rule:kind` of each case that is tried."""
    for name in rules_of(limit):
        yield from (f"{name}:{kind}" for kind in KINDS)


def of_rule_limit(limit: RuleLimit) -> dict[str, list[Any]]:
    """As `limits.of_limit`."""
    found: dict[str, list[Any]] = {}
    default = getattr(limit.module, limit.name)
    for run in runs_of(limit):
        for way, far in (("up", default * FAR), ("down", default / FAR)):
            critical = critical_value(functools.partial(limit.said, run), default, far)
            if critical is not None and critical[1] is not None:
                found[f"{run} {way}"] = critical
        if len(found) >= ENOUGH:
            break
    return dict(list(found.items())[:ENOUGH])
