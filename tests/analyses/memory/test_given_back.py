"""Memory that comes and goes with one call: which call, what is left without it, and what it was part of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.given_back import GivenBack, WholeCall
from gpuprof.model.context import Cell, Optimizer, Window
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import line
from tests.analyses.accounts.test_cell_memory import read
from tests.analyses.accounts.test_sample_phases import BACKWARD, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture
MIB, MS = 1024**2, 1_000_000
SOURCE = "def f(x):\n    return big(x)\nfor x in parts:\n    f(x)\n    g(x)\n"


def of(trace: Trace) -> GivenBack:
    return Results(trace).get(GivenBack)


def called(times: int, *frames: tuple[str, str, int]) -> TraceBuilder:
    """Line 4 calls line 2, or what is given, for 300 ms, then line 5 runs for 200 ms."""
    builder = TraceBuilder()
    for turn in range(times):
        at = 500_000 * turn
        builder.stack(at, 300_000, line(4), *(frames or (line(2, "f"),)))
        builder.stack(at + 300_000, 200_000, line(5))
    return builder


def held(times: int) -> list[float]:
    """900 MiB while it runs, 400 without it, 420 right after it."""
    return [900.0, 900.0, 900.0, 420.0, 400.0] * times


def sourced(trace: Trace, source: str = SOURCE, **facts: Any) -> Trace:
    cell = Cell(source=source, filename=trace.context.cell.filename if trace.context.cell else None, execution_count=7)
    return replace(trace, context=msgspec.structs.replace(trace.context, cell=cell, **facts))


def test_the_call_within_which_it_was_highest_and_what_is_held_without_it() -> None:
    found = of(sourced(read(called(4), held(4), ends_ms=())))
    assert [(each.function, each.line, each.is_cell, each.count) for each in found.calls] == [("f", 2, True, 7)]
    assert [each.line for each in found.callers] == [4]
    assert (found.peak_bytes, found.turns, found.known) == (900 * MIB, 4, True)
    # nine of ten readings between two calls are below it
    assert 400 * MIB <= found.low_bytes <= 420 * MIB
    assert found.given_back_bytes == found.peak_bytes - found.low_bytes


def test_what_stays_is_not_given_back() -> None:
    found = of(sourced(read(called(4), [400.0, 900.0, 900.0, 880.0, 880.0] + [900.0, 900.0, 900.0, 880.0, 880.0] * 3)))
    assert found.calls == () and found.given_back_bytes == 0 and found.peak_bytes == 900 * MIB


def test_what_lasts_to_the_end_may_stay() -> None:
    """The last turn, of which no reading shows that it gave anything back."""
    readings = [*held(3), 400.0, 900.0, 950.0, 950.0, 950.0]
    builder = called(3).stack(1_500_000, 500_000, line(4), line(2, "f"))
    assert not of(sourced(read(builder, readings, ends_ms=()))).calls
    after = called(3).stack(1_500_000, 400_000, line(4), line(2, "f")).stack(1_900_000, 100_000, line(5))
    assert of(sourced(read(after, [*readings[:-1], 400.0], ends_ms=()))).calls


@pytest.mark.parametrize(("low", "told"), [(721.0, False), (719.0, True)])
def test_a_fifth_of_the_peak_has_to_be_given_back(low: float, told: bool) -> None:
    found = of(sourced(read(called(4), [900.0, 900.0, 900.0, low, low] * 4)))
    assert bool(found.calls) is told


def test_one_reading_within_a_call_tells_nothing() -> None:
    builder = TraceBuilder().stack(0, 1_000_000, line(5)).stack(1_000_000, 100_000, line(4), line(2, "f"))
    builder.stack(1_100_000, 900_000, line(5))
    assert of(sourced(read(builder, [400.0] * 10 + [900.0] + [400.0] * 9))).calls == ()


def test_without_stacks_nothing_is_known() -> None:
    assert not of(read(TraceBuilder(), held(4))).known
    assert of(TraceBuilder().build()).known


def test_a_backward_pass_gives_back_what_the_forward_pass_kept() -> None:
    assert of(sourced(read(called(4, BACKWARD), held(4)))).in_steps
    assert not of(sourced(read(called(4), held(4)))).in_steps


@pytest.mark.parametrize(
    ("ends_ms", "optimizers", "inside"),
    [
        # a step every 100 ms, in one of which the peak is
        (range(0, 2100, 100), 1, True),
        (range(0, 2100, 100), 0, False),
        # the peak comes before the first step, or in one that takes many times as long as the usual one
        (range(1500, 2100, 100), 1, False),
        ((0, 1400, *range(1500, 2100, 100)), 1, False),
        ((), 1, False),
    ],
)
def test_a_usual_step_may_be_what_gives_it_back(ends_ms: Any, optimizers: int, inside: bool) -> None:
    levels = [900.0, 910.0, 900.0, 420.0, 400.0] + [900.0, 900.0, 900.0, 420.0, 400.0] * 3
    used = (Optimizer(name="SGD", parameters=4, elements=9),) * optimizers
    assert of(sourced(read(called(4), levels, ends_ms=tuple(ends_ms)), optimizers=used)).in_steps is inside


@pytest.mark.parametrize(
    ("header", "times", "pieces"),
    [
        ("for x in torch.split(xs, 64):", 4, True),
        ("for x in chunks:", 4, True),
        ("for x, y in zip(xs, ys):", 4, True),
        ("for at in range(0, n, 64):", 4, True),
        ("for name in names:", 4, False),
        ("for x in range(n):", 4, False),
        # of turns that take less than a good part of a second a few are seen
        ("for name in names:", 2, True),
        ("for epoch in range(3):", 2, False),
        ("for epoch in range(epochs):", 2, False),
        ("if x in batches:", 4, False),
    ],
)
def test_a_loop_around_it_that_goes_over_parts(header: str, times: int, pieces: bool) -> None:
    source = SOURCE.replace("for x in parts:", header)
    assert of(sourced(read(called(times), held(times)), source)).in_pieces is pieces


@pytest.mark.parametrize(
    ("body", "inside"),
    [
        ("for y in x:\n        big(y)", True),
        ("while x:\n        big(x)", True),
        ("if x:\n        big(x)", False),
        ("y = [\n        big(y) for y in x]", False),
    ],
)
def test_a_loop_inside_of_it_may_collect_results(body: str, inside: bool) -> None:
    """Lines 3 and 4 of the function hold it both: what gives it back is the call."""
    builder = TraceBuilder()
    for turn in range(4):
        at = 500_000 * turn
        builder.stack(at, 200_000, line(6), line(3, "f")).stack(at + 200_000, 200_000, line(6), line(4, "f"))
        builder.stack(at + 400_000, 100_000, line(7))
    source = f"def f(x):\n    {body}\n    last(x)\n\nif x:\n    f(x)\n    g(x)\n".replace("\n\nif", "\nif")
    found = of(sourced(read(builder, [900.0, 910.0, 900.0, 900.0, 400.0] * 4), source))
    assert [each.line for each in found.calls] == [6, 3] and found.callers == ()
    assert found.in_pieces is inside


def test_what_recording_took_is_left_out() -> None:
    """Highest during the recording; without it, it is half as much."""
    trace = sourced(read(called(6), [400.0] * 3 + [2000.0] * 2 + held(5), ends_ms=(0, 100, 200, 300, 400)))
    window = Window(cell_start_ns=0, cell_end_ns=3_000 * MS, start_ns=0, end_ns=450 * MS)
    found = of(replace(trace, context=msgspec.structs.replace(trace.context, window=window)))
    assert found.peak_bytes == 900 * MIB and [each.line for each in found.calls] == [2]


@pytest.mark.parametrize(("readings", "told"), [(1, False), (2, True)])
def test_two_readings_within_a_call_tell_it(readings: int, told: bool) -> None:
    builder = TraceBuilder().stack(0, 1_000_000, line(5)).stack(1_000_000, 100_000 * readings, line(4), line(2, "f"))
    builder.stack(1_000_000 + 100_000 * readings, 900_000, line(5))
    levels = [400.0] * 10 + [900.0] * readings + [400.0] * (10 - readings)
    assert bool(of(sourced(read(builder, levels))).calls) is told


@pytest.mark.parametrize(
    ("path", "function", "work"),
    [
        ("pandas/io/parsers/readers.py", "read_csv", WholeCall.READING),
        ("json/decoder.py", "JSONDecoder.decode", WholeCall.READING),
        ("sklearn/decomposition/_pca.py", "PCA.fit_transform", WholeCall.FITTING),
        ("numpy/linalg/_linalg.py", "svd", WholeCall.FACTORING),
        ("pandas/core/reshape/merge.py", "merge", WholeCall.ORDERING),
        ("pandas/core/frame.py", "DataFrame.sort_values", WholeCall.ORDERING),
        ("sklearn/decomposition/_pca.py", "PCA.transform", None),
        ("torch/functional.py", "merge", None),
    ],
)
def test_what_needs_all_rows_at_the_same_time(path: str, function: str, work: WholeCall | None) -> None:
    inner = (f"/lib/{path}", function, 9)
    assert of(sourced(read(called(4, line(2, "f"), inner), held(4)))).work is work
    # what it calls in turn does not tell
    assert of(
        sourced(read(called(4, line(2, "f"), inner, ("/lib/numpy/linalg/_linalg.py", "qr", 3)), held(4)))
    ).work is (work or WholeCall.FACTORING)


@pytest.mark.parametrize(("part_us", "work"), [(151_000, WholeCall.READING), (149_000, None)])
def test_most_of_the_time_of_the_line_has_to_be_in_it(part_us: int, work: WholeCall | None) -> None:
    builder = TraceBuilder()
    for turn in range(4):
        at = 500_000 * turn
        builder.stack(at, part_us, line(4), line(2, "f"), ("/lib/pandas/io/json/_json.py", "read_json", 9))
        builder.stack(at + part_us, 300_000 - part_us, line(4), line(2, "f"))
        builder.stack(at + 300_000, 200_000, line(5))
    assert of(sourced(read(builder, held(4)))).work is work
