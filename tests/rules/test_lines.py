"""Findings name the lines of the cell where the time went, as far as they are known."""

from __future__ import annotations

import dataclasses
import importlib

import msgspec
import pytest

from gpuprof.analyses.result import Results
from gpuprof.model.context import FollowedLines, RunContext
from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.rules.finding import Finding
from gpuprof.rules.registry import rule


def with_lines(trace: Trace, *lines: tuple[int, int]) -> Trace:
    """The same run, no lines known but these: each step (or the run) goes through `(µs from its begin, line)`."""
    starts = trace.steps["start_ns"].tolist() or [trace.span_start_ns]
    rows = [(start + at * 1000, line) for start in starts for at, line in lines]
    columns = {
        "time_ns": [time for time, _ in rows],
        "tid": [int(trace.threads["tid"][trace.main_thread])] * len(rows),
        "source_file": [0] * len(rows),
        "line": [line for _, line in rows],
        "cell_line": [line for _, line in rows],
    }
    context = trace.context
    context = msgspec.structs.replace(
        context,
        lines=FollowedLines(how="monitoring", start_ns=0, end_ns=trace.span_end_ns),
        loaders=tuple(msgspec.structs.replace(each, line=None) for each in context.loaders),
        optimizers=tuple(msgspec.structs.replace(each, line=None) for each in context.optimizers),
    )
    assert isinstance(context, RunContext)
    tables = {**trace.tables, "line_events": Table(LINE_EVENTS, columns)}
    return dataclasses.replace(trace, tables=tables, context=context)


@pytest.mark.parametrize(
    ("name", "at_us"),
    [("sync_in_step", 50), ("python_loop_over_batch", 99)],
)
def test_the_line_that_waits_or_loops_is_named(name: str, at_us: int) -> None:
    case = importlib.import_module(f"tests.rules.cases.{name}")
    found = rule(name).check(Results(with_lines(case.fires(), (0, 3), (at_us, 8))))

    assert isinstance(found, Finding)
    assert found.where.lines == (8,)


_WAITING = ("input_stall", "pageable_h2d_copy", "unfused_optimizer", "sync_in_step")
_KERNELS = ("conv_autotune_off", "conv_bias_before_norm", "eager_attention", "float64_compute", "nchw_convolution")


@pytest.mark.parametrize("name", [*_WAITING, *_KERNELS, "unaligned_gemm_shape", "unfused_pointwise"])
def test_every_line_that_is_named_was_running_meanwhile(name: str) -> None:
    case = importlib.import_module(f"tests.rules.cases.{name}")
    found = rule(name).check(Results(with_lines(case.fires(), (0, 6))))

    assert isinstance(found, Finding)
    assert found.where.lines == (6,)


def test_without_lines_none_is_named() -> None:
    case = importlib.import_module("tests.rules.cases.sync_in_step")
    found = rule("sync_in_step").check(Results(case.fires()))

    assert isinstance(found, Finding)
    assert found.where.lines == ()
