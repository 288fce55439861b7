"""What the profiler's events take of the process's memory is not the cell's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.accounts.recorder_memory import recorder_bytes
from gpuprof.model.context import Window
from gpuprof.model.event_cost import EventCost
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
PLAIN = EventCost.of(stacks=False, details=False)


def recorded(events: int, until_ms: int, **options: Any) -> Trace:
    """So many operators, evenly from 0 to the window's end, of a cell of 2 s."""
    builder = TraceBuilder()
    for number in range(events):
        builder.operator("aten::add", number * until_ms * 1_000 / events, 1)
    trace = builder.build()
    window = Window(cell_start_ns=0, cell_end_ns=2_000 * MS, start_ns=0, end_ns=until_ms * MS)
    return replace(trace, context=msgspec.structs.replace(trace.context, window=window, options=options))


def own(trace: Trace, *held: int) -> list[int]:
    times = np.arange(len(held)) * 100 * MS
    return recorder_bytes(trace, times, np.array(held, np.int64)).tolist()


def test_events_take_heap_while_they_are_recorded_and_more_when_they_end() -> None:
    # GIVEN 1,000 events in 400 ms, and a process that grows by 2 MB in every 100 ms
    trace = recorded(1_000, 400)
    grown = [number * 2_000_000 for number in range(6)]
    ended = 1_000 * PLAIN.ended_bytes
    assert own(trace, *grown)[:5] == [0, 250 * 208, 500 * 208, 750 * 208, 1_000 * 208]
    assert own(trace, *grown)[5] == ended


def test_shapes_and_stacks_cost_what_they_cost() -> None:
    grown = (0, 0, 9_000_000)
    assert own(recorded(100, 150, shapes=True), *grown)[-1] == 100 * 2_300
    assert own(recorded(100, 150, stacks=True), *grown)[-1] == 100 * 1_600


def test_a_process_that_does_not_grow_holds_nothing_of_it() -> None:
    assert own(recorded(1_000, 100), 5, 5, 5, 5) == [0, 0, 0, 0]


def test_what_is_freed_is_the_recorders_first() -> None:
    trace, ended = recorded(1_000, 100), 1_000 * PLAIN.ended_bytes
    assert own(trace, 0, 0, ended, ended // 2, 0, 0) == [0, 0, ended, ended // 2, 0, 0]


def test_growth_long_after_its_end_is_the_cells() -> None:
    assert own(recorded(10, 100), 0, 0, 0, 0, 10_000_000) == [0, 0, 0, 0, 0]


def test_without_a_recording_there_is_none() -> None:
    assert own(TraceBuilder().operator("aten::mm", 0, 1).build(), 0, 9) == [0, 0]


@given(st.lists(st.integers(0, 10_000_000), min_size=2, max_size=20), st.integers(1, 300))
def test_it_is_never_more_than_the_events_take_nor_than_what_the_process_rose(held: list[int], events: int) -> None:
    found = own(recorded(events, 500), *held)
    assert all(0 <= each <= events * PLAIN.ended_bytes for each in found)
    low = np.minimum.accumulate(held)
    assert all(each <= now - least for each, now, least in zip(found, held, low.tolist(), strict=True))


def test_a_recording_that_was_discarded_had_its_memory_before_the_one_that_stayed() -> None:
    trace = recorded(10, 400)
    context = msgspec.structs.replace(trace.context, sampling={"discarded_events": 1_000})
    earlier = 1_000 * PLAIN.ended_bytes
    assert own(replace(trace, context=context), 0, 2 * earlier, 2 * earlier)[1] == earlier + 208 * 3
    assert own(replace(trace, context=context), 0, 500, 900) == [0, 500, 900]
    # the heap that counts events was hidden by tensors that were freed: the growth when it ended was seen
    seen = msgspec.structs.replace(trace.context, sampling={"discarded_events": 10, "discarded_bytes": earlier})
    assert own(replace(trace, context=seen), 0, 2 * earlier, 2 * earlier)[1] == earlier + 208 * 3
    # growth before its end is the cell's but for the events so far, and growth at its end is its own
    window = msgspec.structs.replace(trace.context.window, cell_start_ns=1)
    grown = 1_000 * (PLAIN.ended_bytes - PLAIN.heap_bytes)
    # the count may hold tensors of the cell: what its end took tells
    at_its_end = {"discarded_events": 1_000_000, "discarded_bytes": grown, "discarded_ns": int(2e8)}
    context = msgspec.structs.replace(trace.context, sampling=at_its_end, window=window)
    spread = recorder_bytes(
        replace(trace, context=context), np.array([2, int(5e7), int(2e8)]), np.array([0, 9 * earlier, 10 * earlier])
    )
    assert spread.tolist()[1] == pytest.approx(1_000 * PLAIN.heap_bytes / 4 + 208 * 2, rel=0.01)
    unknown = msgspec.structs.replace(trace.context, sampling={"discarded_events": "?"})
    assert own(replace(trace, context=unknown), 0, earlier)[1] == 208 * 3
