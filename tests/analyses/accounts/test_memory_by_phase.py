from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.accounts.memory_by_phase import MemoryByPhase
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.model.memory import Composition, DeviceMemory, HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.report.growth_words import growth_words
from tests.analyses.accounts.cells import line
from tests.analyses.accounts.test_cell_memory import MIB, MS, read
from tests.analyses.accounts.test_sample_phases import CALL, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture


def trace(mib: list[float], **context: Any) -> Trace:
    """A second of training, nearly another of evaluation, and what comes after it."""
    builder = TraceBuilder().stack(0, 1_000_000, line(5), CALL)
    builder.stack(1_000_000, 900_000, line(12), CALL).stack(1_900_000, 200_000, line(20))
    found = read(builder, mib, ends_ms=(100, 300, 500, 700, 900))
    return replace(found, context=msgspec.structs.replace(found.context, **context))


def growing(start: float, each: float) -> list[float]:
    return [start] * 11 + [start + each * number for number in range(1, 9)] + [start + each * 8] * 2


def test_growth_is_in_the_phase_that_the_cell_was_in() -> None:
    held = HeldTensors(
        name="outputs", kind="global", device="cpu", bytes=8 * MIB, tensors=8, graphs=8, graph_bytes=380 * MIB
    )
    module = HeldTensors(name="net", kind="module", device="cpu", bytes=40 * MIB, tensors=4)
    known = Composition(device="cpu", parameter_bytes=40 * MIB)
    found = Results(trace(growing(300, 50), held=(held, module), compositions=(known,))).get(MemoryByPhase)
    (process,) = found.places
    assert (process.place, process.grown_bytes, process.end_bytes) == ("process", 400 * MIB, 700 * MIB)
    assert process.phases == ((Phase.EVALUATION, 400 * MIB),)
    parts = {"parameters": 40 * MIB, "held by names": 8 * MIB, "held by graphs": 380 * MIB}
    assert dict(process.parts) == parts and process.rest_bytes == 272 * MIB
    assert growth_words(found).replace("\xa0", " ") == (
        "The memory of the process grew by 400 MiB in all: 400 MiB in evaluation. "
        "Of 700 MiB at the end: parameters 40.0 MiB, "
        "held by graphs 380 MiB, the rest 272 MiB."
    )


def names(*sizes: int) -> tuple[HeldTensors, ...]:
    made = enumerate(sizes)
    return tuple(HeldTensors(name=f"n{at}", kind="global", device="cpu", bytes=size, tensors=1) for at, size in made)


def test_the_names_that_hold_the_most_are_told() -> None:
    held = names(30 * MIB, 90 * MIB, 36 * MIB, 34 * MIB, 200 * MIB, 35 * MIB)
    found = Results(trace(growing(300, 50), held=held)).get(MemoryByPhase)
    assert found.places[0].names == (("n4", 200 * MIB), ("n1", 90 * MIB), ("n2", 36 * MIB))
    words = growth_words(found).replace("\xa0", " ")
    assert "held by names 425 MiB (`n4` 200 MiB, `n1` 90.0 MiB, `n2` 36.0 MiB), the rest" in words
    assert Results(trace(growing(300, 50), held=names(34 * MIB))).get(MemoryByPhase).places[0].names == ()


def variables(*sizes: int, function: str = "fit", at_ns: int = 5) -> tuple[HeldTensors, ...]:
    of_function = (f"v{at} in {function}()" for at in range(len(sizes)))
    return tuple(
        HeldTensors(name=name, kind="frame", device="cpu", bytes=size, tensors=1, at_ns=at_ns)
        for name, size in zip(of_function, sizes, strict=True)
    )


def test_variables_that_held_most_before_the_end_are_told() -> None:
    held = (*variables(250 * MIB, 10 * MIB, 90 * MIB), *variables(80 * MIB, function="other"), *names(40 * MIB))
    found = Results(trace(growing(300, 50), held=held)).get(MemoryByPhase)
    assert found.places[0].earlier == (("v0 in fit()", 250 * MIB), ("v2 in fit()", 90 * MIB))
    words = growth_words(found).replace("\xa0", " ")
    assert words.endswith(
        " Before the end, variables of a function held: `v0` in `fit()` 250 MiB, `v2` in `fit()` 90.0 MiB."
    )
    # names at the end say as much
    at_end = Results(trace(growing(300, 50), held=(*held, *names(40 * MIB, 400 * MIB)))).get(MemoryByPhase)
    assert at_end.places[0].earlier and "Before the end" not in growth_words(at_end)


def test_a_device_is_read_by_its_allocator() -> None:
    # GIVEN readings at steps and batches: training frees 10 MiB, each 200 ms of evaluation keep 100 MiB
    times = (0, 300, 600, 950, 1200, 1400, 1600, 1800)
    allocated = (100, 95, 92, 90, 190, 290, 390, 490)
    readings = DeviceMemory(
        device=0,
        time_ns=tuple(each * MS for each in times),
        allocated_bytes=tuple(each * MIB for each in allocated),
    )
    (device,) = Results(trace([300.0] * 21, device_memory=(readings,))).get(MemoryByPhase).places
    assert (device.place, device.grown_bytes) == ("cuda:0", 390 * MIB)
    assert device.phases == ((Phase.EVALUATION, 400 * MIB),)


@pytest.mark.parametrize(
    "found",
    [
        trace([300.0] * 21),
        trace(growing(300, 7.9)),
        TraceBuilder().build(),
        trace([300.0] * 21, device_memory=(DeviceMemory(device=0, time_ns=(1, 2), allocated_bytes=(0, 1 << 30)),)),
    ],
)
def test_little_or_unknown_growth_is_not_said(found: Trace) -> None:
    assert Results(found).get(MemoryByPhase).places == ()
    assert growth_words(Results(found).get(MemoryByPhase)) == ""
