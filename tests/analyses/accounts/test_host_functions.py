"""Which functions keep the device waiting for long."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.host_functions import HostFunctions, is_own_code
from gpuprof.analyses.basics.result import Results
from tests.analyses.accounts.cells import line
from tests.support.trace_builder import TraceBuilder

RESIZE = "skimage/transform.py(9): resize"


def inputs(builder: TraceBuilder, *, until_us: float = 10_000) -> HostFunctions:
    """The device works for 1 ms, is idle until then, and works again."""
    builder.operator("aten::first", 0, 5).kernel("a", 6, 994, launch_at_us=0)
    builder.operator("aten::last", until_us, 5).kernel("b", until_us + 6, 994, launch_at_us=until_us)
    return Results(builder.build()).get(HostFunctions)


def test_own_time_of_functions_outside_torch_counts() -> None:
    builder = TraceBuilder().frame("infer.py(3): main", 0, 10_000).frame(RESIZE, 2_000, 6_000)
    builder.frame("torch/nn/functional.py(4): pad", 3_000, 1_000)
    found = inputs(builder)
    assert found.functions == ((RESIZE, None, 5_000_000), ("infer.py(3): main", None, 3_000_000))
    assert found.total_ns == 8_000_000 and found.within.total_ns == 9_000_000


@pytest.mark.parametrize(
    "name",
    [
        "torch/nn/modules/module.py(1532): _call_impl",
        "/opt/lib/python3.11/site-packages/torch/_ops.py(7): __call__",
        "Tensor.to",
        "nn.Module: Linear_3",
        "<frozen importlib._bootstrap>(1176): _find_and_load",
        "threading.py(604): wait",
    ],
)
def test_torchs_own_functions_imports_and_waits_do_not(name: str) -> None:
    found = inputs(TraceBuilder().frame(name, 1_000, 9_000))
    assert found.functions == () and found.total_ns == 0 and not len(found.within.starts)


def test_pauses_of_the_pace_of_launching_do_not() -> None:
    assert inputs(TraceBuilder().frame(RESIZE, 1_000, 900), until_us=1_900).functions == ()


def test_time_in_a_dataloader_does_not() -> None:
    assert inputs(TraceBuilder().frame(RESIZE, 1_000, 9_000).data_wait(900, 9_100)).functions == ()


def test_without_frames_sampled_stacks_tell() -> None:
    resize = ("<frozen skimage>", "resize", 3)
    found = inputs(TraceBuilder().stack(0, 6_000, line(7), resize).stack(6_000, 5_000, line(9)))
    (first, at, spent), (own, own_line, _) = found.functions
    assert first.endswith("resize") and (at, spent) == (7, 5_000_000)
    assert is_own_code(own) and own_line == 9


def test_without_a_device_there_are_none() -> None:
    found = Results(TraceBuilder().operator("aten::mm", 0, 10).frame(RESIZE, 0, 10).build()).get(HostFunctions)
    assert found.functions == ()


def test_time_inside_an_operator_is_no_function_of_the_users() -> None:
    """GIVEN an attention whose first call loads cuDNN: samples show the line that calls it, and nothing below."""
    builder = TraceBuilder().operator("aten::_cudnn_attention_forward", 1_200, 7_800)
    found = inputs(builder.stack(0, 9_000, line(30)).stack(9_000, 2_000, line(31)))
    assert [(at, spent) for _, at, spent in found.functions] == [(31, 1_000_000), (30, 200_000)]
