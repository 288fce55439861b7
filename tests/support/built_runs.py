"""Small built runs, one for each kind of run that the public recordings show: `BUILT[name]()` is a new Trace.

Beside each stands whose counterpart it is: a clone without the recordings then tests as many kinds of run.
"""

from __future__ import annotations

from collections.abc import Callable

from gpuprof.model.kinds import CallKind
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

MIB = 1 << 20
BUILT: dict[str, Callable[[], Trace]] = {}


def run(make: Callable[[], Trace]) -> Callable[[], Trace]:
    """Put it among the built runs."""
    BUILT[make.__name__] = make
    return make


def _loading(wait_us: float, workers: int) -> Trace:
    """Steps of convolutions, with shapes and memory, that wait for their data (v100-resnet50-workers0, -workers4)."""
    builder = TraceBuilder().device(0, "Tesla V100-SXM2-16GB", memory_bytes=16 << 30).source(torch="1.8.0")
    for number in range(6):
        at = number * (wait_us + 40_000)
        builder.step(at, wait_us + 40_000).data_wait(at, wait_us, workers=workers)
        builder.operator("aten::stack", at, wait_us / 2)
        begin = at + wait_us
        builder.operator("aten::copy_", begin, 900)
        builder.copy("h2d", begin + 20, 800, bytes=9 * MIB, host_memory="pageable", launch_at_us=begin + 5)
        for layer in range(20):
            now = begin + 1000 + layer * 1800
            builder.operator("aten::conv2d", now, 1700, dims="[[32, 64, 56, 56], [64, 64, 3, 3], [64]]")
            builder.kernel("volta_scudnn_128x64_relu_interior_nn_v1", now + 50, 1700, launch_at_us=now + 10, blocks=640)
            builder.memory(now + 60, 8 * MIB, allocated=(layer + 1) * 8 * MIB, reserved=512 * MIB, address=layer)
        for layer in range(20):
            now = begin + 37_500 + layer * 10
            builder.memory(now, -8 * MIB, allocated=(19 - layer) * 8 * MIB, reserved=512 * MIB, address=layer)
        builder.optimizer_step("SGD", begin + 38_000, 1500)
    return builder.build()


@run
def waits_for_its_loader() -> Trace:
    return _loading(20_000, 0)


@run
def loader_with_workers() -> Trace:
    return _loading(300, 4)


def _copies(kind: str, for_us: float) -> Trace:
    """Copies only, both ways (a100-copies-pageable, -pinned)."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-40GB", link_bytes_per_s=25e9)
    stands = for_us if kind == "pageable" else 10
    for number in range(10):
        at = number * (2 * for_us + 1000)
        builder.step(at, 2 * for_us + 1000).operator("aten::copy_", at, stands + 20)
        builder.copy(
            "h2d", at + 20, for_us, bytes=140 * MIB, host_memory=kind, launch_at_us=at + 5, launch_for_us=stands
        )
        back = at + for_us + 100
        builder.copy(
            "d2h", back + 20, for_us, bytes=140 * MIB, host_memory=kind, launch_at_us=back, launch_for_us=stands
        )
        builder.sync(back + stands + 1, for_us + 50 - stands, "cudaDeviceSynchronize")
    return builder.build()


@run
def pageable_copies() -> Trace:
    return _copies("pageable", 30_000)


@run
def pinned_copies() -> Trace:
    return _copies("pinned", 12_000)


@run
def reads_in_a_loop() -> Trace:
    """A value read back for each of many small kernels, no steps (a100-sam-many-syncs)."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-40GB")
    for number in range(300):
        at = number * 200
        builder.operator("aten::sort", at, 40).kernel("radix_sort_kernel<double>", at + 20, 30, launch_at_us=at + 5)
        builder.operator("aten::item", at + 60, 100).copy("d2h", at + 75, 2, bytes=8, launch_at_us=at + 65)
        builder.sync(at + 72, 85)
    return builder.build()


@run
def stacks_and_samples() -> Trace:
    """Python frames on two threads, one step, half of it in the loader (h100-owlv2-dataloader-stacks)."""
    builder = TraceBuilder().device(0, "NVIDIA H100 80GB HBM3", memory_bytes=80 << 30).step(0, 100_000)
    builder.frame("train.py(3): <module>", 0, 100_000).frame("torch/utils/data/dataloader.py(7): __next__", 0, 50_000)
    builder.data_wait(0, 50_000).frame("model.py(9): attend", 50_000, 49_000)
    for layer in range(40):
        at = 50_000 + layer * 1200
        builder.operator("aten::bmm", at, 300, dims="[[16, 577, 64], [16, 64, 577]]", types='["float", "float"]')
        builder.kernel("sm80_xmma_gemm_f32f32", at + 20, 500, launch_at_us=at + 5, blocks=300)
        builder.operator("aten::softmax", at + 350, 200).kernel(
            "softmax_warp_forward", at + 560, 400, launch_at_us=at + 360
        )
    builder.thread("reader").operator("aten::empty", 1000, 40_000)
    for tick in range(20):
        builder.sample(tick * 5000, utilisation_percent=50.0, power_mw=400_000, memory_used_bytes=40 << 30)
        builder.host_sample(tick * 5000, cpu_percent=90.0)
    return builder.build()


@run
def rank_of_several() -> Trace:
    """Rank 3 on device 3 reduces on other streams, partly bare (a100-ddp-rank3-healthy, v100-ddp-memory-nccl)."""
    builder = TraceBuilder().device(3, "NVIDIA A100-SXM4-40GB").source(rank=3)
    for number in range(5):
        at = number * 30_000
        builder.step(at, 30_000)
        for layer in range(60):
            now = at + layer * 350
            builder.operator("aten::linear", now, 60)
            builder.kernel(
                "ampere_sgemm_128x64_nn", at + 200 + layer * 400, 390, launch_at_us=now + 5, device=3, blocks=99
            )
        for bucket in range(110):
            begin = at + 23_000 + bucket * 45
            name = f"ncclKernel_AllReduce_RING_LL_Sum_float{bucket % 2}(ncclWorkElem)"
            builder.kernel(name, begin, 40, launch_at_us=at + 21_500 + bucket * 12, device=3, stream=20 + bucket % 6)
        builder.sync(at + 28_700, 1200)
    return builder.build()


@run
def streams_that_wait() -> Trace:
    """Two streams in turn, the second waiting for an event of the first (a100-multistream-event-sync)."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-40GB")
    for number in range(20):
        at = number * 1000
        builder.kernel("produce", at + 20, 400, launch_at_us=at, stream=7).call("cudaEventRecord", at + 8, 2)
        builder.call("cudaStreamWaitEvent", at + 12, 2)
        builder.kernel("consume", at + 430, 400, launch_at_us=at + 16, stream=13)
        builder.call("cudaEventSynchronize", at + 25, 820)
    return builder.build()


@run
def tiny_kernels() -> Trace:
    """The host launches too slowly (h100-transformer-tiny-kernels)."""
    builder = TraceBuilder().device(0, "NVIDIA H100 80GB HBM3")
    for number in range(600):
        at = number * 40
        if number % 200 == 0:
            builder.step(at, 8000)
        builder.operator("aten::add", at, 30).kernel("vectorized_add", at + 10, 4, launch_at_us=at + 4, blocks=16)
    return builder.sync(23_990, 20).build()


@run
def cold_start() -> Trace:
    """Libraries are loaded for most of the time, then a few kernels (a100-alexnet-sync-events)."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-40GB").operator("aten::to", 0, 4_010_000)
    builder.call("cudaMalloc", 10, 4_000_000, kind=CallKind.OTHER)
    for number in range(16):
        at = 4_010_000 + number * 3000
        builder.copy("h2d", at + 10, 2500, bytes=15 * MIB, host_memory="pageable", launch_at_us=at, launch_for_us=2600)
    for number in range(80):
        at = 4_060_000 + number * 150
        builder.kernel("cudnn_conv", at + 12, 120, launch_at_us=at, blocks=400)
    return builder.sync(4_072_000, 200, "cudaDeviceSynchronize").build()


@run
def rocm() -> Trace:
    """hip* calls on device 2, whose copies do not say what memory they are from (mi300x-*)."""
    builder = TraceBuilder().device(2, "AMD Instinct MI300X", memory_bytes=192 << 30).source(platform="rocm")
    for number in range(4):
        at = number * 10_000
        builder.step(at, 10_000)
        builder.copy(
            "h2d", at + 30, 200, device=2, host_memory="unknown", launch_at_us=at + 5, launch="hipMemcpyWithStream"
        )
        for layer in range(30):
            now = at + 300 + layer * 300
            builder.operator("aten::mul", now, 40)
            builder.kernel(
                "elementwise_kernel",
                now + 20,
                280,
                launch_at_us=now + 5,
                launch="hipLaunchKernel",
                device=2,
                blocks=900,
            )
        builder.sync(at + 9300, 600, "hipDeviceSynchronize")
    return builder.build()


@run
def compiled() -> Trace:
    """A compiled region whose Triton kernels are one graph (torch-compile-triton, mi300x-sd35-compiled-no-graphs)."""
    builder = TraceBuilder().device(0, "NVIDIA H100 80GB HBM3")
    for number in range(12):
        at = number * 1000
        builder.operator("Torch-Compiled Region: 0/0", at, 120)
        builder.call("cudaGraphLaunch", at + 10, 60, correlation=1000 + number)
        for kernel in range(8):
            begin = at + 80 + kernel * 110
            builder.kernel("triton_poi_fused_add_relu_0", begin, 100, correlation=1000 + number, blocks=500)
    return builder.sync(11_950, 40).build()


@run
def device_only() -> Trace:
    """Nothing of the host was recorded (mi210-gpu-only)."""
    builder = TraceBuilder().device(1, "AMD Instinct MI210")
    for number in range(500):
        builder.kernel("Cijk_Ailk_Bljk_HHS", number * 12, 10.5, device=1, blocks=200)
    return builder.build()


@run
def no_device() -> Trace:
    """Launches, but no device activity; a short step after a long one (no-gpu-activity)."""
    builder = TraceBuilder()
    for number in range(200):
        at = number * 500
        builder.operator("aten::linear", at, 450).call("cudaLaunchKernel", at + 10, 5)
    for number in range(40):
        builder.step(number * 1, 1)
    return builder.build()


@run
def host_alone() -> Trace:
    """A few operators on the processor (cpu-only-rank34)."""
    builder = TraceBuilder().source(rank=34)
    for number in range(10):
        builder.operator("aten::mm", number * 100, 90, dims="[[64, 64], [64, 64]]")
    return builder.build()


@run
def much_memory() -> Trace:
    """More rows of memory than a picture has columns; the host's have no totals (v100-ddp-memory-nccl)."""
    builder = TraceBuilder().device(0, "Tesla V100-SXM2-16GB", memory_bytes=16 << 30)
    builder.operator("aten::linear", 0, 60_000)
    for row in range(6000):
        size = MIB if row % 3 else -MIB
        builder.memory(row * 10, size, allocated=(6 << 30) + row * MIB // 8, reserved=12 << 30, address=row)
        if row % 100 == 0:
            builder.kernel("gemm", row * 10, 900, launch_at_us=row * 10)
            builder.memory(row * 10 + 1, 4096, device=None, address=10_000 + row)
    return builder.build()
