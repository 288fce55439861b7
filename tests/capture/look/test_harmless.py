"""The cell is the same with a look and without one, whatever it does."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from gpuprof.capture.look import mode_stack
from gpuprof.capture.look.close_look import CloseLook
from tests.capture.look.looks import Found, look_at


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


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
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


SMALL = (torch.bool, torch.bfloat16, torch.half, torch.uint8)


def odd_tensors() -> dict[str, Callable[[], Any]]:
    """Operators on tensors of all kinds; each gives what can be compared."""
    square = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    return {
        "sparse": lambda: (
            square.to_sparse() @ square,
            square.to_sparse().to_dense(),
            square.to_sparse_csr().values() + 1,
        ),
        "quantized": lambda: torch.quantize_per_tensor(square, 0.1, 0, torch.qint8).dequantize() + 1,
        "nested": lambda: torch.nested.nested_tensor([square, square[:2]]).to_padded_tensor(0.0) + 1,
        "jagged": lambda: (torch.nested.nested_tensor([square, square[:2]], layout=torch.jagged) * 2).values(),
        "meta": lambda: (torch.ones(3, device="meta") + 1).shape,
        "complex": lambda: (
            torch.view_as_complex(square.view(8, 2)).conj() * 2,
            square.to(torch.complex64).conj().imag.neg() + 1,
        ),
        "small types": lambda: [
            (square > 0).to(kind).float() + 1 for kind in (torch.bool, torch.bfloat16, torch.half, torch.uint8)
        ],
        "float8": lambda: square.to(torch.float8_e4m3fn).float() + 1,
        "inference": lambda: _inference(square),
        "vmap": lambda: torch.func.vmap(lambda row: row.sum() * 2)(square),
        "grad": lambda: torch.func.grad(lambda value: (value**2).sum())(square),
        "hessian": lambda: torch.func.hessian(lambda value: (value**3).sum())(square[0]),
        "empty": lambda: (torch.empty(0) + 1, torch.ones(()) + 1, square[:0].sum()),
        "expanded": lambda: square[:1].expand(4, 4) + square.t() + square.flip(0)[::2].repeat(2, 1),
        "shared": lambda: _shared(square),
        "resized": lambda: torch.ones(2).resize_(3, 3).zero_() + 1,
        "set": lambda: torch.empty(0).set_(square) + 1,
        "detached": lambda: square.clone().requires_grad_().detach_() + 1,
        "in-place views": lambda: square.clone().t_().unsqueeze_(0).squeeze_() + 1,
        "subclass": lambda: (square.clone().as_subclass(_Plain) * 2).as_subclass(torch.Tensor),
        "copied": lambda: __import__("copy").deepcopy(square) + 1,
        "checkpoint": _checkpointed,
        "printed": lambda: str(square + 1),
        "stft": lambda: torch.stft(square.view(-1), 8, return_complex=True, window=torch.hann_window(8)).abs(),
    }


class _Plain(torch.Tensor):
    def __new__(cls, data: torch.Tensor) -> torch.Tensor:
        return data.as_subclass(cls)


def _inference(tensor: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        made = tensor * 2
        made.add_(1)
        return made + 1


def _shared(tensor: torch.Tensor) -> torch.Tensor:
    base = tensor.clone()
    first, second = base[0], base.view(-1)
    first.add_(1)
    second.mul_(2)
    base.data.add_(1)
    return base + first


def _checkpointed() -> torch.Tensor:
    from torch.utils.checkpoint import checkpoint

    weight = torch.ones(4, 4, requires_grad=True)
    checkpoint(lambda value: (value @ value).relu(), weight, use_reentrant=False).sum().backward()
    assert weight.grad is not None
    return weight.grad


@pytest.mark.parametrize("kind", odd_tensors())
@pytest.mark.filterwarnings("ignore")
def test_tensors_of_every_kind_pass_unchanged(kind: str) -> None:
    code = odd_tensors()[kind]
    expected = code()
    found: list[Any] = []
    look = look_at(lambda: found.append(code()))
    assert len(look.operators)
    for one, other in zip(_parts(expected), _parts(found[0]), strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def _parts(value: Any) -> list[Any]:
    return [part for each in value for part in _parts(each)] if isinstance(value, list | tuple) else [value]


def test_a_tensor_that_wraps_others_is_an_argument_without_a_value() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    found = look_at(lambda: fake + 1)
    assert (found.values["fingerprint"] == 0).all()
    sparse = torch.eye(3).to_sparse()
    found = look_at(lambda: torch.sparse.mm(sparse, torch.ones(3, 3)))
    assert -1 in found.reads["value"].tolist()


@pytest.mark.parametrize("constructor", [None, lambda cls, data: torch.Tensor.__new__(cls, data)])
def test_where_a_class_is_made_by_torchs_constructor_nothing_begins(constructor: Any) -> None:
    made = type("Own", (torch.Tensor,), {} if constructor is None else {"__new__": constructor})
    look = CloseLook(__file__)
    assert not look.start()
    assert "Own" in str(look.result()[1].skipped)
    assert isinstance(made(torch.ones(2)), made)
    del made
    gc.collect()
    assert look.start() and look.stop()


def test_an_operator_of_higher_order_runs() -> None:
    from torch.nn.attention.flex_attention import flex_attention

    query = torch.randn(1, 1, 16, 16)
    expected = flex_attention(query, query, query)
    made: list[torch.Tensor] = []
    look_at(lambda: made.append(flex_attention(query, query, query)))
    assert torch.allclose(made[0], expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_looks_at_nothing() -> None:
    look = CloseLook(__file__, most_seconds=60)
    with look:
        torch.ones(2)
        child = os.fork()
        if not child:
            torch.ones(3)
            os._exit(7 if len(look._log.operators) == 1 else 8)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


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


def test_nothing_begins_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("is_available", "is_initialized", "is_current_stream_capturing"):
        monkeypatch.setattr(torch.cuda, name, lambda: True)
    assert mode_stack.in_the_way() == "a CUDA graph is being captured"
