"""Passages of training, of loops, and of several streams and threads, for `mixed_runs.py`."""

from __future__ import annotations

from tests.support.mixed_passages import GEMM, MIB, POINTWISE, Host, passage


@passage
def backward(host: Host) -> None:
    host.at_line(8)
    for _ in range(host.chance.of(2, 6)):
        host.operator("autograd::engine::evaluate_function: AddmmBackward0", 40)
        host.now += 1
        host.builder.operator("AddmmBackward0", host.now, 20, sequence=max(host.sequence - 8, 0))
        host.builder.operator("aten::mm", host.now + 1, 15, dims="[[64, 256], [256, 257]]", types='["float", "float"]')
        host.kernel(GEMM, host.chance.of(10, 100))
        host.now += 25
        host.operator("torch::autograd::AccumulateGrad", 20)
        host.now += 1
        host.operator("aten::add_", 10, [256, 257])
        host.kernel(POINTWISE, 10)
        host.memory(-host.chance.of(MIB, 4 * MIB))
        host.now += 12


@passage
def optimized(host: Host) -> None:
    host.at_line(9)
    host.builder.span("Optimizer.zero_grad#SGD.zero_grad", host.now, 40)
    for _ in range(host.chance.of(0, 1, 2)):
        host.operator(host.chance.of("aten::zero_", "aten::_foreach_zero_"), 12, [256, 257])
        host.kernel(POINTWISE, 5)
        host.now += 10
    host.now += 45
    begin, count = host.now, host.chance.of(2, 10, 30)
    for _ in range(count):
        host.operator(host.chance.of("aten::add_", "aten::_fused_adam_", "aten::_foreach_add_"), 10, [256, 257])
        host.kernel(POINTWISE, host.chance.of(3, 10))
        host.now += 6
    host.builder.optimizer_step(host.chance.of("SGD", "Adam"), begin, host.now - begin)


@passage
def collective(host: Host) -> None:
    host.operator("c10d::allreduce_", 20, [1000])
    host.kernel("ncclDevKernel_AllReduce_Sum_f32", host.chance.of(20, 500), stream=20)
    host.now += 15
    if host.chance.often(0.5):
        host.builder.call("cudaEventRecord", host.now, 1).call("cudaStreamWaitEvent", host.now + 1, 1)
        host.free[7] = max(host.free.get(7, 0), host.free[20])
        host.now += 3


@passage
def grown(host: Host) -> None:
    host.at_line(5)
    for turn in range(host.chance.of(9, 10, 11, 14)):
        host.operator("aten::cat", 20, [10 * turn + 10, 64], [10, 64])
        if host.chance.often(0.7):
            host.kernel("CatArrayBatchedCopy", 5 + turn)
        host.now += host.chance.of(15, 25)


@passage
def turns(host: Host) -> None:
    last, pause = host.chance.of("aten::fill_", "aten::copy_", "aten::item"), host.chance.of(6, 19, 20, 21)
    for _ in range(host.chance.of(9, 10, 11, 20)):
        host.at_line(6)
        host.operator("aten::select", 4, [32, 64], values='["", "0", "3"]')
        host.now += 5
        host.at_line(7)
        if pause > 6:
            host.operator("aten::mul", 10, [64])
            host.kernel(POINTWISE, 3)
            host.now += 8
        host.operator(last, 5, [])
        host.now += pause


@passage
def allocated(host: Host) -> None:
    for name in ("cudaMalloc", "cudaFree"):
        for _ in range(host.chance.of(0, 1, 2, 5)):
            back = max(host.now + 50, *host.free.values(), 0.0) if name == "cudaFree" else host.now + 60
            host.builder.call(name, host.now, back - host.now)
            host.now = back + 1


@passage
def other_stream(host: Host) -> None:
    host.kernel("produce", host.chance.of(50, 400), stream=7)
    host.builder.call("cudaEventRecord", host.now, 1).call("cudaStreamWaitEvent", host.now + 1, 1)
    host.now += 3
    host.free[13] = max(host.free.get(13, 0), host.free[7])
    host.kernel("consume", host.chance.of(10, 100), stream=13)
    if host.chance.often(0.5):
        host.synchronize(host.chance.of("cudaEventSynchronize", "cudaDeviceSynchronize"), None)


@passage
def compiled(host: Host) -> None:
    if host.chance.often(0.3):
        host.operator("_compile.compile_inner (dynamo_timed)", 500)
        host.now += 510
    host.operator("Torch-Compiled Region: 0/0", 40)
    host.kernel("triton_poi_fused_add_relu_0", host.chance.of(10, 90))
    host.now += 36


@passage
def looked_up(host: Host) -> None:
    host.operator("aten::embedding", 20, [1000, 64], [32])
    host.kernel("indexSelectLargeIndex", 10)
    host.now += 20
    host.operator("aten::cross_entropy_loss", 40, [32, 1000], [32])
    host.now += 1
    host.operator("aten::_log_softmax", 20, [32, 1000])
    host.kernel("cunn_SoftMaxForward", 12)
    host.memory(host.chance.of(16, 300) * MIB)
    host.now += 25
    host.operator("aten::isnan", 6)
    host.now += 8


@passage
def double(host: Host) -> None:
    for _ in range(host.chance.of(1, 4)):
        shape = [host.chance.of(10, 999, 1000, 1001)]
        host.operator(host.chance.of("aten::sum", "aten::_to_copy", "aten::mul"), 30, shape, types="double")
        host.now += 35


@passage
def other_thread(host: Host) -> None:
    """It launches while the main thread stands."""
    begin = host.now
    host.builder.thread("other")
    for number in range(host.chance.of(2, 4)):
        at = begin + 20 * number
        host.builder.operator("aten::other", at, 18).kernel(
            "other", at + 8, 2, stream=31, device=host.device, launch_at_us=at, launch_for_us=15
        )
    host.builder.thread("main")
    host.now += host.chance.of(50, 90, 95, 104)


@passage
def nothing(host: Host) -> None:
    host.at_line(host.chance.of(-1, 4, 7))
    host.now += host.chance.of(0, 20, 21, 50, 100, 1000, 1001, 5000)
