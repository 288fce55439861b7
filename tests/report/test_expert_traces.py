"""What an expert says of 18 public recordings: what must be found in them, what must not, what the verdict has to name.

The reports of these recordings were read while the rules were written: these are regression tests, no evidence.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from gpuprof.ingest.load import load_trace
from gpuprof.report import Report
from tests.support.shared import shared_file


class Said(NamedTuple):
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()


EXPERT = {
    "a100-ddp-host-bound": Said(
        ("launch_bound",), ("input_stall", "sync_in_step"), ("76 % of the steps’ time is lost",)
    ),
    "a100-particle-batch16": Said(("launch_bound",), ("input_stall",), ("launches too slowly",)),
    # 50 ms of the idle time around its reads are a pause that the simulation has without them as well
    "a100-sam-later": Said(("sync_in_step",), ("input_stall", "launch_bound"), ("leaves it idle for 6.4 %",)),
    "a100-sam-latest": Said(("unfused_pointwise",), ("input_stall", "launch_bound"), ("elementwise",)),
    "a100-sam-loop-0": Said(
        ("loop_on_host", "fp32_matmul"),
        ("sync_in_step", "pageable_h2d_copy", "launch_bound", "input_stall"),
        ("A Python loop waits for the device in each iteration",),
    ),
    "gp100-gpu-user-annotation": Said(("launch_bound",), ("input_stall", "exposed_collective")),
    "h100-timesformer-video": Said(
        ("eager_attention", "cpu_preprocessing"),
        ("launch_bound", "input_stall"),
        ("while the CPU runs transformers/image_transforms.py(390): normalize",),
    ),
    "mi210-gpu-only": Said(
        (), ("launch_bound", "input_stall", "pageable_h2d_copy"), ("computes for 89 %", "idle until the next launch")
    ),
    "mi300x-flux-iteration": Said((), ("sync_in_step",), ("computes for 77 %", "No rule applies")),
    "mi300x-sd35-compiled-no-graphs": Said(
        ("launch_bound",), ("sync_in_step", "input_stall"), ("launches too slowly",)
    ),
    "mi300x-sglang-decode": Said(
        (), (), ("The host is in hipMemcpyWithStream meanwhile.", "computes for 92 % of the other 10.6 ms")
    ),
    "mi300x-vllm-graph-capture": Said((), ("memory_near_limit", "launch_bound"), ("CUDA graphs are captured here",)),
    "mi300x-vllm-piecewise": Said((), ("launch_bound", "input_stall")),
    "mtia-inference": Said(
        (),
        ("host_cpu_bound", "python_loop_over_batch", "explicit_synchronize", "launch_bound"),
        ("The device computes for 90 %",),
    ),
    "rtxa4000-shift-vit-cold-start": Said(
        ("cold_start_dominates",), ("input_stall",), ("Loading libraries and kernels takes 76 %",)
    ),
    "v100-alltoall-exposed": Said(
        ("exposed_collective", "copies_within_device"),
        ("launch_bound", "input_stall", "pageable_h2d_copy"),
        ("Copies within the device take 12 %",),
    ),
    "v100-resnet50-w0-b": Said(("input_stall",), ("launch_bound",), ("waits for data 22 %",)),
    "v100-resnet50-w4-b": Said(("unfused_optimizer",), ("input_stall",), ("optimizer (SGD)",)),
}


@pytest.mark.recordings
@pytest.mark.parametrize("name", EXPERT)
def test_the_report_says_what_the_expert_says(name: str) -> None:
    report, said = Report.of(load_trace(shared_file(f"expert/{name}.json.gz"))), EXPERT[name]
    found = {finding.rule for finding in report.findings}
    assert set(said.must) <= found
    assert not found & set(said.must_not)
    for words in said.verdict:
        assert words in str(report.verdict)
    saved, covered = (re.search(each, str(report.verdict)) for each in (r"([\d.]+)× as fast", r"cover (\d+)"))
    if saved and covered:
        assert int(covered[1]) / 100 >= 1 - 1 / float(saved[1]) - 0.01
