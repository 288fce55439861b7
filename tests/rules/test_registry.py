"""How the rules are asked together."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.errors import UsageError
from gpuprof.rules import registry
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.rule import Rule
from tests.support.trace_builder import TraceBuilder


@dataclass(frozen=True)
class Says(Rule):
    """A rule that always says the same."""

    label: str = "says"
    severity: Severity = Severity.MEDIUM
    ranges: tuple[tuple[int, int], ...] = ()
    causes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.label

    @property
    def yields_to(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.causes

    def check(self, results: Results) -> Finding:
        return Finding(self.label, self.severity, "Title", "Why.", {"x": 1}, "Do.", Where(ranges_ns=self.ranges))


@dataclass(frozen=True)
class Breaks(Rule):
    """A rule with a fault of its own."""

    @property
    def name(self) -> str:
        return "breaks"

    def check(self, results: Results) -> Finding | Abstention | None:
        raise KeyError("column")


@pytest.fixture
def results() -> Results:
    return Results(TraceBuilder().operator("aten::mm", 0, 10).build())


def judged(monkeypatch: pytest.MonkeyPatch, results: Results, *rules: Rule) -> registry.Judgement:
    monkeypatch.setattr(registry, "all_rules", lambda: rules)
    return registry.judge(results)


def test_findings_come_best_first(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    rules = (Says("low", Severity.LOW), Says("b"), Says("a"), Says("high", Severity.HIGH))
    assert [each.rule for each in judged(monkeypatch, results, *rules).findings] == ["high", "a", "b", "low"]


def test_a_rule_yields_to_the_cause_of_the_same_time(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    cause = Says("cause", ranges=((0, 10),))
    same = Says("same", ranges=((5, 20),), causes=("cause",))
    other = Says("other", ranges=((10, 20),), causes=("cause",))
    whole = Says("whole", causes=("cause",))
    assert [each.rule for each in judged(monkeypatch, results, cause, same, other, whole).findings] == [
        "cause",
        "other",
    ]


@pytest.mark.parametrize(("severity", "left"), [(Severity.MEDIUM, ["b"]), (Severity.LOW, ["a", "b"])])
def test_changes_that_do_not_go_together(
    monkeypatch: pytest.MonkeyPatch, results: Results, severity: Severity, left: list[str]
) -> None:
    monkeypatch.setattr(registry, "NOT_AFTER", {"a": ("b",)})
    found = judged(monkeypatch, results, Says("a"), Says("b", severity)).findings
    assert sorted(each.rule for each in found) == left


def test_a_faulty_rule_costs_nobody_the_others(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    judgement = judged(monkeypatch, results, Breaks(), Says("sound"))
    assert [each.rule for each in judgement.findings] == ["sound"]
    assert [(each.rule, "KeyError" in each.needs) for each in judgement.abstained] == [("breaks", True)]


def test_a_faulty_rule_is_no_secret_to_tests(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    monkeypatch.setattr(registry, "all_rules", lambda: (Breaks(),))
    with pytest.raises(KeyError):
        registry.judge(results, strict=True)


def test_an_unknown_rule_is_a_usage_error_that_names_them_all() -> None:
    with pytest.raises(UsageError, match="input_stall"):
        registry.rule("no_such_rule")


def test_the_empty_trace_gives_no_finding() -> None:
    assert registry.judge(Results(TraceBuilder().build()), strict=True).findings == ()


@pytest.mark.parametrize(("memory_share", "first"), [(0.57, "memory"), (0.15, "time")])
def test_memory_is_ranked_by_its_share_of_the_peak(memory_share: float, first: str) -> None:
    """GIVEN a change that saves a tenth of the time, and another that saves memory, of the same severity."""
    saved = Saving(50, 100, 200, 0.1, "C", "of the cell")
    found = (
        Finding("time", Severity.HIGH, "A", "B.", {}, "C.", saving=saved),
        Finding("memory", Severity.HIGH, "A", "B.", {"saved_share": memory_share}, "C."),
        Finding("other", Severity.MEDIUM, "A", "B.", {"saved_share": 0.9}, "C."),
    )
    assert registry.best_first(found)[0].rule == first
    assert registry.best_first(found)[2].rule == "other"


def test_a_saving_that_may_be_nothing_counts_half() -> None:
    sure, may_be = Saving(50, 60, 70, 0.06, "B", ""), Saving(0, 100, 200, 0.1, "C", "")
    found = (
        Finding("may_be", Severity.MEDIUM, "A", "B.", {}, "C.", saving=may_be),
        Finding("sure", Severity.MEDIUM, "A", "B.", {}, "C.", saving=sure),
    )
    assert [each.rule for each in registry.best_first(found)] == ["sure", "may_be"]


@pytest.mark.parametrize(("share", "first"), [(0.2, "medium"), (0.09, "high"), (0.08, "high")])
def test_a_change_that_saves_more_comes_before_a_graver_finding(share: float, first: str) -> None:
    """GIVEN a high finding whose change saves 8.6% of the cell, and a medium one."""
    found = (
        Finding("high", Severity.HIGH, "A", "B.", {}, "C.", saving=Saving(40, 86, 200, 0.086, "C", "of the cell")),
        Finding("medium", Severity.MEDIUM, "A", "B.", {}, "C.", saving=Saving(50, 1000 * share, 2000, share, "C", "")),
        Finding("low", Severity.LOW, "A", "B.", {}, "C.", saving=Saving(0, 500, 900, 0.5, "C", "of the cell")),
    )
    assert registry.best_first(found)[0].rule == first
    assert registry.best_first(found)[2].rule == "low"
