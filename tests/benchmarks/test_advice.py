from __future__ import annotations

from benchmarks.proving.others.advice import LOADING, Advice, with_advice
from benchmarks.proving.others.tensorboard_plugin import LOADING_SHARE, advise
from benchmarks.proving.others.torchtidy import PATTERNS
from benchmarks.proving.pair import rule_names
from benchmarks.proving.score import judge
from tests.benchmarks.test_score import judged_as, recorded, result


class FakeRun:
    """A run whose report has only what the thresholds look at."""

    def __init__(self, wait_share: float):
        self._wait_share = wait_share

    def to_dict(self):
        budget = [{"category": "input_wait", "share": self._wait_share}, {"category": "outside_steps", "share": 0.5}]
        return {"time_budget": budget, "devices": []}


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


def test_the_plugins_threshold_for_loading_is_of_the_steps(monkeypatch) -> None:
    from benchmarks.proving.others import tensorboard_plugin

    for name in ("_tensor_cores_unused", "_memory_is_full"):
        monkeypatch.setattr(tensorboard_plugin, name, lambda run: False)
    under, over = 0.5 * LOADING_SHARE - 0.001, 0.5 * LOADING_SHARE + 0.001
    assert advise(FakeRun(under)) == []
    assert [each.covers for each in advise(FakeRun(over))] == [LOADING]
