"""On recorded runs at least 95 % of the device's time is on the line that caused it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.ingest.load import load_trace
from gpuprof.model.context import FollowedLines, RunContext, SourceFile
from gpuprof.model.recording import KINETO, write_context, write_large_table
from gpuprof.model.trace import Trace
from tests.support.shared import shared_path
from tests.support.stack_lines import RecordedStacks

# The file that counts as the profiled cell, those that count as other cells, and the share of device work that the file
# links to a launch or an operator (ROCm's leave out a third): of the rest nobody can know the line.
RUNS = {
    "h100-owlv2-dataloader-stacks": (("moca/library/profiling/profile.py", "moca/", "transformers/"), 1.0),
    "mi300x-ddp-resnet18": (("train_single_gpu.py", "torchvision/"), 1.0),
    "mi300x-resnet-checkpointing": (("train_ddp.py", "torchvision/"), 0.68),
    "mi300x-qwen-rocm": (("moca/library/profiling/profile.py", "moca/", "transformers/"), 0.69),
}


def recorded(folder: Path, name: str, stacks: RecordedStacks) -> tuple[Trace, list[str]]:
    """The run as a Recording whose lines were followed, loaded; and the files of those lines."""
    log = stacks.line_log()
    events = log.table()
    shutil.copy(shared_path(name), folder / KINETO)
    lines = FollowedLines(
        how="monitoring",
        start_ns=int(events["time_ns"][0]),
        end_ns=int(events["time_ns"][-1]) + 1,
        files=tuple(SourceFile(filename=file) for file in log.files),
    )
    write_context(folder, RunContext(lines=lines))
    write_large_table(folder, events)
    return load_trace(folder), log.files


@pytest.mark.recordings
@pytest.mark.parametrize("name", RUNS)
def test_device_time_is_on_the_line_that_launched_it(name: str, tmp_path: Path) -> None:
    own, linked_share = RUNS[name]
    stacks = RecordedStacks(shared_path(name), own)
    trace, files = recorded(tmp_path, name, stacks)
    true_ns = stacks.device_ns()
    table = Results(trace).get(LineCosts).table
    places = [(files[file], int(line)) for file, line in zip(table["source_file"], table["line"], strict=True)]
    found_ns = dict(zip(places, table["device_ns"].tolist(), strict=True))

    right_ns = sum(min(spent, true_ns[place]) for place, spent in found_ns.items())
    total_ns = int(trace.device_events["duration_ns"].sum())
    assert len(true_ns) > 40
    assert right_ns >= 0.95 * sum(true_ns.values())
    assert sum(true_ns.values()) >= linked_share * total_ns
    assert sum(found_ns.values()) - right_ns <= 0.05 * total_ns
