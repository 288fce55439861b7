"""The cell is the same with a look and without one, whatever it does."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from gpuprof.capture.look import mode_stack
from gpuprof.capture.look.close_look import CloseLook
from tests.capture.look.looks import RECENT, Found, look_at


@pytest.fixture(autouse=True)
def _nothing_is_compiled_yet() -> None:
    """With torch 2.4 nothing is looked at once something was compiled, here by another test."""
    if not RECENT:
        from torch._dynamo.utils import counters

        counters.clear()


def stack() -> list[Any]:
    return [torch._C._get_dispatch_stack_at(each) for each in range(torch._C._len_torch_dispatch_stack())]


def trained(looked_at: bool, *, backend: str | None = None) -> list[torch.Tensor]:
    """Weights, buffers, optimizer state and the state of the generator after some steps."""
    torch.manual_seed(3)
    net = nn.Sequential(
        *(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(24, 3))
    )
    model = net if backend is None else torch.compile(net, backend=backend)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.randn(8, 2, 8)), torch.randint(0, 3, (8,))).backward()
        optimizer.step()

    for _ in range(2):
        step()
    look = CloseLook(__file__, iterations=2, most_seconds=60)
    if looked_at:
        with look:
            for _ in range(2):
                step()
                look.iteration_ended()
        assert look.failure is None
        assert len(look.result()[0][0]) > 20
    else:
        step()
        step()
    step()
    state = [each for values in optimizer.state.values() for each in values.values()]
    return [*net.state_dict().values(), *state, torch.get_rng_state()]


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"] if RECENT else [None])
def test_weights_states_and_random_numbers_are_the_same(backend: str | None) -> None:
    plain, looked = (trained(looked_at, backend=backend) for looked_at in (False, True))
    assert len(plain) == len(looked)
    assert all(torch.equal(one, other) for one, other in zip(plain, looked, strict=True))


def _rank(rank: int, port: int, looked_at: bool, found: Any) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(rank)
    net = nn.Linear(4, 4)
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    look = CloseLook(__file__, iterations=2, most_seconds=60)
    for number in range(4):
        if looked_at and number == 1:
            assert look.start()
        optimizer.zero_grad()
        model(torch.randn(8, 4)).pow(2).sum().backward()
        optimizer.step()
        look.iteration_ended()
        if not look.active and look.installed:
            assert look.stop()
    assert look.failure is None
    count = len(look.result()[0][0]) if looked_at else 0
    found.put((rank, [each.tolist() for each in net.parameters()], count))
    torch.distributed.destroy_process_group()


def _ranks(port: int, looked_at: bool) -> dict[int, tuple[Any, int]]:
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    ranks = [context.Process(target=_rank, args=(rank, port, looked_at, found)) for rank in range(2)]
    for each in ranks:
        each.start()
    answers = [found.get(timeout=120) for _ in ranks]
    for each in ranks:
        each.join(60)
    return {rank: (weights, count) for rank, weights, count in answers}


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed")
def test_ranks_of_a_data_parallel_model_end_with_the_same_weights() -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    plain, looked = _ranks(port, False), _ranks(port, True)
    assert {rank: weights for rank, (weights, _) in plain.items()} == {
        rank: weights for rank, (weights, _) in looked.items()
    }
    assert all(count > 10 for _, count in looked.values())


class Doubles(TorchDispatchMode):
    """A mode of the user's: changes results, and counts."""

    seen = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen += 1
        made = func(*args, **(kwargs or {}))
        return made * 2 if func is torch.ops.aten.add.Tensor else made


def test_a_mode_of_the_users_is_left_alone() -> None:
    own = Doubles()
    with own:
        look = CloseLook(__file__)
        assert not look.start()
        assert "mode" in str(look.result()[1].skipped)
        assert stack() == [own]
    look = CloseLook(__file__, most_seconds=60)
    assert look.start()
    with own:
        assert float(torch.ones(1) + 1) == 4.0
        assert not look.stop()  # it is not on top
        assert look.installed and not look.active
        assert float(torch.ones(1) + 1) == 4.0
    assert stack() == [look._mode]
    assert look.stop()
    assert stack() == []
    assert Found(look).named("add")


def test_at_the_end_of_the_cell_it_goes_from_below_a_mode_that_stays_open() -> None:
    look = CloseLook(__file__, most_seconds=60)
    look.start()
    own = Doubles()
    own.__enter__()
    try:
        assert look.stop(lift=True)
        assert stack() == [own]
        assert float(torch.ones(1) + 1) == 4.0
    finally:
        own.__exit__(None, None, None)
    assert stack() == []


@pytest.mark.parametrize("error", [ValueError("the cell's"), KeyboardInterrupt(), SystemExit(2)])
def test_what_the_cell_raises_goes_through_and_nothing_stays(error: BaseException) -> None:
    look = CloseLook(__file__, most_seconds=60)

    def code() -> None:
        with look:
            torch.ones(2) + 1
            raise error

    with pytest.raises(type(error)) as caught:
        code()
    assert caught.value is error
    assert stack() == []
    assert len(Found(look).operators) == 2


def test_an_operator_that_raises_is_no_row() -> None:
    def code() -> None:
        with pytest.raises(RuntimeError, match="shape"):
            torch.mm(torch.ones(2, 3), torch.ones(2, 3))

    assert not look_at(code).named("mm")


def test_a_fault_of_ours_ends_the_look_and_not_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("before", "after"):
        look = CloseLook(__file__, most_seconds=60)
        with look:
            torch.ones(2)
            with monkeypatch.context() as patched:
                patched.setattr(look._watch, method, lambda *_: 1 / 0)
                assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]
            assert not look.active
        assert isinstance(look.failure, ZeroDivisionError)
        assert stack() == []


def test_in_a_backward_pass_nothing_begins_or_ends() -> None:
    look = CloseLook(__file__, most_seconds=60)
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda _: seen.append(look.start()))
    y.sum().backward()
    assert seen == [False]
    with look:
        y = x * 2
        y.register_hook(lambda _: seen.append(look.stop()))
        y.sum().backward()
    assert seen == [False, False]
    assert stack() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_looks_at_nothing() -> None:
    look = CloseLook(__file__, most_seconds=60)
    with look:
        torch.ones(2)
        child = os.fork()
        if not child:
            torch.ones(3)
            left = len(look._log.operators) == 1 and not stack() and "numpy" not in vars(torch.Tensor)
            os._exit(7 if left else 8)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert stack() == [look._mode] and look.active


def test_the_first_operator_imports_nothing_of_the_compiler() -> None:
    import subprocess
    import sys

    code = (
        "import sys, torch; from gpuprof.capture.look.close_look import CloseLook\n"
        "before = set(sys.modules)\n"
        "with CloseLook('x'): torch.ones(2) + 1\n"
        "print(any(each.startswith('torch._dynamo') for each in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


@pytest.mark.skipif(not RECENT, reason="this version of torch does not compile beside a mode: nothing is looked at")
def test_compiled_code_is_left_out_and_not_compiled_anew() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda value: (value @ value).relu() + 1, backend="aot_eager")
    x = torch.randn(4, 4)
    compiled(x)
    frames = dict(torch._dynamo.utils.counters["frames"])
    found = look_at(lambda: (compiled(x), x.sin()))
    assert dict(torch._dynamo.utils.counters["frames"]) == frames
    assert found.named("sin") and not found.named("mm")
    assert found.facts.unseen_writes
    fresh = torch.compile(lambda value: value.cos() + 2, backend="aot_eager")
    look_at(lambda: fresh(x))
    compiled_frames = torch._dynamo.utils.counters["frames"]["ok"]
    fresh(x)  # compiled while looked at, and not given up
    assert torch._dynamo.utils.counters["frames"]["ok"] == compiled_frames == frames["ok"] + 1


def test_the_replay_of_a_graph_may_have_written_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(16)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", lambda _: x.data.numpy().fill(5.0))

    def code(times: int) -> Found:
        def run() -> None:
            x.mul(2)
            for _ in range(times):
                torch.cuda.CUDAGraph.replay(None)
            x.mul(2)

        return look_at(run)

    still = [code(0).read(row)[0] for row in code(0).named("mul")]
    found = code(1)
    first, second = (found.read(row)[0] for row in found.named("mul"))
    assert still[0] == still[1] and first != second
    assert found.facts.unseen_writes


def test_a_look_that_cannot_begin_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    look = CloseLook(__file__)
    monkeypatch.setattr(look, "_know_buffers", lambda: 1 / 0)
    assert not look.start()
    assert stack() == [] and "numpy" not in vars(torch.Tensor)
    assert "ZeroDivisionError" in str(look.result()[1].skipped)


def test_nothing_begins_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("is_available", "is_initialized", "is_current_stream_capturing"):
        monkeypatch.setattr(torch.cuda, name, lambda: True)
    assert mode_stack.in_the_way() == "a CUDA graph is being captured"
