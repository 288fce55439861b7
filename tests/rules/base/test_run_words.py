"""Training, evaluation and inference each have words of their own in what findings say."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.base.run_words import RunWords
from gpuprof.rules.registry import rule
from tests.rules.cases.host import launch_bound
from tests.rules.cases.kernels import small_batch
from tests.rules.cases.loading import input_stall, workers_restarted
from tests.rules.test_advice import _loading

OF_TRAINING = ("train", "epoch", "learning rate", "backward")


def of_kind(trace: Trace, kind: KindOfRun) -> Results:
    results = Results(trace)
    results._known[RunKind] = RunKind(kind, "")
    return results


def found(name: str, trace: Trace, kind: KindOfRun) -> Finding:
    answer = rule(name).check(of_kind(trace, kind))
    assert isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(
    ("kind", "loop", "thread"),
    [
        (KindOfRun.TRAINING, "The training loop waits", "made on the training thread itself"),
        (KindOfRun.EVALUATION, "The evaluation loop waits", "made on the main thread itself"),
        (KindOfRun.INFERENCE, "The inference loop waits", "made on the main thread itself"),
        (KindOfRun.GENERATION, "The generation loop waits", "made on the main thread itself"),
        (KindOfRun.SERVING, "The server waits", "made on the main thread itself"),
        (KindOfRun.OTHER, "The loop waits", "made on the main thread itself"),
    ],
)
def test_who_waits_for_data(kind: KindOfRun, loop: str, thread: str) -> None:
    stall = found("input_stall", _loading(30_000, workers=0, cores=4, device=False).build(), kind)
    assert stall.title.startswith(loop) and thread in stall.explanation


@pytest.mark.parametrize(
    ("kind", "batch", "note"),
    [
        (KindOfRun.TRAINING, "Use a larger batch if memory allows it", "Adapt the learning rate."),
        (KindOfRun.EVALUATION, "Evaluate a larger batch at a time", "What is evaluated stays the same."),
        (KindOfRun.INFERENCE, "Infer on more inputs at a time", "Each input then waits for the others of its batch."),
        (KindOfRun.GENERATION, "Generate for more prompts at a time", "for the longest of its batch."),
        (KindOfRun.OTHER, "Use a larger batch if memory allows it", "watch samples per second."),
    ],
)
def test_what_a_larger_batch_means(kind: KindOfRun, batch: str, note: str) -> None:
    assert batch in found("launch_bound", launch_bound.fires(), kind).change
    advice = found("small_batch", small_batch.fires(), kind).change
    assert note in advice and advice == advice.strip()


@pytest.mark.parametrize("kind", [KindOfRun.EVALUATION, KindOfRun.INFERENCE])
def test_nothing_of_training_is_said_where_nothing_trains(kind: KindOfRun) -> None:
    cases = {
        "input_stall": input_stall.fires(),
        "workers_restarted": workers_restarted.fires(),
        "launch_bound": launch_bound.fires(),
        "small_batch": small_batch.fires(),
    }
    for name, trace in cases.items():
        finding = found(name, trace, kind)
        basis = finding.saving.basis if finding.saving else ""
        said = f"{finding.title} {finding.explanation} {finding.change} {basis}"
        assert not any(word in said for word in OF_TRAINING), (name, said)


def test_kinds_differ_and_others_are_neutral() -> None:
    trace = launch_bound.fires()
    own = (KindOfRun.TRAINING, KindOfRun.EVALUATION, KindOfRun.INFERENCE, KindOfRun.GENERATION, KindOfRun.SERVING)
    words = [RunWords.of(of_kind(trace, kind)) for kind in own]
    assert len({each.loop for each in words}) == len({each.batch_note for each in words}) == len(own)
    assert RunWords.of(of_kind(trace, KindOfRun.CAPTURE)) == RunWords()
