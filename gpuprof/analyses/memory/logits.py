"""The largest tensor of scores (rows × classes) that a loss is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import TensorInput, inputs_of
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace

_LOSSES = ("aten::cross_entropy_loss", "aten::nll_loss_forward", "aten::nll_loss2d_forward")
_LOG_SOFTMAX = ("aten::_log_softmax",)


@dataclass(frozen=True)
class Logits(Result):
    """What `cross_entropy` and `nll_loss` are given. None or 0 where none was recorded.

    `calls`: how many such losses were computed. `bytes`: of the largest tensor, by its recorded shape, else by the
    largest allocation of a `log_softmax` (`shape_known` False). `rows` are tokens, pixels or samples, `classes` the
    vocabulary; None without shapes. `start_ns`, `end_ns`: the operator that took it.
    """

    calls: int
    bytes: int | None = None
    rows: int | None = None
    classes: int | None = None
    shape_known: bool = False
    start_ns: int | None = None
    end_ns: int | None = None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the shapes of the losses' operators, else from the allocator's rows inside `log_softmax`."""
        operators = trace.operators
        losses = np.flatnonzero(trace.name_mask(operators, *_LOSSES))
        first = np.flatnonzero(trace.name_mask(operators, *_LOSSES[:1]))
        inside = np.flatnonzero(trace.name_mask(operators, *_LOG_SOFTMAX))
        calls = len(first) or len(losses) or len(inside)
        given_to = ((int(row), _scores(trace, int(row))) for row in losses)
        sized = [(size, row, given) for row, given in given_to if given and (size := _bytes(given))]
        if sized:
            size, row, given = max(sized, key=lambda each: each[0])
            classes = given.dims[1]
            start, end = _when(trace, row)
            return cls(calls, size, given.elements // classes, classes, True, start, end)
        rows = _on_devices(trace)
        largest = max(((_allocated(trace, rows, int(row)), int(row)) for row in inside), default=(0, -1))
        if largest[0] <= 0:
            return cls(calls)
        start, end = _when(trace, largest[1])
        return cls(calls, largest[0], start_ns=start, end_ns=end)


def _scores(trace: Trace, row: int) -> TensorInput | None:
    inputs = inputs_of(trace, row)
    return inputs[0] if inputs and len(inputs[0].dims) > 1 and inputs[0].dims[1] > 0 else None


def _bytes(given: TensorInput) -> int:
    return given.elements * (given.element_bytes or 0)


def _when(trace: Trace, row: int) -> tuple[int, int]:
    start = int(trace.operators["start_ns"][row])
    return start, start + int(trace.operators["duration_ns"][row])


def _on_devices(trace: Trace) -> Table:
    """The allocations on devices, by time."""
    memory = trace.memory
    rows = np.flatnonzero((memory["device_type"] != MemoryDevice.CPU) & (memory["bytes"] > 0))
    return memory.take(rows[np.argsort(memory["time_ns"][rows], kind="stable")])


def _allocated(trace: Trace, memory: Table, row: int) -> int:
    """The largest allocation while that operator ran, by its thread."""
    first, last = np.searchsorted(memory["time_ns"], _when(trace, row))
    here = memory["thread"][first:last] == trace.operators["thread"][row]
    return int(memory["bytes"][first:last][here].max(initial=0))
