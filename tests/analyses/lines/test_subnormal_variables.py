"""Lines that read variables which held subnormal numbers."""

from __future__ import annotations

from typing import Any

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


def simulated(*values: MadeValue) -> Trace:
    """Each of five lines of the function takes 100 ms."""
    builder = TraceBuilder().operator("aten::mm", 480_000, 20_000)
    for place, line in enumerate((3, 4, 5, 6, 2)):
        builder.stack(place * 100_000 + 1, 100_000, (CELL_FILE, "<module>", 8), (CELL_FILE, "simulate", line))
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


def test_without_samples_nothing_is_told() -> None:
    trace = TraceBuilder().context(cell=Cell(source=SOURCE, filename=CELL_FILE), made_values=(decayed(),)).build()
    assert not Results(trace).get(SubnormalVariables).reads
