"""Each stretch of a cell has the phase that a reader of its source would name."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import UsedFramework
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import cell, line, reading
from tests.support.trace_builder import TraceBuilder

CALL = ("/lib/torch/nn/modules/module.py", "Module._call_impl", 5)
STEP = ("/lib/torch/optim/adam.py", "Adam.step", 9)
BACKWARD = ("/lib/torch/_tensor.py", "Tensor.backward", 3)
LOADER = ("/lib/torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__", 3)
ENDS = tuple(float(each) for each in range(20, 101, 10))


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuprof.capture.stacks import folding

    monkeypatch.setattr(folding, "_library_folders", lambda _: ["/lib/"])


def phases(trace: Trace) -> list[Phase]:
    return [PHASES[each] for each in Results(trace).get(SamplePhases).phase]


@pytest.mark.parametrize(
    ("frames", "phase"),
    [
        ((line(5), CALL), Phase.FORWARD),
        ((line(5), CALL, ("/home/me/net.py", "Net.forward", 4)), Phase.FORWARD),
        ((line(5), CALL, ("/lib/torch/nn/modules/loss.py", "CrossEntropyLoss.forward", 4)), Phase.LOSS),
        ((line(6), BACKWARD), Phase.BACKWARD),
        ((line(7), STEP), Phase.OPTIMIZER),
        ((line(7), STEP, line(3, "closure")), Phase.TRAINING),
        ((line(7), STEP, line(3, "closure"), BACKWARD), Phase.BACKWARD),
        ((line(4), LOADER, ("/home/me/data.py", "Data.__getitem__", 4)), Phase.DATA),
        ((line(4), LOADER, ("/home/me/data.py", "Data.__getitem__", 4), CALL), Phase.DATA),
        ((line(8),), Phase.TRAINING),
        ((line(9), ("/lib/matplotlib/pyplot.py", "plot", 4)), Phase.PLOTTING),
        ((line(9), ("/lib/torch/serialization.py", "save", 4)), Phase.CHECKPOINT),
    ],
)
def test_the_stack_decides_in_a_training_loop(frames: tuple[tuple[str, str, int], ...], phase: Phase) -> None:
    assert phases(cell(TraceBuilder().stack(50_000, 1_000, *frames), ends_ms=ENDS)) == [phase]


def test_what_a_closure_calls_is_no_evaluation() -> None:
    """`LBFGS.step` runs under `no_grad`, but its closure does not, and one long step calls it many times."""
    decorated = ("/lib/torch/utils/_contextlib.py", "context_decorator.<locals>.decorate_context", 9)
    called = line(7), decorated, STEP, line(3, "closure")
    builder = TraceBuilder().stack(50_000, 1_000, *called, line(2, "logits"))
    builder.stack(110_000, 20_000, *called, line(2, "logits")).stack(130_000, 9_000, *called, CALL)
    assert phases(cell(builder, ends_ms=(*ENDS, 190.0))) == [Phase.TRAINING, Phase.TRAINING, Phase.FORWARD]


def test_before_and_after_the_loop() -> None:
    builder = TraceBuilder().stack(1_000, 1_000, line(1)).stack(3_000, 1_000, line(2), CALL)
    builder.stack(150_000, 1_000, line(20))
    assert phases(cell(builder, ends_ms=ENDS)) == [Phase.SET_UP, Phase.FORWARD, Phase.OTHER]


def test_the_model_called_from_a_line_of_no_regular_step_is_evaluated() -> None:
    # GIVEN a helper that calls the model, called from line 5 in every step and from line 12 in a long one
    helper = line(3, "predict")
    builder = TraceBuilder().stack(50_000, 5_000, line(5), helper, CALL)
    builder.stack(110_000, 20_000, line(12), helper, CALL, ("/home/me/net.py", "Net.forward", 4))
    builder.stack(130_000, 5_000, line(13))
    found = phases(cell(builder, ends_ms=(*ENDS, 190.0)))
    assert found == [Phase.FORWARD, Phase.EVALUATION, Phase.TRAINING]


def test_a_pass_over_another_loader_is_an_evaluation() -> None:
    loaders = (reading(tuple(range(10, 91, 10))), reading((110, 120, 130)))
    builder = TraceBuilder().stack(115_000, 1_000, line(30), CALL).stack(125_000, 1_000, line(31))
    builder.stack(128_000, 1_000, line(29), LOADER)
    assert phases(cell(builder, ends_ms=ENDS, loaders=loaders)) == [Phase.EVALUATION, Phase.EVALUATION, Phase.DATA]


SOURCE = "for x in data:\n    with torch.no_grad():\n        y = teacher(x)\n    loss = model(x)"


def test_code_without_gradients_is_an_evaluation_but_for_that_of_a_step() -> None:
    source = f"{SOURCE}\nwith torch.no_grad():\n    criterion(model(x), y)"
    builder = TraceBuilder().stack(50_000, 1_000, line(3), CALL).stack(200_000, 1_000, line(6), CALL)
    assert phases(cell(builder, ends_ms=ENDS, source=source)) == [Phase.FORWARD, Phase.EVALUATION]


def test_a_line_of_regular_steps_is_of_the_step_in_a_long_one_too() -> None:
    builder = TraceBuilder().stack(50_000, 3_000, line(3), CALL).stack(110_000, 1_000, line(3), CALL)
    ends = (*ENDS, 190.0)
    assert phases(cell(builder, ends_ms=ends, source=SOURCE)) == [Phase.FORWARD, Phase.FORWARD]


@pytest.mark.parametrize(("then", "phase"), [("g.backward()", Phase.FORWARD), ("print(loss(g))", Phase.EVALUATION)])
def test_a_block_that_computes_gradients_trains_in_long_iterations_too(then: str, phase: Phase) -> None:
    # GIVEN a generator that is trained in few iterations, which are long
    source = f"for x in data:\n    d = net(x)\n    d.backward()\n    if rarely:\n        g = net(x)\n        {then}"
    builder = TraceBuilder().stack(50_000, 5_000, line(2), CALL).stack(110_000, 20_000, line(5), CALL)
    assert phases(cell(builder, ends_ms=(*ENDS, 190.0), source=source)) == [Phase.FORWARD, phase]


@pytest.mark.parametrize(("in_regular_us", "phase"), [(2_000, Phase.LOSS), (200, Phase.EVALUATION)])
def test_where_iterations_differ_widely_a_line_of_all_of_them_is_of_the_step(in_regular_us: int, phase: Phase) -> None:
    # GIVEN nine regular iterations of 10 ms and then one of 290 ms, and a loss that each of them computes in the end
    loss = ("/lib/torch/nn/functional.py", "smooth_l1_loss", 3)
    builder = TraceBuilder().stack(30_000, 10_000 - in_regular_us, line(5), CALL)
    builder.stack(40_000 - in_regular_us, in_regular_us, line(6), loss)
    builder.stack(110_000, 250_000, line(5), CALL).stack(360_000, 20_000, line(6), loss)
    found = phases(cell(builder, ends_ms=(*ENDS, 390.0)))
    assert found == [Phase.FORWARD, phase, Phase.FORWARD, phase]


def test_a_function_named_so_evaluates() -> None:
    builder = TraceBuilder().stack(200_000, 1_000, line(9), line(3, "validate"), CALL)
    assert phases(cell(builder, ends_ms=ENDS)) == [Phase.EVALUATION]


def test_a_function_named_so_without_gradients_evaluates_in_every_step() -> None:
    # GIVEN in every regular step the training pass, and then the model without gradients in `test`
    source = "def test(x):\n    with torch.no_grad():\n        return model(x)"
    builder = TraceBuilder().stack(51_000, 1_000, line(5), CALL).stack(54_000, 4_000, line(9), line(3, "test"), CALL)
    assert phases(cell(builder, ends_ms=ENDS, source=source)) == [Phase.FORWARD, Phase.EVALUATION]


LOOP = "for x in {}:\n    net.eval()\n    for y in held_out:\n        loss = net(y){}\n    net.train()\n    net(x)"


@pytest.mark.parametrize(("more", "phase"), [("", Phase.EVALUATION), (".backward()", Phase.FORWARD)])
def test_a_loop_between_eval_and_train_evaluates_in_every_step(more: str, phase: Phase) -> None:
    builder = TraceBuilder().stack(51_000, 1_000, line(4), CALL).stack(54_000, 1_000, line(6), CALL)
    source = LOOP.format("data", more)
    assert phases(cell(builder, ends_ms=ENDS, source=source)) == [phase, Phase.FORWARD]


def test_a_function_named_so_generates_but_in_regular_steps() -> None:
    builder = TraceBuilder().stack(51_000, 1_000, line(5), line(3, "generate_fakes"), CALL)
    builder.stack(200_000, 1_000, line(9), line(13, "Net.generate"), CALL).stack(201_000, 1_000, line(9), line(13, "f"))
    assert phases(cell(builder, ends_ms=ENDS)) == [Phase.FORWARD, Phase.GENERATION, Phase.OTHER]


def test_a_cell_that_only_generates() -> None:
    builder = TraceBuilder().stack(1_000, 1_000, line(4), line(3, "generate_text"), CALL)
    builder.stack(2_000, 1_000, line(4), line(5, "generate_text")).stack(3_000, 1_000, line(4), line(3, "sample"), CALL)
    assert phases(cell(builder, source=SOURCE)) == [Phase.GENERATION, Phase.GENERATION, Phase.INFERENCE]


def test_a_cell_that_does_not_train_infers() -> None:
    builder = TraceBuilder().stack(1_000, 1_000, line(3), CALL).stack(2_000, 1_000, line(4), CALL)
    builder.stack(3_000, 1_000, line(4))
    assert phases(cell(builder, source=SOURCE)) == [Phase.INFERENCE, Phase.FORWARD, Phase.OTHER]


SERVING = """def answer(request):
    with torch.no_grad():
        return model(request)

for request in stream:
    reply = answer(request)
    if len(seen) == 32:
        loss = criterion(model(seen), clicks)
        loss.backward()
        opt.step()
"""
EVALUATING = """def check(batches):
    hits = 0
    with torch.no_grad():
        for x, y in batches:
            out = model(x)
            hits += (out.argmax(1) == y).sum()
    return hits
"""


@pytest.mark.parametrize(
    ("source", "frames", "phase"),
    [
        (SERVING, (line(6), line(3, "answer"), CALL), Phase.INFERENCE),
        (SERVING, (line(6), line(3, "answer")), Phase.INFERENCE),
        (EVALUATING, (line(9), line(5, "check"), CALL), Phase.EVALUATION),
        (EVALUATING, (line(9), line(6, "check")), Phase.EVALUATION),
        ("", (line(9), line(3, "evaluate")), Phase.EVALUATION),
        ("features = []\nwith torch.no_grad():\n    features.append(net(x))\n", (line(3), CALL), Phase.INFERENCE),
        (
            "preds = []\nwith torch.no_grad():\n    preds.append(net(x))\naccuracy(preds)",
            (line(3), CALL),
            Phase.EVALUATION,
        ),
    ],
)
def test_what_measures_nothing_is_no_evaluation(
    source: str, frames: tuple[tuple[str, str, int], ...], phase: Phase
) -> None:
    builder = TraceBuilder().stack(50_000, 5_000, line(8), CALL).stack(110_000, 20_000, *frames)
    assert phases(cell(builder, ends_ms=(*ENDS, 190.0), source=source))[1] is phase


def test_a_line_that_prints_what_a_model_gives_runs_the_model() -> None:
    source = "print(step)\nprint(model(x))\nprint(evaluate())\n"
    builder = TraceBuilder().stack(50_000, 1_000, line(1)).stack(55_000, 1_000, line(2), CALL)
    builder.stack(60_000, 1_000, line(3), ("/lib/sklearn/metrics/_ranking.py", "roc_auc_score", 3))
    assert phases(cell(builder, ends_ms=ENDS, source=source)) == [Phase.LOGGING, Phase.FORWARD, Phase.EVALUATION]


@pytest.mark.parametrize(("package", "phase"), [("transformers", Phase.EVALUATION), ("skorch", Phase.FORWARD)])
def test_a_framework_evaluates(package: str, phase: Phase) -> None:
    trainer = ("/lib/transformers/trainer.py", "Trainer.evaluation_loop", 5)
    builder = TraceBuilder().stack(50_000, 1_000, line(5), trainer, CALL)
    builder.context(frameworks=(UsedFramework(package=package, version="5.24.0"),))
    assert phases(cell(builder, ends_ms=ENDS)) == [phase]


@pytest.mark.parametrize(("function", "phase"), [("training_step", Phase.FORWARD), ("shared", Phase.EVALUATION)])
def test_a_training_step_is_no_evaluation_in_a_long_iteration(function: str, phase: Phase) -> None:
    builder = TraceBuilder()
    for at_us in (75_000, 80_000):  # of the iteration that took three times as long as the others
        builder.stack(at_us, 1_000, line(5), ("/home/me/model.py", f"Net.{function}", 5), CALL)
    assert set(phases(cell(builder, ends_ms=(20.0, 30.0, 40.0, 50.0, 60.0, 100.0)))) == {phase}
