"""Iterations where no steps are known, by the most certain source."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from tests.support.trace_builder import CELL_FILE, TraceBuilder

LAYERS = ("aten::linear", "aten::gelu", "aten::add", "aten::layer_norm")


def of(trace: Trace) -> Iterations:
    return Results(trace).get(Iterations)


def tokens(count: int = 20, *, scale: float = 1.0, start_ns: int = 0) -> TraceBuilder:
    """Generation: each token takes 100 µs."""
    builder = TraceBuilder(start_ns=start_ns).operator("aten::zeros", 0, 10 * scale)
    for turn in range(count):
        for place, name in enumerate(("aten::embedding", *LAYERS, "aten::argmax")):
            builder.operator(name, (20 + 100 * turn + 15 * place) * scale, 10 * scale)
    return builder.operator("aten::stack", (30 + 100 * count) * scale, 20 * scale)


def test_repeated_operators():
    found = of(tokens().build())
    assert found.main is not None
    assert (found.main.how, found.main.count, found.main.median_ns, found.main.line) == ("operators", 20, 100_000, None)
    assert found.main.starts_ns.tolist() == [20_000 + 100_000 * turn for turn in range(20)]
    assert found.main.ends_ns[-1] == 20_000 + 19 * 100_000 + 85_000
    assert found.covered_share == pytest.approx(1985 / 2050)


@pytest.mark.parametrize(("scale", "start_ns"), [(3.0, 0), (1.0, 10**18), (0.5, 10**12)])
def test_neither_the_clock_nor_the_speed_matters(scale, start_ns):
    one, other = of(tokens().build()).main, of(tokens(scale=scale, start_ns=start_ns).build()).main
    assert one is not None and other is not None
    assert np.array_equal(other.starts_ns - start_ns, one.starts_ns * scale)
    assert np.array_equal(other.durations_ns, one.durations_ns * scale)


def test_steps_win():
    assert not of(tokens().step(0, 1000).build()).runs


def test_equal_layers_are_no_iterations():
    builder = TraceBuilder()
    for turn in range(80):
        builder.operator(LAYERS[turn % 4], 20 * turn, 15)
    assert not of(builder.build()).runs


def test_a_comprehension_has_its_line_from_looks_at_the_stack():
    builder = TraceBuilder().context(cell=Cell(source="x = 1\npreds = [net(x) for _ in range(20)]"))
    for turn in range(80):
        name = ("aten::linear", "aten::relu", "aten::dropout", "aten::linear")[turn % 4]
        builder.operator(name, 20 * turn, 15)
        if turn % 8 == 0:
            builder.look(20 * turn + 5, (CELL_FILE, "<module>", 2), (CELL_FILE, "<listcomp>", 2))
    found = of(builder.build()).main
    assert found is not None and (found.how, found.count, found.line) == ("operators", 20, 2)


def test_ranges_that_servers_name_are_certain():
    builder = tokens()
    for turn in range(3):
        builder.span(f"execute_{turn}_context_0", 100 * turn, 80).span("step[DECODE bs=2]", 100 * turn + 10, 60)
    found = of(builder.build()).main
    assert found is not None
    assert (found.how, found.count, found.median_ns, found.spread_ns) == ("ranges", 3, 80_000, None)


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "how", "count"),
    [
        ("mi300x-vllm-piecewise", "ranges", 1),
        ("mi300x-flux-iteration", "ranges", 1),
        ("mi300x-sglang-decode", "ranges", 1),
        ("mi300x-vllm-graph-capture", None, 0),
        ("a100-sam-latest", None, 0),
    ],
)
def test_what_servers_recorded(name, how, count):
    from gpuprof.ingest.load import load_trace
    from tests.support.shared import shared_file

    found = of(load_trace(shared_file(f"expert/{name}.json.gz"))).main
    assert (found.how if found else None, found.count if found else 0) == (how, count)


def test_every_recording(any_shared_trace):
    found = of(any_shared_trace)
    assert 0 <= found.covered_share <= 1
    for run in found.runs:
        assert (run.durations_ns >= 0).all() and (np.diff(run.starts_ns) > 0).all()


@pytest.mark.parametrize(
    ("names", "iterations"),
    [
        # what layers are made of, each once: they may be equal layers
        (("aten::linear", "aten::relu", "aten::dropout", "aten::layer_norm"), 0),
        (("aten::linear", "aten::relu", "aten::sort", "aten::topk"), 20),
        (("aten::sort", "aten::topk", "aten::unique", "aten::cumsum"), 20),
    ],
)
def test_a_loop_over_something_else_than_layers_is_one_of_iterations(names, iterations):
    builder = TraceBuilder().context(cell=Cell(source="x = 1\npreds = [net(x) for _ in range(20)]"))
    for turn in range(80):
        builder.operator(names[turn % 4], 20 * turn, 15)
        if turn % 8 == 0:
            builder.look(20 * turn + 5, (CELL_FILE, "<module>", 2), (CELL_FILE, "<listcomp>", 2))
    found = of(builder.build()).main
    assert (found.count if found else 0) == iterations
