"""A real run of several processes on the CPU: who was made to come late is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import gpuprof
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.late_rank_work import LateRankWork, SpentOn
from gpuprof.analyses.ranks.rank_collectives import RankCollectives
from tests.analyses.ranks.gloo_ranks import LATE, RANKS, SLEEP_S, STEPS

pytestmark = [
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed"),
    pytest.mark.skipif(sys.platform != "linux", reason="gloo is asked to use the interface lo"),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gloo")
    command = [sys.executable, "-m", "tests.analyses.ranks.gloo_ranks", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=250, cwd=Path(__file__).parents[3])
    return folder


@pytest.mark.parametrize(("way", "place"), [("whole", SpentOn.PYTHON), ("steps", SpentOn.RANGE)])
def test_the_rank_that_sleeps_is_named(recorded: Path, way: str, place: SpentOn) -> None:
    """GIVEN rank 1 asleep for 100 ms before each all-reduce THEN it came last at nearly all of them, most of the
    waiting is for it, and what it did longer is where it slept."""
    run = gpuprof.load(recorded / way)
    results, by_step = run.report_data.results, way == "steps"
    found, late, work = results.get(RankCollectives), results.get(LateRank), results.get(LateRankWork)
    assert found.ranks == tuple(range(RANKS)) and not found.unmatched
    kinds = {row.kind.value: (row.count, row.buffer_bytes) for row in found.table}
    assert kinds == {"all-reduce": (STEPS, STEPS * 4000), "all-gather": (STEPS, STEPS * RANKS * 4000)}
    slept_ns = SLEEP_S * 1e9
    assert (late.rank, late.partners, late.by_step) == (LATE, 2, by_step) and late.waiting_share > 0.8
    assert late.late_ns.sum() == pytest.approx((STEPS - 1) * slept_ns, rel=0.3)
    for rank in set(range(RANKS)) - {LATE}:
        assert found.waiting_ns(rank) > 0.7 * (STEPS - 1) * slept_ns
    assert work.more[0].place is place
    assert work.more[0].more_ns == pytest.approx(slept_ns * (1 if by_step else STEPS), rel=0.3)
    straggler = next(each for each in run.findings if each.rule == "rank_straggler")
    assert straggler.title.startswith(f"Rank {LATE} arrives late")
    assert ("`validate`" if by_step else "outside of torch") in straggler.change
