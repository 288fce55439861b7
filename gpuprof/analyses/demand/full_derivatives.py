"""Calls of torch that compute a full Jacobian or Hessian, by sampled stacks: how long they take, and in which mode."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.context import SampledStacks
from gpuprof.model.operands import Operand
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_LEAST_SHARE = 0.01
_OWN = ("cell", "notebook", "module")
_TRANSFORMS, _FUNCTIONAL = "torch/_functorch/eager_transforms.py", "torch/autograd/functional.py"
_REVERSE, _FORWARD = "jacrev.<locals>.wrapper_fn", "jacfwd.<locals>.wrapper_fn"


class DerivativeKind(StrEnum):
    """What is computed: a Jacobian by one pass for each output or for each input, or a Hessian."""

    REVERSE = "reverse"
    FORWARD = "forward"
    HESSIAN = "hessian"


@dataclass(frozen=True, eq=False)
class FullDerivative:
    """A line of the user's code (`file`, `line`; `is_cell`, `execution_count` as of a WorkLine) that calls it.

    `transform`: of torch.func, else of torch.autograd. `vectorized`: all passes run as one, by `vmap`. `operands`: what
    the names around the line stood for. `ns` and `share` (0..1) of the whole cell. `cell_lines` of the profiled cell
    that led there, the innermost first. `starts_ns`, `ends_ns`: on the trace's clock.
    """

    kind: DerivativeKind
    transform: bool
    vectorized: bool
    file: str
    is_cell: bool
    execution_count: int | None
    line: int
    operands: tuple[Operand, ...]
    ns: int
    share: float
    cell_lines: tuple[int, ...]
    starts_ns: Array
    ends_ns: Array


@dataclass(frozen=True, eq=False)
class FullDerivatives(Result):
    """`calls`, the longest first, each of 1% of the cell at least. `total_ns`: the cell, 0 where no stack was
    sampled."""

    calls: tuple[FullDerivative, ...]
    total_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the sampled stacks alone."""
        total_ns = int(trace.stack_samples["duration_ns"].sum())
        if trace.context.stacks is None or not total_ns:
            return cls((), 0)
        found = _DerivativeReader(trace, trace.context.stacks, total_ns).found()
        return cls(tuple(sorted(found, key=lambda each: -each.ns)), total_ns)


class _SeenDerivative(NamedTuple):
    """On one stack: the user's frame that calls torch, and what torch runs below it until it calls the user."""

    user: int
    library: tuple[str, ...]
    transform: bool


class _DerivativeReader:
    def __init__(self, trace: Trace, stacks: SampledStacks, total_ns: int):
        self._trace, self._stacks, self._total_ns = trace, stacks, total_ns
        nodes = trace.stack_nodes
        self._parent, self._file, self._line, self._function = (
            nodes[name].tolist() for name in ("parent", "sampled_file", "line", "function")
        )
        self._is_own = [each.kind in _OWN for each in stacks.files]
        names = [each.filename.replace("\\", "/") for each in stacks.files]
        self._is_transform = [each.endswith(_TRANSFORMS) for each in names]
        self._is_functional = [each.endswith(_FUNCTIONAL) for each in names]

    def found(self) -> list[FullDerivative]:
        node, lasted = (self._trace.stack_samples[name] for name in ("node", "duration_ns"))
        places = defaultdict[tuple[int, int, bool], dict[int, _SeenDerivative]](dict)
        for leaf in np.unique(node).tolist():
            seen = self._seen(leaf) if leaf >= 0 else None
            if seen is not None and self._line[seen.user] > 0:
                places[self._file[seen.user], self._line[seen.user], seen.transform][leaf] = seen
        found = []
        for (file, line, transform), of_leaf in places.items():
            rows = np.flatnonzero(np.isin(node, np.array(list(of_leaf), np.int64)))
            ns = int(lasted[rows].sum())
            kinds = {_kind(each) for each in of_leaf.values()}
            if ns < _LEAST_SHARE * self._total_ns or not kinds:
                continue
            described = self._stacks.files[file]
            starts = self._trace.stack_samples["start_ns"][rows] + (
                self._trace.context.sampling.get("clock_offset_ns") or 0
            )
            found.append(
                FullDerivative(
                    # what is nested or in forward mode shows on some of its stacks only
                    kind=next(each for each in _BY_CERTAINTY if each in kinds),
                    transform=transform,
                    vectorized=transform or any("vmap" in name for each in of_leaf.values() for name in each.library),
                    file=described.filename,
                    is_cell=described.kind == "cell",
                    execution_count=described.execution_count,
                    line=line,
                    operands=operands_at(self._trace.context.operands, described.filename, line),
                    ns=ns,
                    share=ns / self._total_ns,
                    cell_lines=self._cell_lines(next(iter(of_leaf.values())).user),
                    starts_ns=starts,
                    ends_ns=starts + lasted[rows],
                )
            )
        return found

    def _seen(self, leaf: int) -> _SeenDerivative | None:
        """The outermost call of the kind on this stack, directly from the user's code."""
        stack, here = list[int](), leaf
        while here >= 0:
            stack.append(here)
            here = self._parent[here]
        stack.reverse()
        for at, (user, called) in enumerate(pairwise(stack)):
            if self._is_own[self._file[user]] and self._begins(called):
                below = stack[at + 1 :]
                end = next((row for row, each in enumerate(below) if self._is_own[self._file[each]]), len(below))
                library = tuple(self._stacks.functions[self._function[each]] for each in below[:end])
                return _SeenDerivative(user, library, self._is_transform[self._file[called]])
        return None

    def _begins(self, node: int) -> bool:
        function, file = self._stacks.functions[self._function[node]], self._file[node]
        if self._is_transform[file]:
            return function in (_REVERSE, _FORWARD)
        return self._is_functional[file] and function in ("jacobian", "hessian")

    def _cell_lines(self, node: int) -> tuple[int, ...]:
        found = list[int]()
        while node >= 0:
            if self._stacks.files[self._file[node]].kind == "cell" and self._line[node] > 0:
                found.append(self._line[node])
            node = self._parent[node]
        return tuple(dict.fromkeys(found))


_BY_CERTAINTY = (DerivativeKind.HESSIAN, DerivativeKind.FORWARD, DerivativeKind.REVERSE)


def _kind(seen: _SeenDerivative) -> DerivativeKind:
    first, *below = seen.library
    if not seen.transform:
        if first == "hessian":
            return DerivativeKind.HESSIAN
        return DerivativeKind.FORWARD if "_jacfwd" in below else DerivativeKind.REVERSE
    if _REVERSE in below or _FORWARD in below:
        return DerivativeKind.HESSIAN
    return DerivativeKind.FORWARD if first == _FORWARD else DerivativeKind.REVERSE
