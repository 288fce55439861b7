"""Lines that read variables which held subnormal numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.subnormal_variables import SubnormalReads, SubnormalVariables
from gpuprof.model.context import Cell
from gpuprof.model.operands import MadeValue
from gpuprof.model.trace import Trace
from tests.rules.cases.needless.value_made_again import value
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOURCE = """def simulate(trace):
    for step in steps:
        trace = 0.8 * trace
        slow += (1 -
                 trace)
        other = noise(step)

simulate(first)
"""
MS = 1_000_000


def decayed(name: str = "trace", **changed: Any) -> MadeValue:
    known = {"name": name, "function": "simulate", "subnormal_looks": 12, "subnormal_share": 0.6, "times_slower": 40.0}
    return value(**(known | changed))


def simulated(*values: MadeValue, first_us: int = 100_000) -> Trace:
    """Each of five lines of the function takes 100 ms, or the first one `first_us`, and the last one the rest."""
    builder, at = TraceBuilder().operator("aten::mm", 480_000, 20_000), 1
    for line, for_us in ((3, first_us), (4, 100_000), (5, 100_000), (6, 100_000), (2, 200_000 - first_us)):
        builder.stack(at, for_us, (CELL_FILE, "<module>", 8), (CELL_FILE, "simulate", line))
        at += for_us
    return builder.context(cell=Cell(source=SOURCE, filename=CELL_FILE), made_values=values).build()


def reads(*values: MadeValue) -> tuple[SubnormalReads, ...]:
    return Results(simulated(*values)).get(SubnormalVariables).reads


def test_the_lines_that_read_them_and_their_time() -> None:
    (each,) = reads(decayed(), decayed("unread", subnormal_looks=20, subnormal_share=0.9))
    # line 3 gives it a value and reads it; of lines 4 and 5 only the part that reads it
    assert (each.ns, each.share) == (200 * MS, pytest.approx(0.4))
    assert each.names == ("unread", "trace") and each.looks_share == 0.9
    assert (each.function, each.double, each.times_slower) == ("simulate", False, 40.0)
    assert each.during.total_ns == 200 * MS


def test_one_that_is_changed_in_place() -> None:
    (each,) = reads(decayed("slow"))
    assert each.ns == 200 * MS


@pytest.mark.parametrize(
    "seen",
    [
        decayed(subnormal_looks=2),
        decayed(function="train"),
        decayed(first=3),
        decayed(file="elsewhere.py"),
        decayed("noise_of_it"),
    ],
)
def test_what_is_not_told(seen: MadeValue) -> None:
    assert not reads(seen)


@pytest.mark.parametrize(("first_us", "told"), [(5_000, True), (4_999, False)])
def test_one_percent_of_the_cell_is_told(first_us: int, told: bool) -> None:
    source = SOURCE.replace("(1 -\n                 trace)", "(1 -\n                 other)")
    trace = simulated(decayed(), first_us=first_us)
    context = msgspec.structs.replace(trace.context, cell=Cell(source=source, filename=CELL_FILE))
    assert bool(Results(replace(trace, context=context)).get(SubnormalVariables).reads) is told


def test_without_samples_nothing_is_told() -> None:
    trace = TraceBuilder().context(cell=Cell(source=SOURCE, filename=CELL_FILE), made_values=(decayed(),)).build()
    assert not Results(trace).get(SubnormalVariables).reads
