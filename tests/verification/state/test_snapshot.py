"""Whatever a cell does to what it reaches is put back, in place."""

from __future__ import annotations

import io
import itertools
import os
import random
from array import array
from collections import OrderedDict, defaultdict, deque
from typing import Any

import comm
import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from gpuprof.errors import VerificationError
from gpuprof.verification.cells.quiet import quiet
from gpuprof.verification.state import snapshot as snapshots
from gpuprof.verification.state.object_states import ArrayState
from gpuprof.verification.state.snapshot import Snapshot


def taken(**roots: Any) -> Snapshot:
    return Snapshot(roots.items())


def training() -> dict[str, Any]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(), torch.nn.Linear(8, 1)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    return {
        "model": model,
        "optimizer": optimizer,
        "schedule": torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.9**step),
        "loader": DataLoader(
            TensorDataset(torch.randn(32, 4)), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3)
        ),
        "losses": [],
    }


def train(state: dict[str, Any], times: int = 1) -> None:
    for _ in range(times):
        for (x,) in state["loader"]:
            state["optimizer"].zero_grad()
            loss = state["model"](x).square().mean()
            loss.backward()
            state["optimizer"].step()
            state["losses"].append(loss.item())
        state["schedule"].step()


def test_an_epoch_of_training_leaves_no_trace_and_repeats_bit_by_bit() -> None:
    state = training()
    train(state)  # the optimizer has a state, the gradients are there
    model, optimizer = state["model"], state["optimizer"]
    weights, seen = [p.detach().clone() for p in model.parameters()], list(state["losses"])
    gradients = [p.grad for p in model.parameters()]
    numbers, versions = [g.clone() for g in gradients], [p._version for p in model.parameters()]
    momenta = [s["exp_avg"] for s in optimizer.state.values()]
    rates, statistics = optimizer.param_groups[0]["lr"], model[1].running_mean.clone()
    before = taken(**state)
    runs = []
    for _ in range(2):
        before.restore()
        train(state, times=2)
        model.eval()
        runs.append(state["losses"][len(seen) :])
    assert runs[0] == runs[1] and optimizer.param_groups[0]["lr"] != rates
    before.finish()
    assert state["losses"] == seen and model.training and optimizer.param_groups[0]["lr"] == rates
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    assert [p.grad for p in model.parameters()] == gradients
    assert all(torch.equal(a, b) for a, b in zip(numbers, gradients, strict=True))
    assert [p._version for p in model.parameters()] == versions and torch.equal(model[1].running_mean, statistics)
    assert all(s["exp_avg"] is kept for s, kept in zip(optimizer.state.values(), momenta, strict=True))


def test_an_optimizer_that_never_stepped_is_as_empty_as_before() -> None:
    state = training()
    before = taken(**state)
    train(state)
    before.finish()
    assert not state["optimizer"].state and all(p.grad is None for p in state["model"].parameters())


class Odd:
    count = 0
    __slots__ = ("__hidden", "x")

    def __init__(self) -> None:
        self.x, self.__hidden = 1, [1]

    def change(self) -> None:
        Odd.count += 1
        self.__hidden.append(2)
        del self.x

    @property
    def hidden(self) -> list[int]:
        return self.__hidden


def test_containers_classes_and_slots_are_put_back_in_place() -> None:
    inner = [1, 2]
    values = {
        "list": [inner, inner],
        "dict": {"b": 1, "a": {"deep": inner}},
        "ordered": OrderedDict(a=1, b=2),
        "default": defaultdict(list, a=[1]),
        "set": {1, 2},
        "deque": deque([1, 2], maxlen=2),
        "bytes": bytearray(b"abc"),
        "typed": array("d", [1.0]),
        "shaped": np.arange(6).reshape(2, 3),
        "array": np.arange(3.0),
        "objects": np.array([inner, None], dtype=object),
        "frame": pd.DataFrame({"a": [1, 2]}),
        "buffer": io.StringIO("text"),
        "odd": Odd(),
    }
    before = taken(**values)
    inner += [3]
    values["dict"].pop("b")
    values["ordered"].move_to_end("a")
    values["default"]["new"].append(1)
    values["set"].add(3)
    values["deque"].append(9)
    values["bytes"].clear()
    values["typed"].append(2.0)
    values["shaped"].shape = (6,)
    values["array"] *= 2
    values["objects"][1] = 5
    values["frame"].loc[2] = 7
    values["buffer"].write("TEXT")
    values["odd"].change()
    before.finish()
    assert values["list"] == [[1, 2], [1, 2]] and values["list"][0] is values["list"][1] is inner
    assert list(values["dict"].items()) == [("b", 1), ("a", {"deep": inner})]
    assert list(values["ordered"]) == ["a", "b"] and values["default"] == {"a": [1]} and values["set"] == {1, 2}
    assert list(values["deque"]) == [1, 2] and values["bytes"] == b"abc"
    assert values["typed"].tolist() == [1.0] and values["shaped"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert values["array"].tolist() == [0.0, 1.0, 2.0] and values["objects"][1] is None
    assert values["frame"]["a"].tolist() == [1, 2] and values["buffer"].getvalue() == "text"
    assert values["odd"].x == 1 and values["odd"].hidden == [1] and Odd.count == 0


def test_hooks_of_tensors_do_not_pile_up() -> None:
    calls: list[str] = []
    first, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    handle = first.register_hook(lambda gradient: calls.append("users"))
    before = taken(first=first, other=other)
    for _ in range(2):
        before.restore()
        for each in (first, other):
            each.register_hook(lambda gradient: gradient * 0)
            each.register_post_accumulate_grad_hook(lambda parameter: calls.append("cells"))
        (first + other).sum().backward()
    before.finish()
    (first + other).sum().backward()
    assert calls == ["users"] and first.grad.tolist() == other.grad.tolist() == [1.0, 1.0]
    assert other._backward_hooks is None
    handle.remove()
    first.sum().backward()
    assert calls == ["users"]


def test_what_resists_keeps_nothing_else_from_coming_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = taken(numbers=np.ones(2))
    monkeypatch.setattr(ArrayState, "restore", lambda state: 1 / 0)
    state = torch.get_rng_state()
    torch.rand(1)
    with pytest.raises(VerificationError, match=r"1 object could not be put back .*ZeroDivisionError"):
        before.finish()
    assert torch.equal(torch.get_rng_state(), state)


def test_functions_lead_to_what_they_use() -> None:
    counted = 0
    numbers = [1]

    def step() -> None:
        nonlocal counted
        counted += 1
        numbers.append(counted)
        CHANGED.append(1)

    before = taken(step=step)
    step()
    before.finish()
    assert counted == 0 and numbers == [1] and CHANGED == []


CHANGED: list[int] = []


def test_random_numbers_and_switches_of_the_process_are_put_back() -> None:
    own = np.random.default_rng(1)
    before = taken(own=own)
    drawn = []
    for _ in range(2):
        before.restore()
        drawn.append((random.random(), np.random.rand(), torch.rand(1).item(), own.random()))
        torch.set_float32_matmul_precision("high")
        torch.set_grad_enabled(False)
        torch.autograd.set_detect_anomaly(True, check_nan=False)
        torch.set_flush_denormal(True)
        os.environ["GPUPROF_TEST_SNAPSHOT"] = "1"
    assert drawn[0] == drawn[1]
    before.finish()
    assert torch.get_float32_matmul_precision() == "highest" and torch.is_grad_enabled()
    assert not torch.is_anomaly_enabled() and "GPUPROF_TEST_SNAPSHOT" not in os.environ
    assert (torch.full((5,), 1e-39) * 1).any()


def test_a_graph_of_before_can_still_be_used() -> None:
    weight = torch.ones(3, requires_grad=True)
    loss = weight.square().sum()
    before = taken(weight=weight)
    with torch.no_grad():
        weight.mul_(3)
    before.finish()
    loss.backward()  # raises where the version of `weight` has moved on
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_views_share_one_copy_and_replaced_data_comes_back() -> None:
    base = torch.zeros(100)
    parameter = torch.nn.Parameter(torch.ones(2))
    before = taken(a=base[:50], b=base[50:], parameter=parameter)
    assert sum(each.bytes for each in before.heap.large) == 400 + 8
    address = parameter.data_ptr()
    base += 1
    parameter.data = torch.zeros(5)
    before.finish()
    assert not base.any() and parameter.tolist() == [1.0, 1.0] and parameter.data_ptr() == address


def test_live_workers_of_a_loader_stay_the_users() -> None:
    loader = DataLoader(TensorDataset(torch.arange(8.0)), num_workers=1, persistent_workers=True)
    first = [x.item() for (x,) in loader]
    live = loader._iterator
    before = taken(loader=loader)
    before.restore()
    assert [x.item() for (x,) in loader] == first and loader._iterator is not live
    before.finish()
    assert loader._iterator is live
    assert [x.item() for (x,) in loader] == first


class Streams:
    def __init__(self, path: Any) -> None:
        self.handle = path.open()


def test_what_cannot_be_put_back_is_refused_by_the_variables_name(tmp_path: Any) -> None:
    path = tmp_path / "data.txt"
    path.write_text("x")
    with pytest.raises(VerificationError, match=r"`batches` cannot .* batches is an iterator.*gpuprof.verify\(a, b\)"):
        taken(batches=iter(DataLoader(TensorDataset(torch.ones(2)))))
    with pytest.raises(VerificationError, match=r"`numbers` .* a generator"):
        taken(numbers=(n for n in range(3)))
    with pytest.raises(VerificationError, match=r"`odd` .* odd\.x is an iterator"):
        odd = Odd()
        odd.x = itertools.count()
        taken(odd=odd)
    deep: list[Any] = [itertools.count()]
    for _ in range(50):
        deep = [deep]
    with pytest.raises(VerificationError, match=r"`deep` cannot .*: deep[\[\]0]+…[\[\]0]+ is an iterator"):
        taken(deep=deep)
    source = Streams(path)
    with pytest.raises(VerificationError, match=r"`data` .* data\[0\]\.handle is an open file"):
        taken(data=[source])
    source.handle.close()
    taken(data=[source])


def test_widgets_of_a_cell_are_unknown_to_the_front_end_and_go() -> None:
    widgets = pytest.importorskip("ipywidgets")
    users = widgets.IntProgress()
    before = taken(users=users)
    with quiet():
        bar = widgets.IntProgress()
    assert type(bar.comm) is comm.DummyComm and comm.create_comm is not comm.DummyComm
    before.restore()
    assert bar.comm is None and users.comm is not None


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_HOST_SHARE", 0.0)
    with pytest.raises(VerificationError, match=r"takes 4\.00 KiB, and .* free"):
        taken(x=torch.zeros(1024))
