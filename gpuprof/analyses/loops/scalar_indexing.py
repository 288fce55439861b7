"""Where Python fills or reads tensors one number after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import inputs_of
from gpuprof.analyses.loops.loop_operators import loop_operators
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.training.backward_work import backward_of
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.known_operators import SELECT, UNBIND
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# A run is a habit, not a handful; longer breaks are filled with other work of Python.
_LEAST_ACCESSES = 10
_LONGEST_BREAK_NS = 20_000

# What Python makes of a number that is to be written.
_NUMBER, _COPY = "aten::lift_fresh", "aten::copy_"
_CHANGES = ("aten::fill_", "aten::add_", "aten::sub_", "aten::mul_", "aten::div_")
# how the recorded shapes begin where the first tensor has none
_NO_DIMENSIONS = "[[]"
_COMPARISONS = tuple(f"aten::{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
_READS = ("aten::item", "aten::is_nonzero", "aten::_local_scalar_dense")


@dataclass(frozen=True, eq=False)
class Accesses:
    """Runs of accesses to single numbers, in order; arrays of shape `(runs,)`.

    `within`: from the first operator of the run's first access to the end of its last one. `operators_ns` is the time
    of it inside operators, `number` and `writes` count the accesses and those that write, `step` is their step
    or iteration (see Repeats).
    `behind`: the union of what `backward()` does for them, outside of them.
    """

    within: Intervals
    operators_ns: Array
    number: Array
    writes: Array
    step: Array
    behind: Intervals = intervals.EMPTY

    def per_step(self, steps: int) -> Array:
        """Accesses in each step or iteration, int64 of shape `(steps,)`."""
        inside = self.step >= 0
        return np.bincount(self.step[inside], weights=self.number[inside], minlength=steps).astype(np.int64)


@dataclass(frozen=True)
class ScalarIndexing(Result):
    """Accesses by `x[i, j]` on the main thread, outside input, backward and optimizer.

    `known` are certain: a slice, then a read, or a write to a tensor without dimensions. `possible` has, beside them,
    writes that may be of whole rows, since no shapes were recorded.
    """

    known: Accesses
    possible: Accesses

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the order of top-level operators.

        A number that is given to a whole row is written by `fill_`, to a tensor without dimensions by `copy_`
        (torch/include/ATen/TensorIndexing.h, `copy_to`), so that numbers are known without shapes, too.
        """
        sequence = _Sequence.of(trace, results)
        sure, perhaps = sequence.accesses()
        return cls(*(_with_backward(trace, sequence.runs(each)) for each in (sure, sure | perhaps)))


def _with_backward(trace: Trace, runs: Accesses) -> Accesses:
    forward = intervals.union(runs.within)
    if not len(forward.starts):
        return runs
    return replace(runs, behind=intervals.subtract(backward_of(trace, forward), forward))


@dataclass(frozen=True, eq=False)
class _Sequence:
    """The operators in order, arrays of shape `(operators,)`. `single`: all tensors that it takes have no dimensions,
    `target`: the first one has none; both False where `shapes` are not known. `leads`: it leads to an access."""

    starts: Array
    ends: Array
    section: Array
    step: Array
    name: Array
    names: tuple[str, ...]
    shapes: Array
    target: Array
    leads: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> _Sequence:
        operators = trace.operators
        rows, section = loop_operators(trace, results.get(Phases))
        starts = operators["start_ns"][rows]
        target, single = _without_dimensions(trace, rows)
        name = operators["name"][rows]
        other = ~_are(trace.names, name, UNBIND, _COPY, *_CHANGES, *_READS)
        read = _are(trace.names, name, *_READS)
        # `if x[i] > y[i]`: what is read holds one number, and so does what is compared
        compared = _are(trace.names, name, *_COMPARISONS) & np.append(read[1:], False)[: len(read)]
        return cls(
            starts,
            starts + operators["duration_ns"][rows],
            section,
            results.get(Repeats).number(trace, operators)[rows],
            name,
            trace.names,
            operators["input_dims"][rows] >= 0,
            target,
            _are(trace.names, name, SELECT, _NUMBER) | compared | (single & other),
        )

    def accesses(self) -> tuple[Array, Array]:
        """Those that are certain, and those that may be writes of a whole row."""
        slices, numbers, reads = self._named(SELECT), self._named(_NUMBER), self._named(*_READS)
        changes = self._named(*_CHANGES)
        sliced, number = self._before(self.leads, slices), self._before(self.leads, numbers)
        unbound = self._before(reads | self._named(UNBIND), self._named(UNBIND))
        copies = self._named(_COPY)
        writes = (copies | changes) & sliced & np.where(self.shapes, self.target, copies & number)
        return writes | (reads & (sliced | unbound)), (copies | changes) & sliced & ~self.shapes

    def runs(self, accesses: Array) -> Accesses:
        """Of accesses that follow one another with nothing between but what leads to them."""
        member = accesses | self.leads
        broken = np.diff(self.section, prepend=-1) != 0
        broken[1:] |= self.starts[1:] - self.ends[:-1] > _LONGEST_BREAK_NS
        run = np.cumsum(broken | ~member | ~np.append(True, member[:-1]))
        at = np.flatnonzero(accesses)
        if not len(at):
            none = np.zeros(0, np.int64)
            return Accesses(Intervals(none, none), none, none, none, none)
        _, first, number = np.unique(run[at], return_index=True, return_counts=True)
        kept = number >= _LEAST_ACCESSES
        first, number = first[kept], number[kept]
        last, begin = at[first + number - 1], self._begin(at[first], run)
        spent = np.append(0, np.cumsum(self.ends - self.starts))
        reads = np.append(0, np.cumsum(accesses & self._named(*_READS)))
        return Accesses(
            Intervals(self.starts[begin], self.ends[last]),
            spent[last + 1] - spent[begin],
            number,
            number - (reads[last + 1] - reads[begin]),
            self.step[last],
        )

    def _named(self, *names: str) -> Array:
        return _are(self.names, self.name, *names)

    def _since(self, chain: Array) -> Array:
        """Where the uninterrupted `chain` before each operator begins: its own place where there is none."""
        place = np.arange(len(chain))
        new = np.diff(self.section, prepend=-1) != 0
        begins = np.where(new, place, np.append(0, np.where(chain, 0, place + 1)[:-1]))
        return np.maximum.accumulate(begins) if len(begins) else begins

    def _before(self, chain: Array, wanted: Array) -> Array:
        """Whether one of those that are `wanted` is in the chain before each operator."""
        counted = np.append(0, np.cumsum(wanted))
        found: Array = counted[:-1] > counted[self._since(chain)]
        return found

    def _begin(self, places: Array, run: Array) -> Array:
        """Where what leads to these accesses begins, within their run."""
        return np.maximum(self._since(self.leads)[places], np.searchsorted(run, run[places]))


def _are(names: tuple[str, ...], name: Array, *wanted: str) -> Array:
    """Boolean mask of `name`'s shape: which of these indices are of the names `wanted`."""
    hit = np.fromiter((each in wanted for each in names), bool, len(names))
    found: Array = hit[name] if len(name) else np.zeros(0, bool)
    return found


def _without_dimensions(trace: Trace, rows: Array) -> tuple[Array, Array]:
    """Whether the first tensor of each row, and whether every one, is a single number without dimensions."""
    operators, names = trace.operators, trace.names
    dims, types = operators["input_dims"][rows].astype(np.int64), operators["input_types"][rows].astype(np.int64)
    shapes, of_row = np.unique(dims, return_inverse=True)
    # most begin with a tensor that has dimensions: those need not be read
    begins = np.array([bool(each >= 0 and names[each].startswith(_NO_DIMENSIONS)) for each in shapes], bool)
    target, single = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    chosen = np.flatnonzero(begins[of_row.reshape(-1)]) if len(rows) else np.zeros(0, np.int64)
    _, first, same = np.unique(dims[chosen] << 32 | (types[chosen] + 1), return_index=True, return_inverse=True)
    known = [[each.dims for each in inputs_of(trace, int(rows[chosen[at]])) if each.element_bytes] for at in first]
    target[chosen] = np.array([bool(shape) and shape[0] == () for shape in known], bool)[same.reshape(-1)]
    single[chosen] = np.array([bool(shape) and not any(shape) for shape in known], bool)[same.reshape(-1)]
    return target, single
