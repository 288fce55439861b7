"""Findings name the lines of the cell where the time went, as far as they are known."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import FollowedLines, RunContext
from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.cell.cell_lines import elements_written, loops_over_samples
from gpuprof.rules.registry import all_rules, rule
from tests.rules.cases import case_of
from tests.support.trace_builder import TraceBuilder

# findings that name no line even where the line of every event is known, and why
WITHOUT_LINES = {
    **dict.fromkeys(
        ("clocks_held_down", "device_errors", "device_shared", "pcie_link_degraded", "power_capped"),
        "the device or what it stands in is the cause",
    ),
    "thermal_throttle": "the device or what it stands in is the cause",
    "stack_outdated": "the installation is the cause",
    "idle_peer_devices": "devices on which nothing ran have no events",
    "debug_mode_on": "a setting is the cause: the line that makes it is found in the text",
    "fragmented_memory": "free memory between tensors belongs to no line",
    "model_exceeds_device": "what model and optimizer hold is weighed, not recorded as events",
    "memory_near_limit": "this case has the allocator's statistics only (see the next test)",
    "memory_grows_per_step": "levels of memory are no events: the line that keeps losses is found in the text",
    "tensors_held_by_notebook": "names hold the tensors, after the cell",
    "graph_breaks": "torch counts breaks and does not say in which file",
    "exposed_collective": "this case has no launches (see the last test)",
    "rank_straggler": "the other ranks' lines are not recorded",
    "uneven_device_memory": "the other ranks' lines are not recorded",
}
# these name the line that capture noted beside the loader or the optimizer; their evidence is no event
NOTED = ("optimizer_state_dominates", "padding_waste", "per_sample_fetch", "slow_transform", "workers_oversubscribed")
# these read in the text whether it is so, and name the loop's line there
BY_TEXT = (
    *("costly_call_per_item", "derivative_in_full", "evaluation_share", "growing_iterations", "held_beyond_need"),
    *("memory_kept_by_hooks_or_graphs", "python_callback_per_item", "python_loop_over_slices", "value_made_again"),
    *("last_result_read", "whole_collection_per_item"),
)
# exact lines would take the place of the samples that it reads
BY_SAMPLES = ("broadcast_then_reduced", "figures_left_open", "losses_summed", "temporary_peak")
# the line that sampled stacks stand in, that the close look saw, or that the text has
BY_STACKS = {
    "broadcast_then_reduced": (2, 3),
    "cancelled_results": (3, 4),
    "costly_call_per_item": (3,),
    "derivative_in_full": (3, 6),
    "evaluation_share": (8,),
    "figures_left_open": (3, 6),
    "gradients_row_by_row": (3,),
    "hardly_read": (3, 4),
    "held_beyond_need": (5,),
    "temporary_peak": (3, 6),
    "costly_algorithm": (3,),
    "samples_made_again": (3,),
    "masked_results": (3, 4),
    "losses_summed": (5, 6),
    "mostly_zeros": (3,),
    "product_order": (3,),
    "rows_computed_again": (2, 3),
    "rows_without_effect": (3, 4),
    "pieces_one_by_one": (3,),
    "python_callback_per_item": (2, 4),
    "repeated_work": (3,),
    "round_trips": (3,),
    "subnormal_numbers": (3,),
    "unread_gradients": (4,),
    "unread_results": (3,),
    "last_result_read": (11,),
    "value_made_again": (2,),
    "whole_collection_per_item": (2, 5),
}


def with_lines(trace: Trace, *lines: tuple[int, int], noted: int | None = None, text: bool = False) -> Trace:
    """The same run, no lines known but these: each step (or the run) goes through `(µs from its begin, line)`.

    `noted`: the line of each loader and optimizer; `text`: the cell's text stays known.
    """
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
        cell=context.cell if text else None,
        lines=FollowedLines(how="monitoring", start_ns=0, end_ns=trace.span_end_ns),
        loaders=tuple(msgspec.structs.replace(each, line=noted) for each in context.loaders),
        optimizers=tuple(msgspec.structs.replace(each, line=noted) for each in context.optimizers),
    )
    assert isinstance(context, RunContext)
    tables = {**trace.tables, "line_events": Table(LINE_EVENTS, columns)}
    return dataclasses.replace(trace, tables=tables, context=context)


@pytest.mark.parametrize(
    ("name", "at_us"),
    [("sync_in_step", 50), ("python_loop_over_batch", 99)],
)
def test_the_line_that_waits_or_loops_is_named(name: str, at_us: int) -> None:
    case = case_of(name)
    found = rule(name).check(Results(with_lines(case.fires(), (0, 3), (at_us, 8))))

    assert isinstance(found, Finding)
    assert found.where.lines == (8,)


@pytest.mark.parametrize("name", [each.name for each in all_rules()])
def test_a_finding_names_the_line_of_its_evidence(name: str) -> None:
    run = case_of(name).fires()
    noted = 6 if name in NOTED else None
    if not isinstance(run, Results):
        run = Results(run if name in BY_SAMPLES else with_lines(run, (0, 6), noted=noted, text=name in BY_TEXT))
    found = rule(name).check(run)

    assert isinstance(found, Finding)
    assert found.where.lines == (() if name in WITHOUT_LINES else BY_STACKS.get(name, (6,)))


def test_a_full_device_is_blamed_on_what_is_live_at_the_peak() -> None:
    gib = 1 << 30
    builder = TraceBuilder().device(0, "NVIDIA Test", memory_bytes=16 * gib).operator("aten::mm", 0, 1000)
    builder.line(3, 0).memory(10, 9 * gib, allocated=9 * gib, reserved=9 * gib, address=1)
    builder.line(4, 20).memory(30, -9 * gib, allocated=0, reserved=9 * gib, address=1)
    builder.memory(40, 9 * gib, allocated=9 * gib, reserved=9 * gib, address=1)
    builder.line(5, 50).memory(60, 6 * gib, allocated=15 * gib, reserved=15 * gib, address=2)
    builder.line(6, 70).memory(80, -6 * gib, allocated=9 * gib, reserved=15 * gib, address=2)
    found = rule("memory_near_limit").check(Results(builder.build()))

    assert isinstance(found, Finding)
    assert found.where.lines == (4, 5)


def test_without_lines_none_is_named() -> None:
    case = case_of("sync_in_step")
    found = rule("sync_in_step").check(Results(case.fires()))

    assert isinstance(found, Finding)
    assert found.where.lines == ()


def test_a_collective_is_blamed_on_the_line_that_launched_it() -> None:
    builder = TraceBuilder()
    for at in range(0, 3000, 1000):
        builder.step(at, 1000).kernel("gemm", at + 20, 780, launch_at_us=at)
        builder.kernel("ncclKernel_AllReduce_RING(work)", at + 800, 200, stream=9, launch_at_us=at + 10)
    found = rule("exposed_collective").check(Results(with_lines(builder.build(), (0, 4), (8, 6))))
    assert isinstance(found, Finding)
    assert found.where.lines == (6,)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for i in range(len(x)):\n        out.append(f(x[i]))", (3,)),
        ("for name in names:\n        print(name)", ()),
        ("for i in range(3):\n        f(x[i])\n    for j in range(3):\n        g(x[j])", ()),
        ("for i in range(3):\n        for j in range(3):\n            g(x[i], x[j])", (3, 4)),
        ("for i in range(3):\n        x[i, :] = f(i)", (3,)),
        ("for i in range(3):\n        f(x[:, i])", ()),
    ],
    ids=["one", "no slice", "two", "two within one another", "first of several", "another dimension"],
)
def test_the_loop_over_samples_is_found_in_the_text(body: str, lines: tuple[int, ...]) -> None:
    assert loops_over_samples(f"%matplotlib inline\nfor x in loader:\n    {body}\n") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for i in range(9):\n        x[i] = f(i)", (4,)),
        ("for m in marks:\n        for k in range(9):\n            x[m - 1, k + 1] += f(k)", (5,)),
        # by the variable of an outer loop, or of none; read only
        ("for m in marks:\n        for k in range(9):\n            x[m] = f(k)", ()),
        ("for i in range(9):\n        x[0] = f(i)", ()),
        ("for i in range(9):\n        f(x[i])", ()),
        ("for i in range(9:", ()),
    ],
)
def test_lines_that_write_elements_are_found_in_the_text(body: str, lines: tuple[int, ...]) -> None:
    assert elements_written(f"%matplotlib inline\nfor x in loader:\n    {body}\n") == lines
