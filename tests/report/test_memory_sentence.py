"""Memory in the verdict: growth over the whole cell, a peak near the limit, graphs that are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Window
from gpuprof.model.memory import Composition, DeviceMemory, HeldTensors
from gpuprof.report.memory_sentence import memory_sentence
from tests.analyses.accounts.cells import line
from tests.analyses.accounts.test_cell_memory import MIB, MS, read, replace_context
from tests.analyses.accounts.test_memory_by_phase import growing, names, trace, variables
from tests.analyses.accounts.test_sample_phases import libraries
from tests.rules.cases.memory import memory_near_limit
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture


def said(mib: list[float], **context: Any) -> str:
    found = trace(mib, **context)
    return memory_sentence(found, Results(found)).replace("\u00a0", " ")


def test_growth_is_said_with_its_line_and_what_keeps_it() -> None:
    kept = HeldTensors(name="a", kind="global", device="cpu", bytes=0, tensors=8, graphs=8, graph_bytes=380 * MIB)
    assert said(growing(300, 50), held=(kept,)) == (
        "The memory of the process rises from 300 MiB to 700 MiB, 400 MiB of it in line 12 of the cell (evaluation); "
        "autograd graphs keep 380 MiB."
    )
    assert said(growing(300, 50)).endswith("(evaluation).")


@pytest.mark.parametrize(
    ("held", "where"),
    [(200, ", most of it in evaluation; at the end `n0` holds 200 MiB"), (199, ", 400 MiB of it in line 12")],
)
def test_what_a_name_holds_is_said_instead_of_the_line(held: int, where: str) -> None:
    assert said(growing(300, 50), held=names(held * MIB)).startswith(
        f"The memory of the process rises from 300 MiB to 700 MiB{where}"
    )


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        (
            (210, 100),
            "most of it in evaluation; before the end `v0` in `fit()` held 210 MiB and `v1` in `fit()` held 100 MiB",
        ),
        ((150, 40), "400 MiB of it in line 12 of the cell (evaluation)"),
    ],
)
def test_what_variables_of_a_function_held_is_said(sizes: tuple[int, ...], held: str) -> None:
    told = said(growing(300, 50), held=variables(*(size * MIB for size in sizes)))
    assert told == f"The memory of the process rises from 300 MiB to 700 MiB, {held}."


@pytest.mark.parametrize(("each", "told"), [(50, False), (140, True)])
def test_beside_a_device_what_its_libraries_take_is_not_said(each: float, told: bool) -> None:
    found = trace(growing(300, each))
    events = TraceBuilder().kernel("a", 0, 10).build().device_events
    found = replace(found, tables={**found.tables, "device_events": events})
    assert bool(memory_sentence(found, Results(found))) is told


@pytest.mark.parametrize(("start", "each"), [(300, 15), (1000, 50)])
def test_what_is_little_beside_what_was_there_is_not_said(start: float, each: float) -> None:
    assert said(growing(start, each)) == ""


def test_a_process_near_the_limit_is_said_however_little_it_grew() -> None:
    machine = Environment(host_memory_bytes=1_400 * MIB)
    assert said(growing(1000, 25), environment=machine) == (
        "The memory of the process rises from 1,000 MiB to 1.17 GiB of 1.37 GiB, 200 MiB of it in line 12 of the cell "
        "(evaluation)."
    )
    assert said(growing(1000, 25), environment=Environment(host_memory_bytes=1_600 * MIB)) == ""
    assert said([1000.0] * 21, environment=Environment(host_memory_bytes=1_200 * MIB)) == (
        "The memory of the process peaks at 1,000 MiB of 1.17 GiB."
    )


def test_what_the_recording_took_is_not_said() -> None:
    builder = TraceBuilder().stack(0, 3_000_000, line(5))
    held = [300.0] * 4 + [600.0 + 100 * number for number in range(8)] + [350.0] * 18
    found = read(builder, held, ends_ms=(300, 600, 900, 1200, 2000))
    window = Window(cell_start_ns=0, cell_end_ns=3_000 * MS, start_ns=300 * MS, end_ns=1_200 * MS)
    recorded = replace(found, context=replace_context(found, window))
    assert memory_sentence(recorded, Results(recorded)) == ""
    assert memory_sentence(found, Results(found)).startswith("The memory of the process rises from")
    assert said(growing(300, 50), sampling={"gaps_bytes": 300 * MIB}) == ""
    assert said(growing(300, 50), sampling={"gaps_bytes": 120 * MIB}) == (
        "The memory of the process rises from 300 MiB to 700 MiB; the recording may have taken 120 MiB of that."
    )
    assert said(growing(300, 50), sampling={"gaps_bytes": 90 * MIB}).endswith("(evaluation).")


def readings(*mib: float) -> DeviceMemory:
    times = (0, 300, 600, 950, 1200, 1400, 1600, 1800)
    return DeviceMemory(
        device=0,
        time_ns=tuple(each * MS for each in times),
        allocated_bytes=tuple(round(each * MIB) for each in mib),
    )


def test_growth_of_a_device_is_said_where_the_model_does_not_explain_it() -> None:
    grown = readings(100, 95, 92, 90, 190, 290, 390, 490)
    assert said([300.0] * 21, device_memory=(grown,)) == "GPU memory grows by 390 MiB, most of it in evaluation."
    model = Composition(device="cuda:0", parameter_bytes=100 * MIB, state_bytes=200 * MIB)
    assert said([300.0] * 21, device_memory=(grown,), compositions=(model,)) == ""


def test_a_peak_near_the_devices_limit_is_said() -> None:
    fires, quiet = memory_near_limit.fires(), TraceBuilder().operator("aten::mm", 0, 1).build()
    assert memory_sentence(fires, Results(fires)).startswith("GPU memory peaks at ")
    assert memory_sentence(quiet, Results(quiet)) == ""
