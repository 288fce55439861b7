"""The limits in the code of analyses and graphs, and at which of their values a run's figures become others.

A limit is a number with a name of its own in a module. It is set to other values, and the run is worked out anew: where
its figures change, between two values next to each other, lies a figure of the run, and it is told which side the
figure itself belongs to. So a limit that takes in its bound can be told from one that leaves it out.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import gpuprof.analyses
import gpuprof.whatif.graph
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.whatif.fidelity import fidelity
from gpuprof.whatif.graph.build import build
from tests.support.built_runs import BUILT
from tests.support.critical import FAR, critical_value
from tests.support.figures import plain
from tests.support.looks.program import looked, recorded
from tests.support.mixed_runs import MIXED, mixed_results
from tests.support.simulated import of_graph

ENOUGH = 3
"""Of each limit so many runs are kept."""
REFUSED = (TypeError, ValueError, IndexError, OverflowError, MemoryError)
"""What a limit that counts things does with other values."""


class Said(Protocol):
    """A limit of any kind."""

    def said(self, run: str, value: float) -> str | None: ...


@dataclass(frozen=True)
class Limit:
    """One limit: where it is, and what of a run is looked at."""

    module: ModuleType
    name: str

    @property
    def key(self) -> str:
        """As it is told."""
        return f"{self.module.__name__.removeprefix('gpuprof.')}.{self.name}"

    def said(self, run: str, value: float) -> str | None:
        """The figures of that run with another limit; None where it cannot be that."""
        before = getattr(self.module, self.name)
        setattr(self.module, self.name, value)
        try:
            return json.dumps(_figures(self.module, _results(run)))
        except REFUSED:
            return None
        finally:
            setattr(self.module, self.name, before)


def _kinds(module: ModuleType) -> list[type[Result]]:
    each = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Result)]
    return [kind for kind in each if kind.__module__ == module.__name__]


def _figures(module: ModuleType, results: Results) -> Any:
    if module.__name__.startswith(gpuprof.whatif.graph.__name__):
        graph = build(results.trace)
        return [of_graph(graph), plain(fidelity(results.trace, graph))]
    fresh = Results(results.trace, [other.trace for other in results.others])
    return [plain(fresh.get(kind)) for kind in _kinds(module)]


def _is_of_looks(module: ModuleType) -> bool:
    return module.__name__.startswith(("gpuprof.analyses.dataflow.", "gpuprof.analyses.demand."))


RUNS: dict[str, Callable[[], Results]] = {
    **{f"mixed/{number:02}": functools.partial(mixed_results, number) for number in range(MIXED)},
    **{f"built/{name}": lambda make=make: Results(make()) for name, make in BUILT.items()},  # type: ignore[misc]
}


LOOKS: dict[str, Callable[[], Results]] = {
    f"looks/{name}": lambda name=name: Results(looked(name))  # type: ignore[misc]
    for name in recorded()
}
"""What limits of the close look are tried on."""


@functools.cache
def _results(run: str) -> Results:
    return (RUNS | LOOKS)[run]()


@functools.cache
def limits() -> dict[str, Limit]:
    """Every limit, by its key."""
    found = []
    for package in (gpuprof.analyses, gpuprof.whatif.graph):
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(each.name)
            if _kinds(module) or package is gpuprof.whatif.graph:
                found += [Limit(module, name) for name in names_of_limits(module)]
    return {limit.key: limit for limit in found}


def names_of_limits(module: ModuleType) -> Iterator[str]:
    """Numbers above 0 with a name of their own, `_LEAST = 3` and `_LEAST, _MOST = 3, 9`."""
    for node in ast.parse(inspect.getsource(module)).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        for each in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(each, ast.Name) and each.id.isupper():
                value = getattr(module, each.id)
                if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                    yield each.id


def of_limit(limit: Limit) -> dict[str, list[Any]]:
    """For some runs the value at which their figures change, and whether it belongs to those `below` or `above`."""
    found: dict[str, list[Any]] = {}
    default = getattr(limit.module, limit.name)
    for run in LOOKS if _is_of_looks(limit.module) else RUNS:
        for way, far in (("up", default * FAR), ("down", default / FAR)):
            critical = critical_value(functools.partial(limit.said, run), default, far)
            if critical is not None and critical[1] is not None:
                found[f"{run} {way}"] = critical
        if len(found) >= ENOUGH:
            break
    return dict(list(found.items())[:ENOUGH])


def side_of(limit: Said, run: str, value: float) -> str | None:
    """To which figures those at that value belong."""
    under, at, over = (limit.said(run, value * factor) for factor in (1 - 1e-7, 1.0, 1 + 1e-7))
    return None if under == over else "below" if at == under else "above" if at == over else None
