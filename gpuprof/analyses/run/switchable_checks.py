"""What checks of libraries that a switch turns off take of the cell, by sampled stacks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook", "module")
# of a check's time: a line with less is not named
_NAMED_SHARE = 0.1
_MOST_LINES = 3


class CheckSource(StrEnum):
    """The value is where it comes from."""

    ANOMALY = "torch.autograd"
    DISTRIBUTIONS = "torch.distributions"


# file from its package on, functions (without their class; none: all of them), check
_FRAMES: tuple[tuple[str, tuple[str, ...], CheckSource], ...] = (
    # anomaly detection alone asks for it, for each operator that gets a node
    ("torch/fx/traceback.py", ("format_stack",), CheckSource.ANOMALY),
    # its initializer does little else
    ("torch/distributions/distribution.py", ("__init__", "_validate_sample"), CheckSource.DISTRIBUTIONS),
    ("torch/distributions/constraints.py", ("check",), CheckSource.DISTRIBUTIONS),
)


@dataclass(frozen=True)
class CheckTime:
    """`check` takes `ns` of the cell, `share` of it (0..1), below `lines` of the profiled cell (1-based, in order)."""

    check: CheckSource
    ns: float
    share: float
    lines: tuple[int, ...]


@dataclass(frozen=True)
class SwitchableChecks(Result):
    """`found`, the longest first; empty where no stack was sampled, or none of them ran."""

    found: tuple[CheckTime, ...]

    def of_check(self, check: CheckSource) -> CheckTime | None:
        """What that one takes; None where it was not seen."""
        return next((each for each in self.found if each.check is check), None)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From every stack that passes one of their functions."""
        stretches = results.get(Stretches)
        total_ns = float(stretches.spent_ns.sum())
        if not total_ns:
            return cls(())
        checks = _checks(trace)
        # no stack has no function
        of_stretch = np.append(checks, -1)[stretches.node]
        lines = np.append(results.get(StackLines).cell_line, -1)[stretches.node]
        found = []
        for number, check in enumerate(CheckSource):
            rows = np.flatnonzero(of_stretch == number)
            ns = float(stretches.spent_ns[rows].sum())
            if ns:
                found.append(CheckTime(check, ns, ns / total_ns, _lines(lines[rows], stretches.spent_ns[rows])))
        return cls(tuple(sorted(found, key=lambda each: -each.ns)))


def _checks(trace: Trace) -> Array:
    """For each row of `stack_nodes` the number of the check that it is part of; -1: of none."""
    nodes, stacks = trace.stack_nodes, trace.context.stacks
    found = np.full(len(nodes), -1, np.int64)
    if stacks is None:
        return found
    order = tuple(CheckSource)
    kinds = [each.kind for each in stacks.files]
    names = [each.filename.replace("\\", "/") for each in stacks.files]
    columns = [nodes[name].tolist() for name in ("parent", "sampled_file", "function")]
    for row, (parent, file, function) in enumerate(zip(*columns, strict=True)):
        if kinds[file] in _OWN:
            continue  # a check that calls the user back
        bare = stacks.functions[function].rpartition(".")[2]
        here = (check for name, functions, check in _FRAMES if names[file].endswith(name) and bare in functions)
        check = next(here, None)
        found[row] = order.index(check) if check is not None else found[parent] if parent >= 0 else -1
    return found


def _lines(lines: Array, spent_ns: Array) -> tuple[int, ...]:
    distinct, which = np.unique(lines, return_inverse=True)
    held = np.bincount(which.reshape(-1), spent_ns)
    most = np.argsort(-held, kind="stable")[:_MOST_LINES]
    return tuple(
        sorted(int(distinct[row]) for row in most if distinct[row] > 0 and held[row] >= _NAMED_SHARE * held.sum())
    )
