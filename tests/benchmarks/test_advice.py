from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proving.others import pypi_gpuprof, tensorboard_plugin
from benchmarks.proving.others.advice import LOADING, Advice, with_advice
from benchmarks.proving.others.tensorboard_plugin import advice_of
from benchmarks.proving.others.torchtidy import PATTERNS
from benchmarks.proving.pair import rule_names
from benchmarks.proving.score import judge
from tests.benchmarks.test_score import judged_as, recorded, result


def test_an_advice_counts_for_any_label_that_it_covers() -> None:
    given = {"bad": [Advice("loading", LOADING[::-1]).as_dict()], "good": [Advice("loading", LOADING).as_dict()]}
    judged = judge([with_advice(result(recorded(), recorded()), given)])
    assert judged_as(judged) == [("bad", "input_stall", "right"), ("good", "input_stall", "false")]


def test_a_variant_that_a_tool_was_not_run_on_is_left_out() -> None:
    judged = judge([with_advice(result(recorded(), recorded()), {"bad": []})])
    assert (judged.variants, judged.firings) == (1, [])


def test_torchs_patterns_are_there_and_cover_rules() -> None:
    from torch.profiler import _pattern_matcher

    assert all(hasattr(_pattern_matcher, name) for name in PATTERNS)
    assert {rule for covers in PATTERNS.values() for rule in covers} <= set(rule_names())


@pytest.mark.parametrize(
    ("text", "covers"),
    [("GPU 0 has low utilization.", "small_batch"), ("a lot of time is in data loading", LOADING[0])],
)
def test_a_recommendation_of_the_plugin_is_about_labels(text: str, covers: str) -> None:
    found = advice_of(text)
    assert found is not None and found.covers[0] == covers
    assert advice_of("use another backend") is None


def test_all_that_the_tools_advise_is_about_rules() -> None:
    covers = {*tensorboard_plugin.COVERS.values(), *pypi_gpuprof.COVERS.values()}
    assert {rule for each in covers for rule in each} <= set(rule_names())


def test_a_tool_that_cannot_run_says_why(tmp_path: Path) -> None:
    found = tensorboard_plugin.advise(tmp_path / "none.json", tmp_path)
    assert "torch_tb_profiler" in found["error"]
