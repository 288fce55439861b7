"""What variables of running functions hold while the process is large, and that looking leaves them as they are."""

from __future__ import annotations

import functools
import gc
import sys
import time
import types
import weakref
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.capture.base.signal import WatchedCell
from gpuprof.capture.memory import running_frames
from gpuprof.capture.memory.running_frames import Frame, RunningFrames
from gpuprof.capture.memory.tensor_references import HeldTensorsList, held_tensors
from gpuprof.model.memory import HeldTensors
from tests.support.torch_versions import TELLS_WHAT_GRAPHS_KEEP

MIB = 1 << 20
GIB = 1 << 30
CODE = """
import time, torch

def collect(net, watch, number):
    outputs = []
    for _ in range(number):
        outputs.append(net(torch.randn(64, 512)))
    watch()
    for _ in range(100):
        time.sleep(0.001)
    return len(outputs)
"""


ARRAYS = """
import numpy as np

def report(pred, watch):
    p = np.eye(10)[pred]
    watch()
    both = (p * p).sum(0)
    return both
"""


def notebook() -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(CODE, "cell", "exec"), namespace)
    return namespace


@pytest.mark.skipif(not TELLS_WHAT_GRAPHS_KEEP, reason="torch does not tell what graphs keep")
def test_what_a_running_function_holds_with_its_graphs() -> None:
    namespace = notebook()
    held = HeldTensorsList(WatchedCell(namespace, CODE))
    held.tick(GIB)
    namespace["collect"](torch.nn.Linear(512, 512), lambda: held.tick(2 * GIB), 20)
    held.end()
    rows = held.facts()
    assert rows is not None
    (row,) = (each for each in rows if each.name == "outputs in collect()")
    assert (row.kind, row.device, row.tensors, row.graphs) == ("frame", "cpu", 20, 20)
    # each result, and the random input that its graph keeps
    assert (row.bytes, row.graph_bytes) == (20 * 64 * 512 * 4, 20 * 64 * 512 * 4)
    assert row.at_ns is not None and abs(row.at_ns - time.time_ns()) < 60 * 10**9


def test_an_array_that_lasts_for_less_than_half_a_second() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(ARRAYS, "cell", "exec"), namespace)
    held = HeldTensorsList(WatchedCell(namespace, ARRAYS))
    held.tick(GIB)
    namespace["report"](np.random.default_rng(0).integers(0, 10, 600_000), lambda: held.tick(2 * GIB))
    held.end()
    (row,) = (each for each in held.facts() or () if each.name == "p in report()")
    assert (row.kind, row.arrays, row.one_hot, row.zeros_share) == ("frame", 1, True, 0.9)


def test_a_device_that_fills_up_counts_as_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = notebook()
    held, on_device = HeldTensorsList(WatchedCell(namespace, CODE)), {0: GIB}
    monkeypatch.setattr(held._allocated, "by_device", lambda: on_device)
    held.tick(GIB)

    def grow() -> None:
        on_device[0] = 2 * GIB
        held.tick(GIB)

    namespace["collect"](torch.nn.Linear(512, 512), grow, 20)
    held.end()
    assert "outputs in collect()" in [each.name for each in held.facts() or () if each.kind == "frame"]


@pytest.mark.parametrize(("ended", "bytes_now"), [(False, GIB + 50 * MIB), (True, 3 * GIB)])
def test_nothing_is_looked_at_where_memory_does_not_grow_or_the_cell_has_ended(ended: bool, bytes_now: int) -> None:
    namespace = notebook()
    held = HeldTensorsList(WatchedCell(namespace, CODE))
    held.tick(GIB)
    if ended:
        held.end()
    namespace["collect"](torch.nn.Linear(512, 512), lambda: held.tick(bytes_now), 20)
    assert [each for each in held.facts() or () if each.kind == "frame"] == []


def looked(namespace: dict[str, Any], weigh: Any, *ticks: int) -> RunningFrames:
    frames = RunningFrames(namespace, weigh)
    for each in ticks:
        namespace["collect"](torch.nn.Linear(4, 4, bias=False), functools.partial(frames.tick, each), 0)
    return frames


def test_the_last_look_counts_and_each_needs_more_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_frames, "_FREE_NS", 10**12)
    seen: list[list[str]] = []

    def weigh(frames: list[Frame]) -> tuple[HeldTensors, ...]:
        seen.append([each.function for each in frames])
        return (HeldTensors(name=f"{len(seen)}", kind="frame", device="cpu", bytes=1, tensors=1),)

    frames = looked(notebook(), weigh, GIB, int(1.2 * GIB), int(1.3 * GIB), int(1.4 * GIB), GIB)
    assert len(seen) == 2 and [each.name for each in frames.found] == ["2"]


def test_a_fault_of_the_users_objects_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def weigh(frames: list[Frame]) -> tuple[HeldTensors, ...]:
        calls.append(1)
        raise ValueError

    frames = looked(notebook(), weigh, GIB, 2 * GIB, 4 * GIB)
    assert frames.found == () and len(calls) == 1
    monkeypatch.setattr(running_frames, "_FREE_NS", -1)
    monkeypatch.setattr(running_frames, "_MOST_SHARE", 0)
    assert looked(notebook(), weigh, GIB, 2 * GIB).found == () and len(calls) == 1


def test_looking_keeps_nothing_alive() -> None:
    left: list[weakref.ref[Any]] = []
    namespace = notebook()

    def inside() -> bool:
        tensor = torch.zeros(MIB)
        left.append(weakref.ref(tensor))
        found = running_frames._variables(sys._getframe())
        assert found["tensor"] is tensor
        del found, tensor
        gc.collect()
        return left[0]() is None

    function = types.FunctionType(inside.__code__, {**namespace, **globals()}, "inside", None, inside.__closure__)
    assert function()


def test_names_claim_before_variables() -> None:
    kept = [torch.zeros(MIB)]
    rows = held_tensors({"kept": kept}, "kept", None, [Frame("f", {"mine": kept, "other": torch.zeros(MIB)})])
    assert {(each.name, each.kind) for each in rows} == {("kept", "global"), ("other in f()", "frame")}
