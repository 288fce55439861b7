"""What must not be taken for growth that can be helped, and what the finding says."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, SampledFile
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.analyses.loops.test_growth import METRIC, TRACKER, epochs, sampled
from tests.analyses.loops.test_growth import generation as shaped
from tests.rules.cases.host.growing_iterations import SOURCE, generation
from tests.support.trace_builder import CELL_FILE, TraceBuilder


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


@pytest.mark.parametrize(("backward", "is_told"), [(0.0, True), (0.1, True), (0.4, False), (1.0, False)])
def test_what_is_trained_cannot_be_kept_from_one_iteration_to_the_next(backward, is_told):
    """That part of the growth is in backward passes."""
    builder, at = TraceBuilder().context(cell=Cell(source=SOURCE)), 0.0
    for turn in range(40):
        grown = 20 * turn
        for name, for_us in (
            ("aten::embedding", 10),
            ("aten::linear", 100 + (1 - backward) * grown),
            ("autograd::engine::evaluate_function: MmBackward0", 100 + backward * grown),
            ("aten::argmax", 10),
        ):
            builder.operator(name, at, for_us)
            at += for_us
    assert (found(builder.build()) is not None) is is_told


def test_a_graph_that_is_kept_is_told_to_detach():
    source = "for x in xs:\n    h = cell(x, h)\n    h.sum().backward(retain_graph=True)\n"
    answer = found(loop([100.0 + 20 * turn for turn in range(40)], source))
    assert answer is not None and "detach" in answer.change


def test_growth_outside_the_window_is_seen_in_sampled_stacks():
    answer = found(sampled([500 * each for each in range(1, 200)]))
    assert answer is not None and answer.where.lines == (3,)
    assert "in the last 9" in answer.explanation and answer.title.startswith("Work on all of `preds`")


OTHER_CELL, THIRD_CELL = "/tmp/ipykernel_1/22.py", "/tmp/ipykernel_1/5.py"
TRAIN = "def train():\n    " + "\n    ".join(["preds = []", *METRIC.splitlines()]) + "\n"


def in_another_cell(execution_count: int | None) -> Trace:
    """The profiled cell calls a function of another one; a third one, of number 5, is seen as well."""
    builder, at = TraceBuilder().context(cell=Cell(source="train()\n")), 0.0
    for reads in (500 * each for each in range(1, 200)):
        for line, for_us in ((4, 10_000), (5, reads)):
            builder.stack(at, for_us, (CELL_FILE, "<module>", 1), (OTHER_CELL, "train", line))
            at += for_us
    builder.stack(at, 1000, (THIRD_CELL, "plot", 2), (CELL_FILE, "<module>", 1))
    trace = builder.operator("aten::mm", 0, 10).build()
    texts = {OTHER_CELL: (TRAIN, execution_count), THIRD_CELL: ("def plot():\n    show()\n", 5)}
    stacks = trace.context.stacks
    assert stacks is not None
    files = list(stacks.files)
    for number, each in enumerate(files):
        if each.filename in texts:
            source, count = texts[each.filename]
            files[number] = SampledFile(filename=each.filename, kind="notebook", source=source, execution_count=count)
    context = msgspec.structs.replace(trace.context, stacks=msgspec.structs.replace(stacks, files=tuple(files)))
    return dataclasses.replace(trace, context=context)


@pytest.mark.parametrize(("execution_count", "words"), [(2, "line 5 of In [2] takes"), (None, "line 5 takes")])
def test_lines_of_another_cell_are_named_with_its_number(execution_count: int | None, words: str) -> None:
    answer = found(in_another_cell(execution_count))
    assert answer is not None and words in answer.explanation
    assert answer.where.lines == ()


def test_what_sampled_stacks_measure_of_lines_that_take_more_and_more() -> None:
    """GIVEN 199 turns, each of 10 ms and 0.5 ms for each turn so far: 11.94 s, of which 1.99 s do not grow.

    The first third ends in turn 108, which has not read yet; the last begins where turn 160 reads.
    """
    answer = found(sampled([500 * each for each in range(1, 200)]))
    assert answer is not None
    first_ms, last_ms = 0.25 * 107 * 108, 0.25 * (199 * 200 - 159 * 160)
    excess_ms = 11_940 - 1990 * (first_ms + 1080) / 1080
    assert answer.evidence == {
        "first_share": pytest.approx(first_ms / (first_ms + 1080), abs=1e-4),
        "last_share": pytest.approx(last_ms / (last_ms + 390), abs=1e-4),
        "error_share": pytest.approx(0.0382, abs=1e-4),
        "excess_ms": pytest.approx(excess_ms),
        "excess_share": pytest.approx(excess_ms / 11_940, abs=1e-4),
        "grows": "preds",
    }
    # at most all of it is saved, of the 10 µs that were recorded
    assert answer.saving is not None and answer.saving.low_ns == 0
    assert answer.saving.high_ns == pytest.approx(10_000 * excess_ms / 11_940, rel=1e-3)


def test_what_is_measured_of_growing_shapes() -> None:
    """GIVEN 30 tokens of 100 µs and 20 µs for each before; a layer of 64 × 64 works on all of them."""
    answer = found(shaped(shapes=True).context(cell=Cell(source=SOURCE)).build())
    assert answer is not None
    assert answer.evidence == {
        "iterations": 30,
        "early_ms": pytest.approx(0.18),
        "late_ms": pytest.approx(0.66),
        "excess_ms": pytest.approx(6.5),
        "excess_share": pytest.approx(6.5 / 11.7, abs=1e-4),
        "elements_percent": pytest.approx(100 * (29 * 64 + 4096) / (5 * 64 + 4096), abs=0.1),
        "grows": "ids",
    }


def test_what_is_measured_of_a_growing_number_of_operators() -> None:
    """GIVEN 30 turns, each with one product more than the one before."""
    builder, at = TraceBuilder().context(cell=Cell(source=SOURCE)), 0.0
    for turn in range(30):
        for name in ("aten::embedding", *["aten::linear"] * (turn + 1), "aten::argmax", "aten::cat"):
            builder.operator(name, at, 20)
            at += 20
    answer = found(builder.build())
    assert answer is not None
    early, late = answer.evidence["early_ms"], answer.evidence["late_ms"]
    assert isinstance(early, float) and isinstance(late, float)
    # each operator takes 20 µs
    assert answer.evidence["operators_percent"] == pytest.approx(100 * late / early, abs=0.1)
    assert "elements_percent" not in answer.evidence


def test_no_recording_has_it(any_shared_trace):
    answer = rule("growing_iterations").check(Results(any_shared_trace))
    assert not isinstance(answer, Finding)


def test_what_each_epoch_begins_anew_says_how_large_it_was() -> None:
    answer = found(epochs(source=TRACKER, place=("add", 4), name="self.preds"))
    assert answer is not None
    few, many = answer.evidence["first_items"], answer.evidence["last_items"]
    assert f"While `self.preds` has about {few} items, " in answer.explanation
    assert f" of the time is in line 4; while it has {many}, " in answer.explanation
    assert answer.explanation.endswith("line 4 takes all of it. By sampled stacks of the whole cell.")
    assert answer.where.lines == (4,)


HOOKED = """def record(module, inputs, output):
    ranks.append(rank(output))

for epoch in range(9):
    train(model)
    model.register_forward_hook(record)
    report(model)
"""


def hooked(source: str, *, forward_line: int = 5) -> Trace:
    """Iterations of 10 ms, in which the second line takes 1 ms more each time."""
    builder, at = TraceBuilder().context(cell=Cell(source=source, filename=CELL_FILE)), 0.0
    for turn in range(40):
        hook = 1_000.0 * turn
        builder.stack(at, 10_000, (CELL_FILE, "<module>", forward_line))
        if hook:
            called = (CELL_FILE, "<module>", forward_line), (CELL_FILE, "record", 2)
            builder.stack(at + 10_000, hook, *called)
        builder.iteration(at, 10_000 + hook, plain=True)
        at += 10_000 + hook
    return builder.operator("aten::mm", 0, 10).build()


def test_hooks_that_pile_up_are_what_makes_iterations_longer() -> None:
    answer = found(hooked(HOOKED))
    assert answer is not None and answer.where.lines == (2, 6)
    assert "line 6 adds one more with `model.register_forward_hook` each time" in answer.explanation
    assert "handle.remove()" in answer.change


@pytest.mark.parametrize(
    "source",
    [
        HOOKED.replace("    report(model)", "    report(model).remove()"),
        HOOKED.replace("hook(record)", "hook(other)"),
        "model.register_forward_hook(record)\n" * 3 + HOOKED.replace("    model.reg", "    model.count_reg"),
    ],
)
def test_other_hooks_do_not_make_iterations_longer(source: str) -> None:
    assert found(hooked(source)) is None


def test_what_is_fitted_to_all_data_again_is_a_minor_matter() -> None:
    source = METRIC.replace("score = metric(torch.cat(preds))", "model.fit(torch.cat(preds))")
    answer = found(sampled([500 * each for each in range(1, 200)], source=source))
    assert answer is not None and answer.severity == Severity.LOW
    assert answer.change.startswith("A model that is fitted to all data")


def test_a_library_is_no_list() -> None:
    """`np.append` takes two, and gives a new array."""
    source = METRIC.replace("preds.append(model(x))", "y = np.append(y, model(x))").replace(
        "torch.cat(preds)", "np.sum(z)"
    )
    assert found(sampled([500 * each for each in range(1, 200)], source=source)) is None


def test_a_list_that_is_asked_for_an_item_is_searched_and_not_worked_on() -> None:
    source = METRIC.replace("score = metric(torch.cat(preds))", "if x not in preds: new += 1")
    assert found(sampled([500 * each for each in range(1, 200)], source=source)) is None
