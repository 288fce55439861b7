"""Short passages of code as a profiler sees them, for `mixed_runs.py`: each goes on from where the host is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.support.trace_builder import TraceBuilder

if TYPE_CHECKING:
    from tests.support.mixed_runs import Chance

MIB = 1 << 20
PASSAGES: list[Callable[[Host], None]] = []
GEMM, POINTWISE = "ampere_sgemm_128x64_nn", "vectorized_elementwise_kernel"


class Host:
    """The main thread at `now` µs, and when each stream of the device is free again."""

    def __init__(self, builder: TraceBuilder, chance: Chance, device: int) -> None:
        self.builder, self.chance, self.device = builder.thread("main"), chance, device
        self.now = 0.0
        self.free: dict[int, float] = {}
        self.waits: list[tuple[float, float]] = []
        self.synchronized: list[tuple[float, int]] = []
        self.followed = chance.often(0.6)
        self.with_shapes = chance.often(0.8)
        self.with_memory = chance.often(0.5)
        self.held = 0
        self.sequence = 0
        self.line = 0

    @staticmethod
    def ns(us: float) -> int:
        """In ns."""
        return round(us * 1000)

    def at_line(self, line: int) -> None:
        """Go on in that line of the cell."""
        if self.followed and line != self.line:
            self.builder.line(line, self.now)
            self.line = line

    def operator(
        self, name: str, for_us: float, *dims: list[int], types: str = "float", values: str | None = None
    ) -> float:
        """From now on; its begin. The host goes on inside it."""
        shapes = (
            {"dims": str(list(dims)), "types": str([types] * len(dims)).replace("'", '"')}
            if dims and self.with_shapes
            else {}
        )
        self.sequence += 1
        self.builder.operator(name, self.now, for_us, values=values, sequence=self.sequence, **shapes)
        return self.now

    def place(self, stream: int) -> tuple[float, dict[str, Any]]:
        """When what is launched 1 µs from now begins, and where it is."""
        launched = self.now + 1
        begin = max(
            launched + self.chance.of(2, 6, 6, 8, 12), self.free.get(stream, 0) + self.chance.of(0, 1, 1, 2, 3, 12, 13)
        )
        return begin, {"stream": stream, "device": self.device, "launch_at_us": launched}

    def kernel(self, name: str, for_us: float, *, stream: int = 7, **facts: Any) -> None:
        """Launched 1 µs from now; the call takes 3 or 5."""
        begin, place = self.place(stream)
        call = self.chance.of(3, 5)
        self.builder.kernel(
            name, begin, for_us, launch_for_us=call, blocks=self.chance.of(16, 108, 900), **place, **facts
        )
        self.free[stream] = begin + for_us
        self.now += 1 + call

    def copy(
        self, direction: str, for_us: float, size: int, memory: str, *, blocking: bool = False, stream: int = 7
    ) -> None:
        """Launched 1 µs from now; the host waits for it where it is `blocking`."""
        begin, place = self.place(stream)
        end = begin + for_us
        call = end + self.chance.of(2, 10) - self.now - 1 if blocking else 5
        self.builder.copy(direction, begin, for_us, bytes=size, host_memory=memory, launch_for_us=call, **place)
        self.free[stream] = end
        self.now += 1 + call

    def synchronize(self, name: str = "cudaStreamSynchronize", stream: int | None = 7) -> None:
        """Wait for a stream, or for all."""
        ends = [self.free.get(stream, 0)] if stream is not None else list(self.free.values())
        back = max([self.now + 4, *(end + self.chance.of(2, 10) for end in ends)])
        self.builder.sync(self.now, back - self.now, name)
        self.synchronized.append((self.now, -1 if stream is None else stream))
        self.now = back

    def memory(self, size: int) -> None:
        """Allocate, or free where it is negative."""
        if self.with_memory:
            self.held = max(self.held + size, 0)
            totals = {"allocated": self.held, "reserved": max(self.held, 64 * MIB)}
            self.builder.memory(self.now, size, device=self.device, address=abs(size) % 97, **totals)

    def wait_for_batch(self, most_us: float, workers: int) -> None:
        """In the loader's `__next__`."""
        self.at_line(1)
        wait = self.chance.of(1, 0.5, 0.5, 0.01) * most_us
        self.builder.data_wait(self.now, wait, workers=workers)
        self.waits.append((self.now, wait))
        if not workers:
            self.operator("aten::stack", wait / 2, [32, 3])
        self.now += wait


def passage(make: Callable[[Host], None]) -> Callable[[Host], None]:
    """Put it among the passages."""
    PASSAGES.append(make)
    return make


@passage
def products(host: Host) -> None:
    host.at_line(3)
    for _ in range(host.chance.of(1, 3, 10)):
        rows = host.chance.of(1, 15, 16, 17, 63, 64, 512)
        host.operator("aten::linear", 20, [rows, 256], [257, 256], [257])
        host.now += 2
        host.operator("aten::addmm", 15, [257], [rows, 256], [256, 257])
        host.kernel(
            host.chance.of(GEMM, "gemv_kernel", "ampere_h16816gemm", "dgemm_double"), host.chance.of(9, 10, 11, 200)
        )
        host.now += host.chance.of(5, 10, 30)
        host.memory(host.chance.of(MIB, 4 * MIB))


@passage
def convolutions(host: Host) -> None:
    host.at_line(3)
    for _ in range(host.chance.of(1, 4)):
        host.operator("aten::conv2d", 40, [8, 3, 32, 32], [64, 3, 3, 3], [64])
        host.now += 1
        host.operator("aten::_convolution", 30, [8, 3, 32, 32], [64, 3, 3, 3], [64])
        host.now += 1
        host.operator("aten::cudnn_convolution", 10, [8, 3, 32, 32], [64, 3, 3, 3])
        host.kernel(host.chance.of("cudnn_conv_nchwToNhwc", "sm80_xmma_fprop_implicit_gemm"), host.chance.of(10, 100))
        host.now += 10
        host.operator("aten::add_", 8, [8, 64, 32, 32], [1, 64, 1, 1])
        host.kernel(POINTWISE, host.chance.of(2, 9, 30))
        host.now += 20
        for _ in range(host.chance.of(0, 0, 1, 3, 4)):
            host.operator("aten::to", 2)
            host.now += 3
        host.operator(host.chance.of("aten::batch_norm", "aten::relu"), 20, [8, 64, 32, 32])
        host.kernel("batch_norm_kernel", host.chance.of(5, 50))
        host.now += 20


@passage
def pointwise(host: Host) -> None:
    host.at_line(3)
    for number in range(host.chance.of(2, 3, 4, 8)):
        host.operator(host.chance.of("aten::add", "aten::mul", "aten::relu"), 12, [1024, host.chance.of(1024, 1024, 8)])
        host.kernel(POINTWISE, host.chance.of(2, 10, 40), collective=False)
        host.now += host.chance.of(6, 6, 30) + number % 2


@passage
def attention(host: Host) -> None:
    host.at_line(3)
    for name in ("aten::bmm", host.chance.of("aten::mul", "aten::add_"), "aten::_softmax", "aten::bmm"):
        host.operator(name, 10, [16, 64, 64], [16, 64, 64])
        host.kernel(GEMM if name == "aten::bmm" else "softmax_warp_forward", host.chance.of(10, 60))
        host.now += 8


@passage
def read_back(host: Host) -> None:
    host.at_line(4)
    for _ in range(host.chance.of(1, 2, 20)):
        host.operator(host.chance.of("aten::item", "aten::is_nonzero"), 60)
        host.now += 1
        host.operator("aten::_local_scalar_dense", 50)
        host.copy("d2h", 2, host.chance.of(4, 8), "pageable")
        host.synchronize()
        host.now += host.chance.of(0, 5, 20, 21)


@passage
def loaded(host: Host) -> None:
    host.at_line(2)
    for _ in range(host.chance.of(1, 2, 15, 16, 17)):
        size = host.chance.of(8, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, MIB, 8 * MIB)
        host.operator("aten::to", 30, [size // 4])
        if host.chance.often(0.3):
            host.operator("aten::copy_", 8, [size // 4], [size // 4], types=host.chance.of("float", "double"))
            host.now += 9
        memory = host.chance.of("pageable", "pageable", "pinned", "unknown")
        host.copy("h2d", max(size / 12_000, 1), size, memory, blocking=memory == "pageable" and host.chance.often(0.5))
        if host.chance.often(0.3):
            host.synchronize()
        host.now += host.chance.of(1, 20, 30)


@passage
def widened(host: Host) -> None:
    host.at_line(2)
    count = host.chance.of(16_383, 16_384, 100_000)
    shapes = f"[[{count}], [{count}]]"
    for _ in range(host.chance.of(1, 1, 4)):
        host.builder.operator("aten::copy_", host.now, 50, dims=shapes, types='["float", "unsigned char"]')
        host.now += 55
    host.copy("h2d", 40, count * host.chance.of(4, 4, 16), host.chance.of("pageable", "pinned"))


@passage
def there_and_back(host: Host) -> None:
    size = host.chance.of((64 << 10) - 1, 64 << 10, MIB)
    host.operator("aten::to", 45)
    begin, place = host.place(7)
    host.builder.copy("d2h", begin, 20, bytes=size, launch="cudaMemcpy", launch_for_us=begin + 22 - host.now, **place)
    host.free[7] = begin + 20
    host.now = max(begin + 25, host.now + 46) + host.chance.of(0, 5, 100)
    host.operator("aten::to", 30)
    host.copy("h2d", 20, size, "pageable")
    host.now += 30


@passage
def filled(host: Host) -> None:
    count = host.chance.of(1000, 100_000)
    host.operator(host.chance.of("aten::randn", "aten::zeros", "aten::arange"), 40)
    host.now += 2
    host.operator("aten::normal_", 30, [count])
    host.now += 43
    host.operator("aten::to", 20, [count])
    host.copy("h2d", 5, 4 * count, "pageable")
    host.now += 20


@passage
def in_frames(host: Host) -> None:
    """Python works for a millisecond or so, in one function or in two."""
    length = host.chance.of(999, 1000, 1001, 3000)
    host.builder.frame("train.py(3): step", host.now, length)
    if host.chance.often(0.5):
        host.builder.frame("metrics.py(9): update", host.now + length / 4, host.chance.of(length / 4, length / 2))
    host.now += length


@passage
def checked_for_nan(host: Host) -> None:
    """Anomaly detection looks through the gradients of some nodes."""
    host.at_line(8)
    for _ in range(4):
        host.operator("autograd::engine::evaluate_function: MulBackward0", 40)
        host.operator("MulBackward0", 10)
        host.now += 12
        if host.chance.often(0.6):
            host.operator("aten::isnan", 10, [64, 64])
            host.kernel(POINTWISE, 3)
        host.now += 30


@passage
def normalised(host: Host) -> None:
    for _ in range(3):
        host.operator("aten::batch_norm", 30, [8, 64, 32, 32], [64], [64])
        host.now += 1
        host.operator(host.chance.of("aten::native_batch_norm", "aten::cudnn_batch_norm"), 20, [8, 64, 32, 32], [64])
        host.kernel("bn_fw_tr_1C11_kernel", host.chance.of(10, 40), occupancy_percent=host.chance.of(12.5, 100.0))
        host.now += 26


@passage
def table_updated(host: Host) -> None:
    """A table's gradient is dense: it is filled, and all of the table is updated."""
    host.at_line(8)
    host.operator("autograd::engine::evaluate_function: EmbeddingBackward0", 50)
    host.now += 1
    values = '["", "", "1000", "-1", "False"]'
    host.operator("aten::embedding_dense_backward", 30, [32, 64], [32], values=values)
    host.kernel("embedding_dense_backward_kernel", host.chance.of(10, 90))
    host.now += 45
    host.builder.optimizer_step("SGD", host.now, 40)
    host.operator("aten::add_", 20, [1000, 64], [1000, 64])
    host.kernel(POINTWISE, host.chance.of(10, 60))
    host.now += 40
