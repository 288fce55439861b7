"""Over every recording: no finding can save more than its title says that the cause takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace
from gpuprof.report.saving_words import shown
from gpuprof.rules.registry import judge
from gpuprof.rules.saving.named_cause import NamedShare
from gpuprof.units import percent
from tests.report.test_expert_traces import EXPERT
from tests.rules.cases import case_modules, case_of
from tests.support import built_runs
from tests.support.shared import shared_file

DATA = Path(__file__).parents[1] / "data"
OWN = [DATA / "cpu-training", *sorted(each for each in (DATA / "gpu").iterdir() if each.is_dir())]


def check(run: Trace | Results) -> int:
    """How many findings name a share and save something."""
    results, compared = run if isinstance(run, Results) else Results(run), 0
    for finding in judge(results, strict=True).findings:
        named, told = NamedShare.of(finding.title), shown(results, finding)
        if named is None or told is None or finding.saving is None:
            continue
        compared += 1
        for most in (told.high_share, told.share, finding.saving.most_share):
            assert most <= named.share + 1e-9, (finding.title, percent(most), finding.saving.whole)
    return compared


@pytest.mark.parametrize("folder", OWN, ids=lambda folder: str(folder.name))
def test_own_recordings(folder: Path) -> None:
    check(load_trace(folder))


def test_the_recordings_have_such_findings() -> None:
    assert check(load_trace(OWN[0])) == 2


@pytest.mark.recordings
@pytest.mark.parametrize("name", EXPERT)
def test_recordings_with_an_expert_s_verdict(name: str) -> None:
    check(load_trace(shared_file(f"expert/{name}.json.gz")))


def test_public_recordings(any_shared_trace: Any) -> None:
    check(any_shared_trace)


@pytest.mark.parametrize("name", sorted(built_runs.BUILT))
def test_built_runs(name: str) -> None:
    check(built_runs.BUILT[name]())


@pytest.mark.parametrize("name", sorted(case_modules()))
def test_cases_of_rules(name: str) -> None:
    case = case_of(name)
    for run in (case.fires(), case.stays_quiet()):
        check(run)
