"""What the checks read off a run that was recorded on a GPU: the same code, on traces that are there already."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gpu_check import clocks, recorded
from benchmarks.gpu_check.checks import launch_constants
from benchmarks.gpu_check.checks.pipeline import Without
from benchmarks.gpu_check.evidence_page import page
from gpuprof.run import Run
from tests.support.shared import shared_path


@pytest.fixture(scope="module")
def many_syncs():
    return Run.load(shared_path("a100-sam-many-syncs"))


@pytest.mark.recordings
def test_a_run_is_described(many_syncs):
    facts = recorded.describe(many_syncs)
    assert facts["device_events"]["kernel"] > 5_000
    assert facts["launches_with_kernel_share"] > 0.99
    assert facts["lags_ns"]["launch_to_kernel"]["least"] > 0
    assert facts["lags_ns"]["end_to_return"]["least"] > 0
    assert facts["replay"]["worst_step_error"] < 0.1
    assert "sync_in_step" in [finding["rule"] for finding in facts["findings"]]


@pytest.mark.recordings
def test_gaps_and_lags_are_those_of_idle_and_busy_streams(many_syncs):
    gaps = launch_constants._gaps(many_syncs.trace)
    assert gaps["idle_lag"]["count"] > 1000
    assert 5_000 < gaps["idle_lag"]["median"] < 20_000
    assert gaps["queued"]["median"] < 5_000


@pytest.mark.recordings
@pytest.mark.parametrize("name", ["cpu-only-rank34", "no-gpu-activity", "torch-compile-triton", "mi300x-qwen-rocm"])
def test_no_run_is_too_odd(name):
    run = Run.load(shared_path(name))
    recorded.describe(run)
    launch_constants._gaps(run.trace)


@pytest.mark.recordings
def test_the_page_shows_a_recorded_run(many_syncs):
    result = {"status": "held", "facts": {"balanced": recorded.describe(many_syncs)}}
    text = page({"capture": result}, {"device_kind": "cuda"})
    assert "| balanced |" in text
    assert "sync_in_step" in text


def test_the_spread_of_few_values():
    assert clocks.spread([]) == {"count": 0}
    assert clocks.spread([2.0]) == {"least": 2.0, "q1": 2.0, "median": 2.0, "q3": 2.0, "most": 2.0, "count": 1}
    assert clocks.spread([1.0, 3.0])["median"] == 2.0
    assert clocks.spread(np.array([1, 2, 3]).tolist())["q1"] == 1.5


def test_a_package_that_is_made_absent_is_not_found():
    class Finder:
        def find_spec(self, name, path=None, target=None):
            return name

    finder = Without(Finder(), ["pandas"])
    assert finder.find_spec("pandas.core") is None
    assert finder.find_spec("numpy") == "numpy"
