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

from gpuprof.capture.base.main_thread_budget import BudgetPart, MainThreadBudget
from gpuprof.capture.base.signal import WatchedCell
from gpuprof.capture.memory import running_frames
from gpuprof.capture.memory.running_frames import Frame, RunningFrames
from gpuprof.capture.memory.tensor_references import HeldTensorsList, at_peak, held_tensors
from gpuprof.model.memory import UNNAMED, HeldTensors
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


def looked(namespace: dict[str, Any], weigh: Any, *ticks: int, budget: MainThreadBudget | None = None) -> RunningFrames:
    frames = RunningFrames(namespace, weigh, budget or MainThreadBudget())
    for each in ticks:
        namespace["collect"](torch.nn.Linear(4, 4, bias=False), functools.partial(frames.tick, each), 0)
    return frames


def rows_of(monkeypatch: pytest.MonkeyPatch, *looks: tuple[float, dict[str, int]]) -> tuple[int, dict[str, int]]:
    """How often it looked at these levels (GiB), where it finds such bytes by name, and what it has found."""
    monkeypatch.setattr(BudgetPart, "is_left", True)
    left = [names for _, names in looks]

    def weigh(frames: list[Frame]) -> tuple[HeldTensors, ...]:
        assert [each.function for each in frames] == ["collect"]
        names = left.pop(0).items()
        return tuple(HeldTensors(name=each, kind="frame", device="cpu", bytes=size, tensors=1) for each, size in names)

    frames = looked(notebook(), weigh, GIB, *(int(level * GIB) for level, _ in looks))
    return len(looks) - len(left), {each.name: each.bytes for each in frames.found}


def test_each_look_needs_more_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BudgetPart, "is_little_used", False)
    looks = [(1.2, {"a": 1}), (1.3, {"a": 2}), (1.4, {"a": 3}), (1.0, {"a": 4})]
    assert rows_of(monkeypatch, *looks) == (2, {"a": 2})


def test_it_needs_less_where_looks_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BudgetPart, "is_little_used", True)
    looks = [(1.2, {"a": 1}), (1.22, {"a": 2}), (1.3, {"a": 3}), (1.4, {"a": 4})]
    assert rows_of(monkeypatch, *looks) == (3, {"a": 3})


def test_a_name_counts_when_it_held_most_near_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [(1.2, {"early": 9, "a": 1}), (2.0, {"b": 5, "a": 2}), (2.4, {"a": 7, "b": 3})]
    assert rows_of(monkeypatch, *looks) == (3, {"a": 7, "b": 5})


def test_an_import_of_the_compiler_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch._dynamo", types.ModuleType("torch._dynamo"))
    assert rows_of(monkeypatch, (1.2, {"a": 1})) == (1, {"a": 1})


GLOBAL = """
import torch
kept = {"a": [torch.zeros(1 << 20) for _ in range(20)]}
def work(watch):
    watch()
    for _ in range(100):
        pass
work(watch)
kept.clear()
"""


def test_a_name_that_is_emptied_before_the_end() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    held = HeldTensorsList(WatchedCell(namespace, GLOBAL))
    held.tick(GIB)
    namespace["watch"] = lambda: held.tick(2 * GIB)
    exec(compile(GLOBAL, "cell", "exec"), namespace)
    held.end()
    (row,) = (each for each in held.facts() or () if each.kind == "peak")
    assert (row.name, row.bytes, row.tensors, row.used) == ("kept", 80 * MIB, 20, True)
    assert [(each.kind, each.items, each.step) for each in row.levels] == [
        ("dict", 1, "[…]"),
        ("list", 20, "[…]"),
        ("Tensor", 0, ""),
    ]


def test_only_names_that_gave_much_back() -> None:
    def row(name: str, mib: int, kind: str = "global") -> HeldTensors:
        return HeldTensors(name=name, kind=kind, device="cpu", bytes=mib * MIB, tensors=1)

    then = [row("gone", 40), row("small", 31), row("most", 100), row("left", 100), row("v in f()", 2, "frame")]
    end = [row("most", 60), row("left", 80), row("other", 500)]
    assert [(each.name, each.kind) for each in at_peak(then, end)] == [
        ("gone", "peak"),
        ("most", "peak"),
        ("v in f()", "frame"),
    ]


FILLING = """
import torch
def part(at, watch):
    whole = torch.zeros(1 << 20)
    if at == 30:
        watch()
        for _ in range(100):
            pass
    return whole[:1]
def embed(watch):
    parts = [part(at, watch) for at in range(40)]
    return len(parts)
"""


def test_a_list_that_is_being_filled() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(FILLING, "cell", "exec"), namespace)
    held = HeldTensorsList(WatchedCell(namespace, FILLING))
    held.tick(GIB)
    namespace["embed"](lambda: held.tick(2 * GIB))
    held.end()
    (row,) = (each for each in held.facts() or () if each.name == UNNAMED)
    assert (row.kind, row.tensors, row.bytes, row.filling[0]) == ("frame", 30, 120 * MIB, ("embed", 11))
    assert row.unseen_bytes == 120 * MIB - 30 * 4


def test_a_fault_of_the_users_objects_ends_it() -> None:
    calls: list[int] = []

    def weigh(frames: list[Frame]) -> tuple[HeldTensors, ...]:
        calls.append(1)
        raise ValueError

    frames = looked(notebook(), weigh, GIB, 2 * GIB, 4 * GIB)
    assert frames.found == () and len(calls) == 1


def test_other_looks_leave_it_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def weigh(frames: list[Frame]) -> tuple[HeldTensors, ...]:
        calls.append(1)
        return ()

    monkeypatch.setattr(running_frames, "_BEYOND_NS", -1)
    budget = MainThreadBudget()
    looked(notebook(), weigh, GIB, 2 * GIB, budget=budget)
    assert len(calls) == 1
    budget.part(1).spend(10**12)
    looked(notebook(), weigh, GIB, 2 * GIB, budget=budget)
    assert len(calls) == 1


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
