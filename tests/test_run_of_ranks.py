"""A folder with a trace of each rank, loaded as one Run."""

from __future__ import annotations

from pathlib import Path

import gpuprof
from gpuprof.analyses.ranks.ranks import Ranks
from tests.analyses.validity.test_cut_off import WINDOW_END
from tests.ingest.kineto_text import call, compact, kernel, operator, save, span

REDUCE = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"


def rank_file(folder: Path, rank: int) -> None:
    """One step of a kernel and an all-reduce that waits for rank 2."""
    begin = 100 + (300 if rank == 2 else 0)
    events = [
        span("ProfilerStep#7", 50, 1000),
        operator("aten::mm", begin, 40),
        call("cudaLaunchKernel", begin + 5, 5, 1),
        kernel("gemm", begin + 20, 100, 1, device=rank),
        call("cudaLaunchKernel", begin + 20, 5, 2),
        kernel(REDUCE, begin + 130, 900 - begin - 130, 2, device=rank, stream=9),
        WINDOW_END,
    ]
    save(folder, compact(events, {"distributedInfo": {"rank": rank, "world_size": 3}}), f"rank{rank}.json")


def test_one_step_of_every_rank_shows_no_straggler_yet(tmp_path: Path) -> None:
    for rank in range(3):
        rank_file(tmp_path, rank)
    run = gpuprof.load(tmp_path)
    assert len(run.traces) == 3 and run.to_dict()["source"]["ranks"] == [0, 1, 2]
    assert any(
        "3 ranks were loaded; figures that name no rank are those of rank 0." in note
        for note in run.report_data.trust.notes
    )
    assert run.report_data.results.get(Ranks).any_collective
    compared = run.to_dict()["rank_collectives"]
    assert (compared["transfer_ms"], compared["waiting_ms"]) == ([0.37] * 3, [0.3, 0.3, 0.0])
    assert compared["late_rank"] is None  # the only collective takes up that the recordings began apart
    said = {each.rule: each.needs for each in run.abstained}
    assert "memory" in said["uneven_device_memory"]
