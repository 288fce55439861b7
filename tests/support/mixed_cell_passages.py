"""Passages for `mixed_cells.py`: arithmetic of every kind, closures, walks along slices, steps that grow."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.mixed_passages import GEMM, MIB, POINTWISE, Host

MORE_PASSAGES: list[Callable[[Host], None]] = []


def _more(make: Callable[[Host], None]) -> Callable[[Host], None]:
    MORE_PASSAGES.append(make)
    return make


@_more
def multiplied(host: Host) -> None:
    """Products whose shapes fit, and some that do not."""
    types = host.chance.of("float", "c10::Half", "c10::BFloat16", "double", "int")
    for name, *shapes in (
        ("aten::mm", [64, 32], [32, 16]), ("aten::mm", [64, 32], [31, 16]), ("aten::bmm", [4, 8, 16], [4, 16, 2]),
        ("aten::bmm", [4, 8, 16], [3, 16, 2]), ("aten::addmm", [16], [64, 1], [1, 16]), ("aten::mv", [8, 4], [4]),
        ("aten::dot", [7], [7]), ("aten::baddbmm", [4, 8, 2], [4, 8, 16], [4, 16, 2]), ("aten::linear", [5, 3, 8], [8]),
    ):  # fmt: skip
        if host.chance.often(0.5):
            host.operator(name, 12, *shapes, types=types)
            host.kernel(host.chance.of(GEMM, "ampere_h16816gemm"), host.chance.of(0, 5, 90))
            host.now += 14


@_more
def folded(host: Host) -> None:
    """Convolutions with all their numbers: plain, strided, transposed, and one that cannot be read."""
    for values in (
        '["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]',
        '["", "", "", "[2]", "[0]", "[1, 2]", "False", "[0, 0]", "1"]',
        '["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "1"]',
        '["", "", "", "[0, 1]", "[1]", "[1]", "False", "[0]", "1"]',
        '["", "", "", "[1.5]", "?", "[1]", "maybe", "[0]", "1"]',
    ):
        if host.chance.often(0.5):
            host.operator("aten::convolution", 40, [8, 4, 16, 16], [4, 4, 3, 3], [4], values=values)
            host.kernel("sm80_xmma_fprop", host.chance.of(10, 70))
            host.now += 41
    mask = host.chance.of("[True, True, False]", "[False, True, True]", "[True]")
    values = f'["", "", "", "", "[1]", "[1]", "[1]", "{host.chance.of("False", "True", "odd")}", "[0]", "1", "{mask}"]'
    host.operator("aten::convolution_backward", 30, [8, 4, 16, 16], [8, 4, 16, 16], [4, 4, 3, 3], values=values)
    host.kernel("dgrad", 40)
    host.now += 31


@_more
def attended(host: Host) -> None:
    """Fused attention, causal or not, with fewer heads for keys."""
    causal = host.chance.of("True", "False", "", "0.0")
    heads, keys = host.chance.of(4, 8), host.chance.of(1, 16, 32)
    shapes = [2, 8, 16, 64], [2, heads, keys, 64], [2, heads, keys, 32]
    values = f'["", "", "", "0.0", "{causal}", "{causal}", "False"]'
    host.operator("aten::_scaled_dot_product_flash_attention", 20, *shapes, values=values, types="c10::Half")
    host.kernel("flash_fwd_kernel", host.chance.of(10, 50))
    host.now += 21


@_more
def by_closure(host: Host) -> None:
    """An optimizer calls back: a range says so, or the backward pass inside it, or nothing but `zero_grad`."""
    begin, told = host.now, host.chance.of(0, 1, 2)
    host.now += 2
    if told == 1:
        host.builder.span("gpuprof.closure", host.now, 30)
    host.builder.span("Optimizer.zero_grad#LBFGS.zero_grad", host.now, 3)
    host.now += 4
    number = host.sequence + 1
    host.operator("aten::linear", 9, [4, 4], [4, 4])
    host.now += 10
    if told == 2:
        name = "autograd::engine::evaluate_function: AddmmBackward0"
        host.builder.operator(name, host.now, 9, sequence=number)
        host.builder.operator("AddmmBackward0", host.now + 1, 5, sequence=number)
        host.now += 10
    host.builder.optimizer_step("LBFGS", begin, host.now - begin + host.chance.of(0, 5))
    host.now += 6


@_more
def walked(host: Host) -> None:
    """A tensor is unbound, then row after row of another is read and written."""
    host.operator("aten::unbind", 5, [32, 64], values='["", "0"]')
    host.now += 6
    for index in range(host.chance.of(9, 10, 24)):
        host.at_line(6)
        host.operator("aten::select", 3, [32, 64], values=f'["", "{host.chance.of(0, 0, 1)}", "{index}"]')
        host.now += 4
        host.operator("aten::add_", 4, [64], [64])
        if host.chance.often(0.9):
            host.kernel(POINTWISE, 2)
        host.now += 5


@_more
def zeroed(host: Host) -> None:
    """Gradients are made, then released by `zero_grad`."""
    if not host.with_memory:
        return
    for address in (11, 12, 13):
        host.builder.memory(host.now, 20 * MIB, device=host.device, address=address, allocated=100 * MIB + address)
        host.now += 2
    host.builder.span("Optimizer.zero_grad#SGD.zero_grad", host.now, 10)
    for address in (11, 12, 13)[: host.chance.of(0, 2, 3)]:
        host.builder.memory(host.now + 1, -20 * MIB, device=host.device, address=address, allocated=40 * MIB)
    host.now += 12


@_more
def waited_early(host: Host) -> None:
    """Work that seems to begin before its launch, and a wait for what is long done."""
    host.builder.kernel("early", max(host.now - 3, 0), 2, launch_at_us=host.now, device=host.device, stream=7)
    host.now += 8
    host.synchronize(host.chance.of("cudaStreamSynchronize", "cudaEventSynchronize"), host.chance.of(7, None))


def growing(host: Host, turn: int) -> None:
    """More and longer work in each step: a tensor that grows, a list of them, a loop that gets longer."""
    host.at_line(5)
    host.operator("aten::cat", 10 + 3 * turn, [10 * turn + 10, 64], [10, 64])
    host.kernel("CatArrayBatchedCopy", 5 + 2 * turn)
    host.now += 12 + 3 * turn
    host.at_line(7)
    for _ in range(turn // 4):
        host.operator("aten::item", 9, [1])
        host.now += 10
    host.at_line(3)
    host.operator("aten::mul", 8 + turn, [10 * turn + 20, 64], [10 * turn + 20, 64])
    host.kernel(POINTWISE, 4 + turn)
    host.now += 9 + turn
    host.at_line(5)
