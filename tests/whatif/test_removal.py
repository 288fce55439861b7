"""Removing some waits, then more of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.whatif.changes.trace_changes import calls_gone
from gpuprof.whatif.predict import Replay, predict
from gpuprof.whatif.removal import saved_by_number, saved_ns
from gpuprof.whatif.retime import span_ns
from tests.whatif.programs import Program, programs, run


@settings(max_examples=40, deadline=None)
@given(programs)
def test_calls_gone_in_place_are_calls_removed(program: Program) -> None:
    trace = run(program)
    replay, rows = Replay.of(trace), Results(trace).get(SyncWaits).table["call"][::2]
    left = span_ns(calls_gone(rows)(replay.graph))
    assert saved_ns(replay, rows) == pytest.approx((1 - left / replay.baseline_ns) * replay.graph.recorded_span_ns)


@settings(max_examples=40, deadline=None)
@given(programs)
def test_more_removed_never_saves_less(program: Program) -> None:
    trace = run(program)
    replay, rows = Replay.of(trace), Results(trace).get(SyncWaits).table["call"]
    groups = [rows[at : at + 1] for at in range(len(rows))]
    saved = saved_by_number(replay, groups, range(1, len(rows) + 1))
    assert all(fewer <= more for fewer, more in pairwise([0.0, *saved]))


def test_only_the_last_wait_of_a_step_brings_the_saving() -> None:
    """The host launches, waits twice and then works for as long as the device just did."""
    program: Program = [("kernel", 7, 300), ("sync", 7), ("sync_all",), ("work", 250)] * 10
    trace = run(program)
    replay, rows = Replay.of(trace), Results(trace).get(SyncWaits).table["call"]
    one, both = saved_by_number(replay, [rows[::2], rows[1::2]], [1, 2])
    assert one < 0.2e6 and both > 2e6
    whole = predict(replay, calls_gone(np.concatenate([rows[::2], rows[1::2]])))
    assert both == whole.central_ns
