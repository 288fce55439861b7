"""Tensors that are filled on the host and then copied to the device whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.graph_joins import at_top
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import inputs_of
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_FILLS = ("rand", "randn", "randint", "zeros", "ones", "full", "rand_like", "randn_like", "zeros_like", "ones_like")
_NAMES = frozenset(f"aten::{name}" for name in _FILLS)
_HABIT = 0.8


@dataclass(frozen=True, eq=False)
class HostFills(Result):
    """An operator of the main thread that fills a tensor, and right after it the `.to` that copies one to the device.

    `copies`: rows of `Copies.table` where the recorded shapes say that both are about as large a tensor, int64;
    `names`: of the filling operators, in the same order. `unsure`: rows where no shapes were recorded. What a
    DataLoader does inside its `__next__` is left out. `steps_with`: steps (or iterations, see Repeats) with a sure
    one, of `steps`. `cost` and `unsure_cost`: from the begin of the filling to the end of the `.to` and of the
    copy, as far as the first device computes nothing; unions.
    """

    copies: Array
    names: tuple[str, ...]
    unsure: Array
    steps: int
    steps_with: int
    cost: Intervals
    unsure_cost: Intervals

    @property
    def habit(self) -> bool:
        """Whether nearly all steps have one."""
        return self.steps_with >= max(_HABIT * self.steps, 1)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From neighbours among the outermost operators."""
        copies, operators = results.get(Copies).table, trace.operators
        device, repeats = results.get(DeviceActivity).primary, results.get(Repeats)
        to_device = np.flatnonzero((copies["direction"] == CopyKind.H2D) & (copies["operator"] >= 0))
        top = np.flatnonzero((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
        place = {row: number for number, row in enumerate(top.tolist())}
        sure, unsure, spans = [], [], {}
        for row, root in zip(to_device.tolist(), at_top(trace, copies["operator"][to_device]), strict=True):
            number = place.get(int(root), 0)
            if not number:
                continue
            fill = int(top[number - 1])
            if trace.names[operators["name"][fill]] not in _NAMES or _loading(trace, results, fill):
                continue
            end = max(_end(operators, int(root)), _end(copies, row))
            spans[row] = (int(operators["start_ns"][fill]), end, trace.names[operators["name"][fill]])
            known = inputs_of(trace, int(root))
            if not known:
                unsure.append(row)
            elif known[0].dims and known[0].dims in _shapes_inside(trace, fill):
                sure.append(row)
        busy = intervals.EMPTY if device is None else device.compute
        chosen = np.array(sure, np.int64)
        return cls(
            copies=chosen,
            names=tuple(spans[row][2] for row in sure),
            unsure=np.array(unsure, np.int64),
            steps=repeats.count,
            steps_with=len(set(repeats.number(trace, copies)[chosen].tolist()) - {-1}),
            cost=intervals.subtract(_union([spans[row] for row in sure]), busy),
            unsure_cost=intervals.subtract(_union([spans[row] for row in unsure]), busy),
        )


def _loading(trace: Trace, results: Results, operator: int) -> bool:
    return bool(intervals.contains(results.get(Phases).input, trace.operators["start_ns"][[operator]])[0])


def _end(table: Table, row: int) -> int:
    return int(table["start_ns"][row] + table["duration_ns"][row])


def _shapes_inside(trace: Trace, operator: int) -> set[tuple[int, ...]]:
    """Shapes of the first inputs of what that operator calls (`aten::zero_`, `aten::normal_`)."""
    inside = np.flatnonzero(trace.operators["parent"] == operator)
    return {inputs[0].dims for inputs in (inputs_of(trace, int(row)) for row in inside) if inputs and inputs[0].dims}


def _union(spans: list[tuple[int, int, str]]) -> Intervals:
    starts, ends = ([span[end] for span in spans] for end in (0, 1))
    return intervals.union(Intervals(np.array(starts, np.int64), np.array(ends, np.int64)))
