"""Which loops grow, and what in them."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.growing_shares import GrowingShares
from gpuprof.analyses.loops.growth import GrowingLoop, Growth
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import BACKWARD, libraries  # noqa: F401  - a fixture
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def loops(trace: Trace) -> tuple[GrowingLoop, ...]:
    return Results(trace).get(Growth).loops


def generation(
    turns: int = 30, *, each_us: float = 20, prompts: int = 1, shapes: bool = False, device: bool = False
) -> TraceBuilder:
    """A linear layer of `each_us` per token so far; more of its own operators for each, too."""
    builder, at = TraceBuilder(), 0.0
    for turn in [each for _ in range(prompts) for each in range(turns)]:
        dims = f"[[{turn + 1}, 64], [64, 64]]" if shapes else None
        for name, for_us in (("aten::embedding", 20), ("aten::linear", 60 + each_us * turn), ("aten::argmax", 20)):
            builder.operator(name, at, for_us, dims=dims if name == "aten::linear" else None)
            if name == "aten::linear":
                builder.operator("aten::addmm", at + 5, for_us - 10)
                if device:
                    builder.kernel("gemm", at + 20, for_us - 30, launch_at_us=at + 10)
            at += for_us
    return builder


def test_a_growing_loop_has_its_trend_its_excess_and_what_grows():
    (found,) = loops(generation(shapes=True).build())
    assert (found.how, found.iterations, found.trend.first, found.trend.last) == ("operators", 30, 5, 29)
    assert (found.trend.early, found.trend.late) == (180_000, 660_000)
    assert found.excess_ns == sum(20_000 * each for each in range(1, 26))
    assert found.total_ns == found.within.total_ns == 30 * 100_000 + 20_000 * 435
    assert found.parts.operators == ("aten::addmm",) and found.parts.by_row_share == 1
    assert found.parts.count_ratio == 1
    # weights of 64 × 64 apart
    assert found.parts.elements_ratio == pytest.approx((29 * 64 + 4096) / (5 * 64 + 4096), rel=0.01)


def test_on_a_device_its_work_is_what_grows():
    (found,) = loops(generation(device=True).build())
    assert found.parts.operators == ("aten::addmm",)


def test_what_begins_anew_for_each_prompt_grows_as_well():
    (found,) = loops(generation(prompts=5).build())
    assert found.iterations == 150 and (found.trend.first, found.trend.last) == (5, 29)
    assert found.trend.ratio == pytest.approx(660 / 180)


def test_constant_cost_is_no_growth():
    assert not loops(generation(each_us=0).build())


def test_steps_grow_too():
    builder, at = TraceBuilder(), 0.0
    for turn in range(20):
        builder.step(at, 100 + 10 * turn).operator("aten::mm", at, 50)
        at += 100 + 10 * turn
    (found,) = loops(builder.build())
    assert (found.how, found.iterations) == ("steps", 20)
    assert not found.parts.lines and found.parts.elements_ratio is None


def test_iterations_of_the_whole_cell_show_what_the_window_does_not():
    from tests.analyses.basics.test_plain_iterations import trace

    (found,) = loops(trace([10.0] * 20 + [10.0 + each for each in range(30)], 20))
    assert (found.how, found.iterations) == ("cell", 30)
    assert not loops(trace([30.0] * 20 + [10.0] * 30, 20))


METRIC = """for x in xs:
    preds.append(model(x))
    score = metric(torch.cat(preds))
"""


def sampled(reading_us: list[float], *, source: str = METRIC) -> Trace:
    builder, at = TraceBuilder().context(cell=Cell(source=source)), 0.0
    for reads in reading_us:
        builder.stack(at, 10_000, (CELL_FILE, "<module>", 2)).stack(at + 10_000, reads, (CELL_FILE, "<module>", 3))
        at += 10_000 + reads
    return builder.operator("aten::mm", 0, 10).build()


def test_lines_take_more_and_more_of_their_loop():
    (found,) = Results(sampled([500 * each for each in range(1, 200)])).get(GrowingShares).found
    assert found.accumulation.name == "preds" and found.accumulation.reads == (3,)
    assert found.thirds[0] < found.thirds[1] < found.thirds[2]
    assert found.thirds[2] == pytest.approx(0.9, abs=0.02) and found.error < 0.04
    assert 0 < found.excess_ns < found.loop_ns == found.cell_ns


@pytest.mark.parametrize(
    ("reading_us", "source"),
    [
        ([20_000] * 200, METRIC),
        ([500 * each for each in range(200, 0, -1)], METRIC),
        ([2000 * each for each in range(1, 8)], METRIC),  # too few samples
        ([500 * each for each in range(1, 200)], METRIC.replace("torch.cat(preds)", "preds[-1]")),
    ],
)
def test_near_misses_of_sampled_shares(reading_us, source):
    assert not Results(sampled(reading_us, source=source)).get(GrowingShares).found


def test_the_excess_is_what_reading_takes_beyond_its_part_of_the_first_third():
    builder = TraceBuilder().context(cell=Cell(source=METRIC))
    # in its thirds reading takes a quarter, a half, and three quarters of the loop
    for place in range(300):
        reads = place % 4 < 1 + place // 100
        builder.stack(10_000 * place, 10_000, (CELL_FILE, "<module>", 3 if reads else 2))
    (found,) = Results(builder.operator("aten::mm", 0, 10).build()).get(GrowingShares).found
    assert found.thirds == pytest.approx((0.25, 0.5, 0.75))
    assert found.excess_ns == pytest.approx(500e6 - 500e6 / 3 + 750e6 - 250e6 / 3, abs=2)
    assert (found.loop_ns, found.cell_ns) == (3_000_000_000, 3_000_000_000)


def test_the_largest_excess_comes_first():
    builder = TraceBuilder().context(cell=Cell(source=METRIC + METRIC.replace("preds", "outs")))
    for loop, turns in ((0, 200), (len(METRIC.splitlines()), 300)):
        for place in range(turns):
            reads = place % 4 < 1 + 3 * place // turns
            at = 10_000 * (place + 1_000 * loop)
            builder.stack(at, 10_000, (CELL_FILE, "<module>", loop + (3 if reads else 2)))
    found = Results(builder.operator("aten::mm", 0, 10).build()).get(GrowingShares).found
    assert [each.accumulation.reads[0] > 3 for each in found] == [True, False]
    assert found[0].excess_ns > found[1].excess_ns


TRACKER = """class Tracker:
    def add(self, x):
        self.preds.append(x)
        self.score = metric(torch.cat(self.preds))

for x in xs:
    tracker.add(model(x))
"""


def epochs(*, source: str, place: tuple[str, int], name: str, grows: bool = True, looked: bool = True) -> Trace:
    """15 epochs of 40 batches of 10 ms, beside 0.5 ms in the line of `place` for each batch so far in the epoch. A
    look at each tenth batch."""
    builder, at, sizes = TraceBuilder(), 0.0, list[tuple[int, int]]()
    for batch in [each for _ in range(15) for each in range(1, 41)]:
        builder.stack(at, 10_000, (CELL_FILE, "<module>", 2))
        for_us = 500 * batch if grows else 10_000
        inside = ((CELL_FILE, "<module>", 7), (CELL_FILE, *place)) if place[0] != "<module>" else ((CELL_FILE, *place),)
        builder.stack(at + 10_000, for_us, *inside)
        if batch % 10 == 1 or batch == 40:
            sizes.append((int(1000 * at), batch))
        at += 10_000 + for_us
    operand = Operand(
        file=CELL_FILE, first=1, last=7, name=name, kind="builtins.list", least=1, most=40, sizes=tuple(sizes)
    )
    seen = Operands(looks=25, seen=(operand,) if looked else ())
    return builder.operator("aten::mm", 0, 10).context(cell=Cell(source=source), operands=seen).build()


@pytest.mark.parametrize(
    ("source", "place", "name"),
    [(METRIC, ("<module>", 3), "preds"), (TRACKER, ("add", 4), "self.preds")],
)
def test_what_each_epoch_begins_anew_is_known_by_its_size(source, place, name):
    (found,) = Results(epochs(source=source, place=place, name=name)).get(GrowingShares).found
    assert found.accumulation.name == name and found.lines == (place[1],)
    small, larger, largest = found.sizes
    assert 1 <= small < larger < largest <= 40
    # of the time with few batches 4 of 14 ms, with all of them 20 of 30
    assert found.thirds[0] < 0.4 and found.thirds[2] > 0.6
    assert found.loop_ns <= found.cell_ns
    for what in ({"grows": False}, {"looked": False}):
        assert not Results(epochs(source=source, place=place, name=name, **what)).get(GrowingShares).found


@pytest.mark.parametrize(("in_backward", "share"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_of_growing_iterations_of_the_cell_samples_tell_what_grows_in_backward_passes(in_backward, share):
    source = "for x in xs:\n    loss = f(x)\n    loss.backward()\n    opt.step()\n"
    builder, at, ends = TraceBuilder(), 0.0, [0.0]
    for turn in range(40):
        grown = 1000 * turn
        for frames, for_us in (
            ((line(2),), 10_000 + (1 - in_backward) * grown),
            ((line(3), BACKWARD), 10_000 + in_backward * grown),
        ):
            builder.stack(at, for_us, *frames)
            at += for_us
        ends.append(at / 1000)
    trace = cell(builder.operator("aten::mm", 0, 10), ends_ms=tuple(ends), source=source)
    (grown,) = loops(trace)
    assert grown.how == "cell" and grown.iterations == 40
    assert grown.parts.backward_share == pytest.approx(share, abs=0.01)
