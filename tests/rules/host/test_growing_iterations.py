"""What must not be taken for growth that can be helped, and what the finding says."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.analyses.loops.test_growth import METRIC, sampled
from tests.rules.cases.host.growing_iterations import SOURCE, generation
from tests.support.trace_builder import TraceBuilder


def found(trace: Trace) -> Finding | None:
    answer = rule("growing_iterations").check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def loop(durations_us: list[float], source: str = SOURCE) -> Trace:
    builder, at = TraceBuilder().context(cell=Cell(source=source)), 0.0
    for for_us in durations_us:
        for name, share in (
            ("aten::embedding", 0.1),
            ("aten::linear", 0.8),
            ("aten::argmax", 0.05),
            ("aten::cat", 0.05),
        ):
            builder.operator(name, at, share * for_us)
            at += share * for_us
    return builder.build()


RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    "durations_us",
    [
        [3000.0, 2000.0, 900.0] + [100.0] * 30,  # warm-up, autotuning
        [100.0 + 400 * (turn % 10 == 9) for turn in range(60)],  # the garbage collector, a log line
        [100.0] * 20 + [180.0] * 20,  # clocks are held down
        [100.0 + turn for turn in range(30)],  # by less than half
        [float(each) for each in RANDOM.uniform(50, 400, 60)],  # sequences of any length
        [float(each) for each in 400 - 8 * np.arange(40)],  # longest first
        [100.0, 150.0, 200.0, 250.0, 300.0, 350.0],  # too few
    ],
)
def test_what_is_no_growth_stays_quiet_whatever_the_loop_collects(durations_us):
    assert found(loop(durations_us)) is None


@pytest.mark.parametrize(
    "source",
    [
        "for ids in sorted(texts, key=len):\n    outs.append(model(ids).argmax(-1))\n",
        "for n in sizes:\n    x = torch.randn(n, n)\n    times.append(run(x))\n",
        "while error > tolerance:\n    x, error, lr = step(x, lr)\n    errors.append(error)\n",
        "for ids in texts:\n    losses.append(model(ids).item())\n    print(losses[-1])\n",
    ],
)
def test_growth_of_what_the_loop_is_given_stays_quiet(source):
    assert found(loop([100.0 + 20 * turn for turn in range(40)], source)) is None


@pytest.mark.parametrize(("line", "told"), [(3, False), (4, True)])
def test_it_has_to_be_the_line_that_grows(line, told):
    """A running mean beside inputs that are sorted by length."""
    source = "for x in texts:\n    y = 0\n    losses.append(model(x).item())\n    bar.show(np.mean(losses))\n"
    builder, at = TraceBuilder().context(cell=Cell(source=source)), 0.0
    for turn in range(40):
        builder.line(2, at).line(3, at + 10).operator("aten::item", at + 11, 5)
        builder.line(4, at + (10 if line == 4 else 100 + 20 * turn)).line(1, at + 120 + 20 * turn)
        builder.operator("aten::mean", at + 115 + 20 * turn, 5)
        at += 125 + 20 * turn
    assert (found(builder.build()) is not None) is told


def test_growth_of_little_weight_stays_quiet():
    trace = generation()
    trace.operator("aten::mm", 20_000, 200_000)
    assert found(trace.build()) is None


def test_a_metric_over_everything_so_far_is_told_to_keep_sums():
    trace = loop([100.0 + 20 * turn for turn in range(40)], METRIC)
    answer = found(trace)
    assert answer is not None
    assert "running sums" in answer.change and answer.where.lines == (2, 3) and answer.saving is not None
    assert answer.saving.grade == "C" and answer.saving.low_ns == 0


def test_a_graph_that_is_kept_is_told_to_detach():
    source = "for x in xs:\n    h = cell(x, h)\n    h.sum().backward(retain_graph=True)\n"
    answer = found(loop([100.0 + 20 * turn for turn in range(40)], source))
    assert answer is not None and "detach" in answer.change


def test_growth_outside_the_window_is_seen_in_sampled_stacks():
    answer = found(sampled([500 * each for each in range(1, 200)]))
    assert answer is not None and answer.where.lines == (3,)
    assert "in the last 9" in answer.explanation and answer.title.startswith("Work on all of `preds`")


def test_no_recording_has_it(any_shared_trace):
    answer = rule("growing_iterations").check(Results(any_shared_trace))
    assert not isinstance(answer, Finding)
