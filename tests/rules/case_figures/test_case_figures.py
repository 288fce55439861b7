"""Every rule's case to the last figure: what is measured, what it would save, where it is."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import all_rules, rule
from tests.rules.case_figures.a_to_e import FIGURES as FIRST
from tests.rules.case_figures.f_to_h import FIGURES as SECOND
from tests.rules.case_figures.figures import Figures
from tests.rules.case_figures.i_to_o import FIGURES as THIRD
from tests.rules.case_figures.p_to_r import FIGURES as FOURTH
from tests.rules.case_figures.s import FIGURES as FIFTH
from tests.rules.case_figures.t_to_z import FIGURES as LAST
from tests.rules.cases import case_of

FIGURES = FIRST | SECOND | THIRD | FOURTH | FIFTH | LAST


def found(name: str) -> tuple[Finding, Results]:
    run: Any = case_of(name).fires()
    results = run if isinstance(run, Results) else Results(run)
    finding = rule(name).check(results)
    assert isinstance(finding, Finding)
    return finding, results


def test_there_are_figures_for_every_rule() -> None:
    assert list(FIGURES) == [each.name for each in all_rules()]


@pytest.mark.parametrize(("name", "figures"), FIGURES.items(), ids=FIGURES)
def test_what_is_measured(name: str, figures: Figures) -> None:
    finding, _ = found(name)
    assert finding.evidence == {
        key: value if isinstance(value, str) else pytest.approx(value, rel=1e-6)
        for key, value in figures.evidence.items()
    }
    assert finding.explanation == figures.explanation


@pytest.mark.parametrize(("name", "figures"), FIGURES.items(), ids=FIGURES)
def test_what_it_would_save(name: str, figures: Figures) -> None:
    finding, results = found(name)
    saving = finding.saving
    if figures.saving is None:
        assert saving is None
        return
    assert saving is not None and saving.grade == figures.grade
    saved = [ns / 1000 for ns in (saving.low_ns, saving.central_ns, saving.high_ns)]
    assert saved == pytest.approx(figures.saving, rel=1e-5)
    assert saving.share == pytest.approx(saving.central_ns / results.trace.span_ns)


@pytest.mark.parametrize(("name", "figures"), FIGURES.items(), ids=FIGURES)
def test_where_it_is(name: str, figures: Figures) -> None:
    finding, _ = found(name)
    ranges = finding.where.ranges_ns
    assert len(ranges) == figures.ranges
    if figures.first:
        assert [at / 1000 for at in ranges[0]] == pytest.approx(figures.first)
