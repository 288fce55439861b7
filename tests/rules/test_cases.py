"""Every rule: its case, its near miss, its abstention, and its page."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import HEADINGS
from gpuprof.rules.documentation import explain, page
from gpuprof.rules.registry import all_rules, judge, rule
from tests.rules.cases import case_modules, case_of

NAMES = [each.name for each in all_rules()]
CASES = sorted(case_modules())


def judged(run: Trace | Results) -> Results:
    """A case gives a Trace, or the Results of several ranks."""
    return run if isinstance(run, Results) else Results(run)


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert NAMES == CASES


@pytest.mark.parametrize("name", NAMES)
def test_fires_as_expected(name: str) -> None:
    expected = case_of(name).EXPECTED
    found = rule(name).check(judged(case_of(name).fires()))
    assert isinstance(found, Finding)
    assert (found.severity, found.title, found.where.lines) == (expected.severity, expected.title, expected.lines)
    for key, value in expected.evidence.items():
        assert found.evidence[key] == (value if isinstance(value, str) else pytest.approx(value, rel=0.01)), key
    assert expected.change in found.change
    if expected.saving_share is not None:
        assert found.saving is not None
        assert found.saving.share == pytest.approx(expected.saving_share, rel=0.01)
        assert expected.basis in found.saving.basis


@pytest.mark.parametrize("name", NAMES)
def test_is_reported_by_the_registry(name: str) -> None:
    judgement = judge(judged(case_of(name).fires()), strict=True)
    assert name in [finding.rule for finding in judgement.findings]


@pytest.mark.parametrize("name", NAMES)
def test_stays_quiet_just_under_the_threshold(name: str) -> None:
    assert rule(name).check(judged(case_of(name).stays_quiet())) is None


@pytest.mark.parametrize("name", NAMES)
def test_abstains_without_its_signal(name: str) -> None:
    answer = rule(name).check(judged(case_of(name).abstains()))
    assert isinstance(answer, Abstention)
    assert answer.rule == name
    assert answer.needs and answer.how


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_is_whole(name: str) -> None:
    found: Any = rule(name).judge(judged(case_of(name).fires()))
    assert found.rule == name
    assert not found.title.endswith(".")
    for text in (found.explanation, found.change, found.leave_it):
        # `in_dims` of torch.func.vmap is written with it
        assert text.endswith(".") and "None" not in text.replace("(None, 0, 0)", "") and "nan" not in text
    assert found.evidence
    if found.saving:
        assert 0 <= found.saving.low_ns <= found.saving.central_ns <= found.saving.high_ns
        assert 0 < found.saving.share <= 1
        assert found.saving.grade in "ABC"


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_heading_and_reason(name: str) -> None:
    summary, parts = rule(name).sections()
    assert summary
    assert tuple(parts) == HEADINGS
    assert all(parts.values())
    assert all(reason for _, _, reason in rule(name).thresholds())
    assert all(f"`{threshold}`" in page(rule(name)) for threshold, _, _ in rule(name).thresholds())
    assert all(heading in explain(name) for heading in HEADINGS)


@pytest.mark.parametrize("name", NAMES)
def test_yields_only_to_rules_that_exist(name: str) -> None:
    assert set(rule(name).yields_to) <= set(NAMES) - {name}
