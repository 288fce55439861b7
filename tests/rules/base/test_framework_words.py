"""Advice names the framework's own argument where that framework made the part, and only then."""

from __future__ import annotations

import re

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.frameworks import PACKAGES, framework
from gpuprof.model.context import Loader, Optimizer, RunContext, UsedFramework
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.base.framework_words import in_its_words
from gpuprof.rules.registry import all_rules, rule
from tests.rules.cases import case_of

UNFUSED = "Make it `AdamW(..., fused=True)`."
WORKERS = "It is slow. Besides, `num_workers=3, persistent_workers=True` for the DataLoader can hide a part of it."
# of rules whose case gives other advice than the one that is replaced
_OF_OTHERS = {
    "input_stall": WORKERS,
    "unfused_optimizer": UNFUSED,
    "padding_waste": "Put sequences of like length into a batch: `group_by_length=True` in Hugging Face’s Trainer, a "
    "bucketing sampler elsewhere; or pack several into one row.",
}


def said(name: str, advice: str, *, of: str = "optimizer", maker: str = "transformers", version: str = "5.24.0") -> str:
    found = Finding(rule=name, severity=Severity.LOW, title="", explanation="", evidence={}, change=advice)
    context = RunContext(
        frameworks=(UsedFramework(package=maker, version=version),),
        loaders=(Loader(workers=0, maker=maker if of == "loader" else None),),
        optimizers=(Optimizer(name="AdamW", parameters=1, elements=1, maker=maker if of == "optimizer" else None),),
    )
    return in_its_words(found, context).change


def test_an_optimizer_of_the_trainer() -> None:
    assert said("unfused_optimizer", UNFUSED) == 'Set `optim="adamw_torch_fused"` in `TrainingArguments`.'


def test_workers_keep_their_number_and_the_rest_of_the_advice() -> None:
    own = "`dataloader_num_workers=3, dataloader_persistent_workers=True` in `TrainingArguments`"
    assert said("input_stall", WORKERS, of="loader") == WORKERS.replace(
        "`num_workers=3, persistent_workers=True` for the DataLoader", own
    )


@pytest.mark.parametrize("other", [{"of": "loader"}, {"version": "3.0.2"}, {"version": ""}, {"maker": "lightning"}])
def test_else_the_general_advice_stands(other: dict[str, str]) -> None:
    assert said("unfused_optimizer", UNFUSED, **other) == UNFUSED


def test_advice_that_says_something_else_stays() -> None:
    assert said("unfused_optimizer", "Make it `SGD(..., foreach=True)`.") == "Make it `SGD(..., foreach=True)`."


def test_words_without_a_part_to_replace_stand_first() -> None:
    change = said("sync_in_step", "Keep the value.")
    assert change.startswith("Set `logging_nan_inf_filter=False`") and change.endswith(" Keep the value.")


def test_every_framework_has_its_file_and_speaks_of_rules_that_there_are() -> None:
    rules = {each.name for each in all_rules()}
    for package in PACKAGES:
        known = framework(package)
        assert known is not None and known.package == package
        assert {name for words in known.words.values() for name in words} <= rules
    assert framework("numpy") is None


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_replaced_is_said(package: str) -> None:
    known = framework(package)
    assert known is not None
    for words in known.words.values():
        for name, change in words.items():
            advice = _OF_OTHERS.get(name) or _advice(name)
            assert re.search(change.replaces, advice, re.DOTALL), (name, advice)


def _advice(name: str) -> str:
    run = case_of(name).fires()
    found = rule(name).check(run if isinstance(run, Results) else Results(run))
    assert isinstance(found, Finding)
    return found.change
