"""What is said of the line that takes the wait for data."""

from __future__ import annotations

import dataclasses

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.wait_lines import WaitLine
from gpuprof.model.context import Environment
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.loading.input_stall import InputStall, _change
from gpuprof.rules.loading.wait_line_words import (
    cell_lines,
    line_cheaper,
    line_evidence,
    line_explanation,
    line_leave_it,
    line_words,
)
from tests.analyses.loading.test_wait_lines import ITEM, LOAD, RESIZE, waiting
from tests.rules.loading.test_loading_words import plan
from tests.support.trace_builder import TraceBuilder

LINE = WaitLine("ipykernel_1/100.py", True, 7, 34, 0.92, "numpy.load", 0.99, True)


def stall(builder: TraceBuilder) -> Finding:
    found = InputStall().check(Results(builder.build()))
    assert isinstance(found, Finding)
    return found


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, "line 34"),
        ({"is_cell": False}, "line 34 of In [7]"),
        ({"is_cell": False, "execution_count": None, "file": "/home/me/data.py"}, "line 34 of data.py"),
    ],
)
def test_where_it_is(facts: dict[str, object], words: str) -> None:
    assert line_words(dataclasses.replace(LINE, **facts)) == words  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "share", "words"),
    [
        ("numpy.load", 0.99, ", in its call of `numpy.load`"),
        ("numpy.load", 0.79, ", mostly in its call of `numpy.load`"),
        ("", 0.0, ""),
    ],
)
def test_what_it_calls(call: str, share: float, words: str) -> None:
    line = dataclasses.replace(LINE, call=call, call_share=share)
    assert line_explanation(line) == f" Line 34 takes 92 % of the wait{words}."
    assert line_evidence(line) == {"line_share": 0.92, **({"call": call} if call else {})}


def test_the_line_inside_that_has_most_of_it() -> None:
    line = dataclasses.replace(LINE, call="augment", inner_line=12, inner_share=0.5)
    assert line_explanation(line) == " Line 34 takes 92 % of the wait, in its call of `augment` (50 % line 12)."
    assert cell_lines(line) == (34, 12) and cell_lines(LINE) == (34,)
    assert cell_lines(dataclasses.replace(line, is_cell=False)) == ()


def test_when_to_leave_it() -> None:
    assert "on the disk" in line_leave_it(LINE)
    assert "whole batches" in line_leave_it(dataclasses.replace(LINE, reads=False))


def test_without_a_line_nothing_is_said() -> None:
    assert line_explanation(None) == line_leave_it(None) == "" and line_evidence(None) == {} and cell_lines(None) == ()


def test_what_to_do() -> None:
    reading = line_cheaper(LINE, on_device=True, anew=False)
    assert reading.startswith("Make line 34 cheaper first. It reads or decodes stored data")
    computing = dataclasses.replace(LINE, reads=False)
    assert " for whole batches or on the device instead" in line_cheaper(computing, on_device=True, anew=False)


@pytest.mark.parametrize("on_device", [True, False])
def test_what_differs_each_time_is_not_to_be_computed_once(on_device: bool) -> None:
    computing = dataclasses.replace(LINE, reads=False)
    assert "what stays the same" in line_cheaper(computing, on_device=on_device, anew=False)
    assert "once" not in line_cheaper(computing, on_device=on_device, anew=True)


def test_without_a_device_the_work_is_the_cost() -> None:
    change = line_cheaper(dataclasses.replace(LINE, reads=False), on_device=False, anew=False)
    assert change.startswith("Reduce the work of line 34: it is the dataset’s own")
    assert "on the device" not in change


@pytest.mark.parametrize(("on_device", "ends"), [(True, "can hide what is left of the wait."), (False, "the cores.")])
def test_workers_come_second(on_device: bool, ends: str) -> None:
    change = _change(plan(iterable=False), on_device=on_device, line=LINE)
    assert change.startswith("Make line 34 cheaper first.") and change.endswith(ends)
    assert ". Besides, `num_workers=3, persistent_workers=True` for the DataLoader" in change


def test_a_finding_names_the_line_first() -> None:
    found = stall(waiting((0.9, (ITEM, LOAD)), (0.1, ())))
    assert found.title == "The loop waits for data 50 % of the steps’ time" and found.where.lines == (6, 12)
    assert found.explanation.endswith(" Line 6 takes 90 % of the wait, in its call of `numpy.lib.npyio.load`.")
    assert found.change.startswith("Make line 6 cheaper first. It reads or decodes stored data each time")


def test_a_short_wait_on_the_cpu_is_minor_where_no_line_is_known_to_take_it() -> None:
    known, parts = ((0.9, (ITEM, LOAD)), (0.1, ())), ((0.4, (ITEM, LOAD)), (0.6, ()))
    assert stall(waiting(*known, wait_us=19_000, steps=20)).severity is Severity.MEDIUM
    assert stall(waiting(*parts, wait_us=19_000, steps=20)).severity is Severity.LOW
    assert stall(waiting(*parts, wait_us=20_000)).severity is Severity.HIGH


def test_a_finding_on_a_line_that_computes() -> None:
    found = stall(waiting((0.6, (ITEM, RESIZE)), (0.3, (ITEM,)), (0.1, ())))
    assert "mostly in its call of `PIL.Image.resize`" in found.explanation
    assert found.change.startswith("Reduce the work of line 6: it is the dataset’s own")
    assert found.severity is Severity.HIGH and "num_workers" in str(found.change)


@pytest.mark.parametrize(("call", "severity"), [(LOAD, Severity.HIGH), (RESIZE, Severity.LOW)])
def test_work_that_may_have_to_be_done_where_no_worker_would_help(
    call: tuple[str, str, int], severity: Severity
) -> None:
    one_core = waiting((0.9, (ITEM, call)), (0.1, ())).context(environment=Environment(cores_allowed=1))
    found = stall(one_core)
    assert found.severity is severity and "num_workers=" not in str(found.change)


def test_an_iterator_for_each_batch_is_told_first() -> None:
    each = {"iterations_started": 100, "batches_read": 100, "batches": 1000}
    found = stall(waiting((0.9, (ITEM, LOAD)), (0.1, ()), **each))
    assert found.change.startswith("Start the iterator once") and found.where.lines == (12,)
    assert "line_share" not in found.evidence
