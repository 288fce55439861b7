"""Marks of module calls: exact, removed at the end, and without effect on the program."""

from __future__ import annotations

import gc
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from gpuprof.capture.modules import module_watch
from gpuprof.capture.modules.call_swap import has_own_call
from gpuprof.capture.modules.module_watch import ModuleWatch
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_trace
from gpuprof.model.marked_modules import MarkedModules
from gpuprof.model.table import Table

PLAIN = torch.nn.Module.__dict__["_wrapped_call_impl"].__code__


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.act = torch.nn.ReLU()

    def forward(self, x: Any) -> Any:
        return self.act(self.fc(x))


class Net(torch.nn.Module):
    def __init__(self, blocks: int = 2) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Block() for _ in range(blocks))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class Failing(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        raise ValueError("in forward")


@pytest.fixture
def watch() -> Iterator[ModuleWatch]:
    gc.collect()  # a class with a call of its own, of a test before, keeps a watch from marking where code was compiled
    made = ModuleWatch()
    made.install()
    yield made
    made.remove()
    assert torch.nn.Module.__dict__["_wrapped_call_impl"].__code__ is PLAIN


def called(watch: ModuleWatch) -> list[tuple[str, ...]]:
    """The paths of every call, in order of start."""
    found, table = watch.finish()
    return paths(found, table)


def paths(found: MarkedModules | None, table: Table) -> list[tuple[str, ...]]:
    assert found is not None
    return [found.modules[row].paths or (found.modules[row].kind,) for row in table["module"]]


def test_every_call_is_marked_with_its_path(watch: ModuleWatch) -> None:
    net = Net()
    net(torch.ones(1, 4))
    watch.begin()
    net(torch.ones(1, 4))
    watch.pause()
    net(torch.ones(1, 4))
    once = ["Net", *(f"Net.layers.{i}{part}" for i in range(2) for part in ("", ".fc", ".act"))]
    assert called(watch) == [(path,) for path in once]
    assert not watch.notes


def test_calls_lie_in_those_of_their_callers(watch: ModuleWatch) -> None:
    watch.begin()
    Net()(torch.ones(1, 4))
    _, table = watch.finish()
    starts, ends = table["start_ns"], table["start_ns"] + table["duration_ns"]
    assert (starts[1:] >= starts[0]).all() and (ends[1:] <= ends[0]).all()
    assert set(table["tid"]) == {threading.get_native_id()}


def test_hooks_of_the_user_stay_and_run(watch: ModuleWatch) -> None:
    net, seen = Net(), []
    net.layers[0].register_forward_pre_hook(lambda module, args: seen.append("pre"))
    net.register_forward_hook(lambda module, args, output: seen.append("post"))
    before = dict(net._forward_hooks)
    watch.begin()
    net(torch.ones(1, 4))
    watch.finish()
    assert seen == ["pre", "post"] and dict(net._forward_hooks) == before
    assert not torch.nn.modules.module._global_forward_hooks


def test_an_exception_passes_and_ends_the_calls(watch: ModuleWatch) -> None:
    model = torch.nn.Sequential(torch.nn.Identity(), Failing())
    watch.begin()
    with pytest.raises(ValueError, match="in forward") as caught:
        model(1)
    torch.nn.Identity()(1)
    _, table = watch.finish()
    ends = table["start_ns"] + table["duration_ns"]
    assert len(table) == 4 and (ends[:3] <= table["start_ns"][3]).all()
    shown = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "return self._call_impl(*args, **kwargs)" in shown and "call_swap" not in shown and "log(" not in shown


def test_a_shared_module_has_all_its_paths(watch: ModuleWatch) -> None:
    model = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2)})
    model["b"] = torch.nn.Sequential(model["a"])
    whole = torch.nn.Sequential(model["b"], model["a"])
    watch.begin()
    whole(torch.ones(1, 2))
    found = called(watch)
    assert found[0] == ("Sequential",) and found[1] == ("Sequential.0",)
    assert found[2] == found[3] == ("Sequential.0.0", "Sequential.1")


def test_a_module_that_is_gone_goes_by_its_class_and_is_not_kept(watch: ModuleWatch) -> None:
    def inside() -> None:
        Block()(torch.ones(1, 4))

    watch.begin()
    for _ in range(3):
        inside()
    found, table = watch.finish()
    assert found is not None and len(table) == 9
    assert sorted(each.kind for each in found.modules) == ["Block", "Linear", "ReLU"]
    assert all(not each.paths for each in found.modules)


def test_two_roots_of_one_class_have_two_names(watch: ModuleWatch) -> None:
    one, two = Block(), Block()
    watch.begin()
    one(torch.ones(1, 4)), two(torch.ones(1, 4))
    assert called(watch)[::3] == [("Block",), ("Block #2",)]


def test_a_part_that_is_called_alone_hangs_in_its_model(watch: ModuleWatch) -> None:
    net = Net()
    watch.begin()
    net.layers[1](torch.ones(1, 4))
    net(torch.ones(1, 4))
    assert called(watch)[0] == ("Net.layers.1",)


def test_other_threads_have_logs_of_their_own(watch: ModuleWatch) -> None:
    net = Net()
    watch.begin()
    threads = [threading.Thread(target=lambda: [net(torch.ones(1, 4)) for _ in range(20)]) for _ in range(2)]
    for thread in threads:  # one after the other: the second may be given the identity of the first
        thread.start()
        thread.join()
    net(torch.ones(1, 4))
    found, table = watch.finish()
    assert len(table) == 41 * 7
    assert set(table["tid"]) == {threading.get_native_id(), *(thread.native_id for thread in threads)}
    assert paths(found, table).count(("Net",)) == 41


def test_a_call_under_way_ends_with_the_marks(watch: ModuleWatch) -> None:
    class Pausing(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            watch.pause()
            return x

    watch.begin()
    Pausing()(1)
    found, table = watch.finish()
    assert found is not None
    assert table["start_ns"][0] + table["duration_ns"][0] == found.end_ns


def test_marks_begin_anew(watch: ModuleWatch) -> None:
    net = Net()
    watch.begin()
    net(torch.ones(1, 4))
    watch.pause()
    watch.begin()
    net.layers[0](torch.ones(1, 4))
    assert called(watch) == [("Block",), ("Block.fc",), ("Block.act",)]


def test_too_costly_marks_stop_between_passes_and_go_on_later(watch: ModuleWatch) -> None:
    net = Net()
    watch.begin()
    net(torch.ones(1, 4))
    watch._call_ns = 1e12
    watch.tick()
    net(torch.ones(1, 4))
    assert torch.nn.Module.__dict__["_wrapped_call_impl"].__code__ is PLAIN
    net(torch.ones(1, 4))
    watch._call_ns = 0.0
    watch.tick()
    net.layers[0](torch.ones(1, 4))  # a call of what is no root while marking is to go on: left out
    net(torch.ones(1, 4))
    found, table = watch.finish()
    assert found is not None and len(found.gaps_ns) == 1
    (begin, end), starts = found.gaps_ns[0], table["start_ns"]
    assert len(table) == 14 and begin < end and not ((starts > begin) & (starts < end)).any()


def test_a_pass_under_way_is_marked_to_its_end(watch: ModuleWatch) -> None:
    net = Net()
    net.layers[0].register_forward_hook(lambda *_: watch.tick())
    watch.begin()
    watch._call_ns = 1e12
    net(torch.ones(1, 4))
    net(torch.ones(1, 4))
    assert len(watch.finish()[1]) == 7


def test_marks_are_bounded(watch: ModuleWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_watch, "MOST_CALLS", 5)
    net = Net()
    watch.begin()
    net(torch.ones(1, 4))
    watch.tick()
    net(torch.ones(1, 4))
    watch.tick()
    found, table = watch.finish()
    assert found is not None and len(table) == 7
    assert found.gaps_ns[0][1] == found.end_ns


def test_compiled_code_that_is_bound_to_torchs_own_call_is_left_alone(
    watch: ModuleWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_watch, "has_compiled", lambda: True)
    monkeypatch.setattr(module_watch, "has_own_call", lambda: False)
    watch.begin()
    torch.nn.Identity()(1)
    assert watch.finish()[0] is not None and not watch.notes
    monkeypatch.setattr(module_watch, "has_own_call", lambda: True)
    watch.begin()
    torch.nn.Identity()(1)
    assert watch.finish()[0] is None and len(watch.notes) == 1
    monkeypatch.setattr(module_watch, "has_compiled", lambda: False)
    watch.begin()
    torch.nn.Identity()(1)
    monkeypatch.setattr(module_watch, "has_compiled", lambda: True)
    watch.tick()
    torch.nn.Identity()(1)
    assert len(watch.finish()[1]) == 1, watch.notes


def test_a_class_with_a_call_of_its_own_is_seen() -> None:
    assert not [each for each in type.__subclasses__(Block) if "__call__" in vars(each)]

    class Calling(Block):
        def __call__(self, x: Any) -> Any:
            return super().__call__(x)

    assert has_own_call() and Calling()(torch.ones(1, 4)).shape == (1, 4)


def test_a_torch_that_calls_modules_otherwise_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.Module, "__call__", lambda self, *args: self.forward(*args))
    watch = ModuleWatch()
    watch.install()
    watch.begin()
    torch.nn.Identity()(1)
    watch.tick()
    assert watch.finish()[0] is None
    assert len(watch.notes) == 1 and "does not know" in watch.notes[0]


def test_a_forked_child_marks_nothing(watch: ModuleWatch) -> None:
    """As in a DataLoader worker whose transforms are modules."""
    watch.begin()
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.nn.Module.__dict__["_wrapped_call_impl"].__code__ is PLAIN else 1)
    assert os.waitpid(child, 0)[1] == 0
    torch.nn.Identity()(1)
    assert len(watch.finish()[1]) == 1, watch.notes


def test_functional_calls_and_data_parallel_modules_work_as_they_did(watch: ModuleWatch, tmp_path: Path) -> None:
    net = Net()
    given = {name: torch.zeros_like(each) for name, each in net.named_parameters()}
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        found = _called_in_parallel(watch, net, given)
        gc.collect()  # a reducer that outlives its group joins the group's threads while it holds the interpreter
    finally:
        torch.distributed.destroy_process_group()
    assert found[0] == ("DistributedDataParallel.module",) and found[7] == ("DistributedDataParallel",)
    assert found[8:10] == [("DistributedDataParallel.module",), ("DistributedDataParallel.module.layers.0",)]
    assert all(each.grad is not None for each in net.parameters())


def _called_in_parallel(watch: ModuleWatch, net: Net, given: dict[str, torch.Tensor]) -> list[tuple[str, ...]]:
    parallel = torch.nn.parallel.DistributedDataParallel(net)
    watch.begin()
    assert torch.func.functional_call(net, given, (torch.ones(1, 4),)).sum() == 0
    parallel(torch.ones(1, 4)).sum().backward()
    return called(watch)


def test_a_recomputed_forward_pass_is_marked_again(watch: ModuleWatch) -> None:
    net = Net()
    watch.begin()
    checkpoint(net, torch.ones(1, 4, requires_grad=True), use_reentrant=False).sum().backward()
    assert called(watch).count(("Net.layers.1.fc",)) == 2


def test_the_cost_is_told(watch: ModuleWatch) -> None:
    watch.begin()
    Net()(torch.ones(1, 4))
    time.sleep(0.01)
    found, _ = watch.finish()
    assert found is not None and found.cost_share is not None and 0 <= found.cost_share < 0.5


def test_a_session_records_saves_and_restores(new_session: Callable[..., Session]) -> None:
    """GIVEN a session with two steps of a model: its operators lie in the calls of the modules that made them."""
    net = Net()
    session = new_session()
    session.start()
    for _ in range(2):
        net(torch.ones(2, 4)).sum().backward()
    captured = session.stop()
    assert torch.nn.Module.__dict__["_wrapped_call_impl"].__code__ is PLAIN
    assert captured.folder is not None
    trace = load_trace(captured.folder)
    marked, calls = trace.context.modules, trace.module_calls
    assert marked is not None and len(calls) == 14
    linear = [row for row in range(len(calls)) if marked.modules[calls["module"][row]].kind == "Linear"]
    starts, ends = calls["start_ns"][linear], calls["start_ns"][linear] + calls["duration_ns"][linear]
    operators = trace.operators.take(trace.name_mask(trace.operators, "aten::linear"))
    ahead = trace.context.sampling.get("clock_offset_ns") or 0
    assert len(operators) == 4
    for start, duration in zip(operators["start_ns"] - ahead, operators["duration_ns"], strict=True):
        assert ((starts <= start) & (start + duration <= ends)).any()


def test_a_cell_that_raises_in_a_module_leaves_nothing_behind(new_session: Callable[..., Session]) -> None:
    session = new_session()
    session.start()
    with pytest.raises(ValueError, match="in forward") as caught:
        Failing()(torch.ones(1))
    session.stop(caught.value)
    assert torch.nn.Module.__dict__["_wrapped_call_impl"].__code__ is PLAIN
