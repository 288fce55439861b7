"""In which phase of the cell memory grew, beside what is known to be in it at the end."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.cell_memory import resident_readings
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.memory import Composition, HeldTensors
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# parts of the end
BY_NAMES, BY_GRAPHS = "held by names", "held by graphs"
# less comes and goes with every buffer
_LEAST_BYTES = 64 * 1024**2
_FEWEST_READINGS = 5
_LEAST_SHARE = 0.05
_MOST_NAMES = 3
# readings are further apart than these parts of a step
# held before the end
_EARLIER = ("frame", "peak")
_OF_A_STEP = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER)


@dataclass(frozen=True)
class PlaceGrowth:
    """The memory of one `place`: `process` (resident) or a device (`cuda:0`, allocated). `grown_bytes`: from the first
    reading to the last; `phases`: net growth in each, the largest first, those of a twentieth of it at least.

    `parts`: what is known of `end_bytes`, by name of the part: parameters, gradients, optimizer state, buffers, other
    tensors that names of the notebook hold, and what their graphs keep. `rest_bytes` is what remains; gradients that
    were freed before the end count as if they were there. `names`: the three at most that hold the most of it, and
    their bytes, each a twentieth of `end_bytes` at least. `earlier`: the same of the variables of one function
    (`rows in collect()`), seen at one time before the end: those of the function that held most.
    """

    place: str
    grown_bytes: int
    end_bytes: int
    phases: tuple[tuple[Phase, int], ...]
    parts: tuple[tuple[str, int], ...]
    rest_bytes: int
    names: tuple[tuple[str, int], ...]
    earlier: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class MemoryByPhase(Result):
    """`places` whose memory grew by 64 MiB at least, the process first; empty where no stack was sampled."""

    places: tuple[PlaceGrowth, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the readings of the process and of the allocators, and what the thread was in between two of them."""
        stretches = results.get(Stretches)
        if not stretches.total_ns:
            return cls(())
        phases = _Phases(stretches, results.get(SamplePhases).phase)
        readings = {"process": resident_readings(trace)}
        for each in trace.context.device_memory:
            columns = (each.time_ns, each.allocated_bytes)
            readings[f"cuda:{each.device}"] = (np.array(columns[0], np.int64), np.array(columns[1], np.int64))
        found = (_place(trace, place, phases, *columns) for place, columns in readings.items())
        return cls(tuple(each for each in found if each is not None))


class _Phases:
    """Which phase took most of the time between two readings."""

    def __init__(self, stretches: Stretches, phase: Array):
        order = np.argsort(stretches.start_ns, kind="stable")
        self._starts = stretches.start_ns[order]
        whole = phase[order].copy()
        whole[np.isin(whole, [PHASES.index(each) for each in _OF_A_STEP])] = PHASES.index(Phase.TRAINING)
        self._phase = whole
        lasted = stretches.duration_ns[order]
        # nanoseconds in each phase before each stretch begins, of shape (phases, n + 1)
        self._before = np.zeros((len(PHASES), len(whole) + 1), np.int64)
        for number in range(len(PHASES)):
            np.cumsum(np.where(whole == number, lasted, 0), out=self._before[number, 1:])

    def between(self, times: Array) -> Array:
        """For each of the n - 1 intervals between n ascending times its phase, a place in PHASES."""
        at = np.searchsorted(self._starts, times)
        spent = np.diff(self._before[:, at], axis=1)
        last = np.clip(at[1:] - 1, 0, len(self._phase) - 1)
        found: Array = np.where(spent.any(axis=0), spent.argmax(axis=0), self._phase[last])
        return found


def _place(trace: Trace, place: str, phases: _Phases, time: Array, held: Array) -> PlaceGrowth | None:
    if len(held) < _FEWEST_READINGS:
        return None
    grown, end = int(held[-1] - held[0]), int(held[-1])
    if grown < _LEAST_BYTES:
        return None
    sums = np.bincount(phases.between(time), weights=np.diff(held), minlength=len(PHASES))
    order = np.argsort(-sums, kind="stable")
    found = tuple((PHASES[at], int(sums[at])) for at in order if abs(sums[at]) >= _LEAST_SHARE * grown)
    device = "cpu" if place == "process" else place
    holding = _held(trace, device)
    parts = _parts(trace, device, holding)
    rest = max(end - sum(number for _, number in parts), 0)
    names, earlier = _largest(holding, end), _largest(_earlier(trace, device), end)
    return PlaceGrowth(place, grown, end, found, parts, rest, names, earlier)


def _largest(holding: list[HeldTensors], end_bytes: int) -> tuple[tuple[str, int], ...]:
    largest = sorted(holding, key=lambda each: -each.bytes)[:_MOST_NAMES]
    return tuple((each.name, each.bytes) for each in largest if each.bytes >= _LEAST_SHARE * end_bytes)


def _earlier(trace: Trace, device: str) -> list[HeldTensors]:
    """Variables of one function, at one time."""
    calls = defaultdict[tuple[str, int | None], list[HeldTensors]](list)
    for each in trace.context.held or ():
        if each.device == device and each.kind == "frame":
            calls[each.name.partition(" in ")[2], each.at_ns].append(each)
    return max(calls.values(), key=lambda group: max(each.bytes for each in group), default=[])


def _held(trace: Trace, device: str) -> list[HeldTensors]:
    """By names, at the end, beside what a known model has."""
    known = _known(trace, device)
    held = [each for each in trace.context.held or () if each.device == device and each.kind not in _EARLIER]
    return [each for each in held if each.kind != "module" or not known]


def _known(trace: Trace, device: str) -> Composition | None:
    return next((each for each in trace.context.compositions if each.device == device), None)


def _parts(trace: Trace, device: str, held: list[HeldTensors]) -> tuple[tuple[str, int], ...]:
    known = _known(trace, device)
    sizes = {
        "parameters": known.parameter_bytes if known else 0,
        "gradients": known.gradient_bytes if known else 0,
        "optimizer state": known.state_bytes if known else 0,
        "buffers": known.buffer_bytes if known else 0,
        BY_NAMES: sum(each.bytes for each in held),
        BY_GRAPHS: sum(each.graph_bytes or 0 for each in held),
    }
    return tuple((name, size) for name, size in sizes.items() if size)
