"""Thresholds that a rule's case does not come near: runs that are built for them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuprof.model.context import Environment, Garbage, Loader
from gpuprof.model.device import Device
from gpuprof.model.readings import DeviceFacts, ReadingLog
from gpuprof.model.trace import Trace
from tests.rules.base.threshold_edge import ABSTAINS, Edge, outcome
from tests.rules.cases.distributed import rank_straggler
from tests.rules.cases.host import python_loop_over_slices
from tests.rules.cases.loading import samples_made_again as made
from tests.rules.cases.loading import slow_transform
from tests.rules.cases.memory import empty_cache_in_step, tensors_held_by_notebook
from tests.rules.cases.training import dense_embedding_gradients
from tests.rules.memory.memory_runs import adam, allocator, run, weighed
from tests.rules.test_thresholds import GIB, HIGH, LOW, MEDIUM
from tests.rules.threshold_runs import paced, trips
from tests.support.trace_builder import TraceBuilder

MS = 1000


def steps_of(number: int = 10, length: float = 1000) -> list[float]:
    return [length * each for each in range(number)]


def fills(cost_us: float) -> Trace:
    builder = TraceBuilder()
    for at in steps_of():
        made, copied = cost_us * 0.5, cost_us * 0.4
        builder.step(at, 1000).operator("aten::randn", at, made, dims="[[], []]")
        builder.operator("aten::normal_", at, made / 2, dims="[[512, 512], []]")
        builder.operator("aten::to", at + cost_us * 0.55, cost_us * 0.45, dims="[[512, 512], []]")
        call = {"launch_at_us": at + cost_us * 0.58, "launch_for_us": copied}
        builder.copy("h2d", at + cost_us * 0.6, copied, host_memory="pageable", **call)
        builder.kernel("gemm", at + cost_us, 1000 - cost_us, launch_at_us=at + cost_us)
    return builder.build()


def small_copies(each_us: float) -> Trace:
    """Sixteen copies of 0.1 µs a step, in each of which the host stands so long."""
    builder = TraceBuilder()
    for at in steps_of():
        builder.step(at, 1000)
        for number in range(16):
            begin = at + number * each_us
            builder.operator("aten::to", begin, each_us)
            call = {"launch_at_us": begin + each_us / 4, "launch_for_us": 0.1}
            builder.copy("h2d", begin + each_us / 2, 0.1, bytes=4096, host_memory="pageable", **call)
            builder.sync(begin + each_us * 0.55, each_us * 0.4)
        builder.kernel("gemm", at + 16 * each_us, 1000 - 16 * each_us, launch_at_us=at + 16 * each_us)
    return builder.build()


def widened(copy_us: float = 200, steps_with: int = 10) -> Trace:
    """Bytes that become floats: three quarters of the copy are too much."""
    builder = TraceBuilder()
    for number, at in enumerate(steps_of()):
        types = '["float", "unsigned char", "Bool"]' if number < steps_with else '["float", "float", "Bool"]'
        builder.step(at, 1000).operator("aten::to", at, 50)
        builder.operator("aten::copy_", at + 5, 40, dims="[[262144], [262144], []]", types=types)
        builder.copy("h2d", at + 115, copy_us, bytes=1 << 20, host_memory="pinned", launch_at_us=at + 112)
        builder.kernel("gemm", at + 115 + copy_us, 885 - copy_us, launch_at_us=at + 130)
    return builder.build()


def compiling(in_steps: tuple[int, ...], each_us: float) -> Trace:
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(steps_of()):
        builder.step(at, 1000).operator("aten::mm", at + 950, 50)
        if number in in_steps:
            builder.operator("_compile.compile_inner (dynamo_timed)", at + 100, each_us)
    return builder.build()


def waiting(wait_ms: float, samples: int = 100, **facts: Any) -> Trace:
    """The loop of `slow_transform` with other waits."""
    timed = slow_transform.timed(**facts)
    part = {"sample_ns": samples * 3_900_000, "cpu_ns": timed.cpu_ns * samples // 100}
    timed = msgspec.structs.replace(timed, samples=samples, **part)
    workers, cores = (2, 3) if facts else (0, 1)
    loader = Loader(workers=workers, line=3, dataset="Photos", samples=1000)
    environment = Environment(cores_allowed=cores)
    builder = TraceBuilder().context(loaders=(loader,), loadings=(timed,), environment=environment)
    for at in steps_of(10, 100 * MS):
        wait = wait_ms * MS
        builder.step(at, 100 * MS).data_wait(at, wait, workers=workers).operator("aten::stack", at, wait)
        builder.kernel("gemm", at + wait + 6, 100 * MS - wait - 20, launch_at_us=at + wait)
    return builder.build()


def fetched(wait_ms: float, samples: int = 100) -> Trace:
    return waiting(wait_ms, samples, resize_ms=0.1, cpu_share=0.1, blocked=200)


def reads(steps: int, with_read: int) -> Trace:
    """Steps without a device that read a value."""
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(steps_of(steps)):
        builder.step(at, 1000).operator("aten::mm", at + 10, 500)
        if number < with_read:
            builder.operator("aten::item", at + 600, 50).operator("aten::_local_scalar_dense", at + 610, 30)
    return builder.build()


def elements(access_us: float = 4, steps_with: int = 5) -> Trace:
    """Steps without a device that write 120 numbers each."""
    builder = TraceBuilder().operator("aten::zeros", 0, 1)
    for number, at in enumerate(steps_of(5)):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for place in range(360 if number < steps_with else 0):
            name = ("aten::lift_fresh", "aten::select", "aten::copy_")[place % 3]
            builder.operator(name, at + 100 + place * access_us / 3, access_us / 4)
    return builder.operator("aten::mean", 4999, 1).build()


def samples_looped(operator_us: float) -> Trace:
    """Ten turns of three operators, one after the other."""
    builder = TraceBuilder().operator("aten::stack", 0, 1).context(loaders=(Loader(workers=0, batch_size=10),))
    for at in steps_of(5):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for place in range(30):
            name = ("aten::select", "aten::mm", "aten::relu")[place % 3]
            values = f'["", "0", "{place // 3}"]' if place % 3 == 0 else None
            dims = "[[10, 8], [], []]" if values else None
            builder.operator(name, at + 100 + place * operator_us, operator_us, dims=dims, values=values)
    return builder.operator("aten::mean", 4999, 1).build()


def slices_looped(operator_us: float, steps_with: int = 5) -> Trace:
    """Ten turns of four operators, one after the other; the last `steps_with` steps have them."""
    source = python_loop_over_slices.SOURCE
    builder = TraceBuilder().operator("aten::stack", 0, 1).context(cell=python_loop_over_slices.Cell(source=source))
    for number, at in enumerate(steps_of(5)):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for place in range(40 if number >= 5 - steps_with else 0):
            name = python_loop_over_slices.TURN[place % 4]
            values = f'["", "1", "{place // 4}"]' if place % 4 == 0 else None
            dims = "[[8, 10, 32], [], []]" if values else None
            builder.operator(name, at + 100 + place * operator_us, operator_us, dims=dims, values=values)
    return builder.operator("aten::mean", 4999, 1).build()


def slowly(gap_us: float) -> Trace:
    """Kernels of 9 µs that begin 6 µs after their launches; nothing but Python between them."""
    builder, every = TraceBuilder(), gap_us + 9
    for number in range(100):
        builder.kernel("add", number * every + 6, 9, launch_at_us=number * every)
    return builder.step(0, 100 * every).operator("aten::linear", 0, 100 * every).build()


def batches(small_us: float, large_us: float, idle_us: float = 0) -> Trace:
    """A kernel of few blocks, one of many, and nothing, on a device with memory."""
    builder = TraceBuilder().context(allocators=(allocator(2, 3),))
    builder.device(0, "NVIDIA Test", memory_bytes=16 * GIB, multiprocessors=100, max_threads_per_multiprocessor=2048)
    for at in range(1000, 2000, 100):
        builder.kernel("gemm_a", at, small_us, launch_at_us=at, blocks=40, block_threads=256)
        if large_us:
            builder.kernel("gemm_b", at + small_us, large_us, launch_at_us=at + 5, blocks=4000, block_threads=256)
    return builder.operator("aten::mm", 0, 2000).step(1000, 1000).build()


def products(size: int) -> Trace:
    builder = TraceBuilder()
    for at in range(0, 1000, 100):
        types, dims = '["c10::BFloat16", "c10::BFloat16"]', f"[[1, {size}], [{size}, {size}]]"
        builder.operator("aten::mm", at, 20, dims=dims, types=types)
        builder.kernel("gemvx_kernel<__nv_bfloat16>", at, 60, launch_at_us=at)
        builder.operator("aten::cumsum", at + 30, 10).kernel("scan", at + 60, 40, launch_at_us=at + 30)
    return builder.build()


def peers(readings: int = 20, busy_us: float = 100, used_gib: float = 0) -> Trace:
    devices = (Device(id=0, name="A"), Device(id=1, name="B"))
    static = tuple(DeviceFacts(torch_index=each, processes_end=()) for each in (0, 1))
    log = ReadingLog(static=static)
    builder = TraceBuilder().context(environment=Environment(devices=devices), sampling=log.facts_dict())
    for at in range(0, 1000, 100):
        builder.kernel("gemm", at, busy_us, device=0)
    builder.optimizer_step("SGD", 0, 10).operator("aten::mm", 0, 1000)
    for tick in range(readings):
        builder.sample(tick, device=0, utilisation_percent=95.0)
        builder.sample(tick, device=1, utilisation_percent=0.0, memory_used_bytes=int(used_gib * GIB))
    return builder.build()


def collections(number: int) -> Trace:
    builder = TraceBuilder()
    for at in steps_of():
        builder.step(at, 1000).operator("aten::mm", at, 1000)
    starts = tuple(500_000 + 1_000_000 * each for each in range(number))
    garbage = Garbage(collections=number, start_ns=starts, duration_ns=(100_000,) * number, generation=(2,) * number)
    return builder.context(garbage=garbage).build()


def passes(steps: int = 10, operators: int = 5, with_graph: int = 10, peak_gib: float | None = None) -> Trace:
    builder, number = run(allocators=(allocator(peak_gib, 15),)) if peak_gib else TraceBuilder(), 7
    for step, at in enumerate(steps_of(steps)):
        builder.step(at, 1000)
        for place in range(operators):
            builder.operator("aten::addmm", at + 100 * place, 90, sequence=number if step < with_graph else -1)
            number += step < with_graph
    return builder.build()


def started(steps: int) -> Trace:
    builder = TraceBuilder().step(0, 3000).operator("aten::mm", 0, 3000)
    for number in range(steps - 1):
        builder.step(3000 + 100 * number, 100).operator("aten::mm", 3000 + 100 * number, 100)
    return builder.build()


def allocating(steps: int = 6, with_calls: int = 5) -> Trace:
    """The first step is warm-up; of the others the last `with_calls` fetch memory and give it back."""
    builder = TraceBuilder()
    for step, at in enumerate(steps_of(steps, 10_000)):
        builder.step(at, 10_000)
        for number in range(30 if step >= steps - with_calls else 0):
            begin = at + 200 * number
            builder.operator("aten::empty", begin, 10).call("hipMalloc", begin, 1)
            builder.operator("ReluBackward0", begin + 20, 180).call("hipFree", begin + 20, 99)
        builder.kernel("gemm", at + 7000, 2900, launch_at_us=at + 6990)
        builder.operator("aten::item", at + 7000, 2915).sync(at + 7005, 2905)
    return builder.build()


def emptying(each_us: float) -> Trace:
    return empty_cache_in_step._steps(each_us).build()


def emptied(steps_with: int) -> Trace:
    """Steps of 1 ms; the last of the ten free memory twice, for 50 µs."""
    builder = TraceBuilder()
    for number, at in enumerate(steps_of()):
        builder.step(at, 1000).operator("aten::mm", at, 400)
        builder.kernel("gemm", at + 200, 300, launch_at_us=at + 190)
        builder.operator("aten::item", at + 405, 110).sync(at + 410, 100)
        if number >= 10 - steps_with:
            builder.call("cudaFree", at + 550, 25).call("cudaFree", at + 576, 25)
    return builder.operator("aten::mm", 9_990, 10).build()


def synchronised(waits: int) -> Trace:
    builder = TraceBuilder()
    for number, at in enumerate(steps_of(3)):
        builder.step(at, 1000).kernel("gemm", at + 7, 800, launch_at_us=at)
        if number < waits:
            builder.sync(at + 10, 810, "cudaDeviceSynchronize")
    return builder.kernel("gemm", 3_008, 1, launch_at_us=3_000).build()


def scored(peak_gib: float, reserved_gib: float) -> Trace:
    builder = run(allocators=(allocator(peak_gib, reserved_gib),))
    types = '["float", "long int"]'
    return builder.operator("aten::cross_entropy_loss", 10, 20, dims="[[8192, 90000], [8192]]", types=types).build()


def stateful(peak_gib: float, reserved_gib: float) -> Trace:
    parts, optimizers = (weighed(2, 2, 5),), (adam(5 * GIB // 8),)
    return run(allocators=(allocator(peak_gib, reserved_gib),), compositions=parts, optimizers=optimizers).build()


def held(peak_gib: float) -> Trace:
    tensors = (tensors_held_by_notebook._held("old", "global", 900),)
    return run(held=tensors, allocators=(allocator(peak_gib, 13),)).build()


def linked(below: int = 10, copy_us: float = 100) -> Trace:
    """Ten readings of a link of 16 lanes, some of them with 4."""
    builder = TraceBuilder()
    for at in steps_of():
        builder.step(at, 1000).copy("h2d", at, copy_us, bytes=50_000, host_memory="pinned", launch_at_us=at)
        builder.kernel("gemm", at + copy_us, 1000 - copy_us, launch_at_us=at + 10)
    for tick in range(10):
        lanes = 4 if tick < below else 16
        builder.sample(100 * tick, utilisation_percent=90, pcie_generation=4, pcie_width=lanes)
    facts = DeviceFacts(name="Test GPU", pcie_max_generation=4, pcie_max_width=16)
    return builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()


def updated(optimizer_us: float, idle_us: float) -> Trace:
    """Steps of 1 ms on a device whose memory is half empty."""
    builder = run(allocators=(allocator(7, 8),), loaders=(Loader(workers=0, batch_size=8),))
    for at in range(1000, 4000, 1000):
        builder.step(at, 1000).kernel("gemm", at, 1000 - optimizer_us - idle_us, launch_at_us=at)
        builder.optimizer_step("AdamW", at + 500, 100)
        builder.kernel("fused_adam", at + 1000 - optimizer_us, optimizer_us, launch_at_us=at + 550)
    return builder.build()


EDGES = (
    # of a step of 1 ms
    Edge("copy_round_trip", "cost_share", lambda c, x: trips(x), 29, 30, None, MEDIUM),
    Edge("copy_round_trip", "high_share", lambda c, x: trips(x), 199, 200, MEDIUM, HIGH),
    Edge("host_filled_then_copied", "cost_share", lambda c, x: fills(x), 29, 30, None, MEDIUM),
    Edge("host_filled_then_copied", "high_share", lambda c, x: fills(x), 199, 200, MEDIUM, HIGH),
    Edge("small_h2d_copies", "idle_share", lambda c, x: small_copies(x), 1.96, 1.99, None, LOW),
    Edge("small_h2d_copies", "high_share", lambda c, x: small_copies(x), 12.5, 12.7, MEDIUM, HIGH),
    Edge("widened_before_copy", "saved_share", lambda c, x: widened(x), 39, 40, None, MEDIUM),
    Edge("widened_before_copy", "high_share", lambda c, x: widened(x), 266, 268, MEDIUM, HIGH),
    Edge("widened_before_copy", "steps_share", lambda c, x: widened(steps_with=x), 7, 8, None, MEDIUM),
    # three of eight steps of 1 ms
    Edge("recompiles_in_steady_state", "compile_share", lambda c, x: compiling((3, 5, 8), x), 133, 134, None, MEDIUM),
    Edge("recompiles_in_steady_state", "high_share", lambda c, x: compiling((3, 5, 8), x), 533, 534, MEDIUM, HIGH),
    Edge("recompiles_in_steady_state", "steps", lambda c, x: compiling((3, 5, 8)[:x], 800), 2, 3, None, HIGH),
    # the first is left out
    Edge("rank_straggler", "steps", lambda c, x: ranks(x), 5, 6, ABSTAINS, MEDIUM),
    # of a step of 100 ms
    # of batches of ten samples, beside 100 ms of training each; nine of ten passes, but for 10 µs a sample
    Edge("samples_made_again", "cell_share", lambda c, x: made.epochs(x, training_ms=100), 9.8, 9.9, None, MEDIUM),
    Edge("samples_made_again", "high_share", lambda c, x: made.epochs(x, training_ms=100), 28.5, 29, MEDIUM, HIGH),
    Edge("samples_made_again", "sample_us",
         lambda c, x: made.epochs(5, made.loader(batch_size=x)), 101, 100, None, HIGH),
    Edge("samples_made_again", "compared",
         lambda c, x: made.epochs(5, made.loader(samples_compared=x, samples_same=x)), 15, 16, None, HIGH),
    Edge("slow_transform", "stall_share", lambda c, x: waiting(x), 4.99, 5, None, MEDIUM),
    Edge("slow_transform", "high_share", lambda c, x: waiting(x), 19.9, 20, MEDIUM, HIGH),
    Edge("slow_transform", "samples", lambda c, x: waiting(60, x), 19, 20, ABSTAINS, HIGH),
    Edge("per_sample_fetch", "stall_share", lambda c, x: fetched(x), 4.99, 5, None, MEDIUM),
    Edge("per_sample_fetch", "high_share", lambda c, x: fetched(x), 19.9, 20, MEDIUM, HIGH),
    Edge("per_sample_fetch", "samples", lambda c, x: fetched(60, x), 19, 20, ABSTAINS, HIGH),
    Edge("sync_in_step", "steps", lambda c, x: reads(x, x), 2, 3, None, LOW),
    Edge("sync_in_step", "read_steps_share", lambda c, x: reads(10, x), 8, 9, None, LOW),
    Edge("tensor_by_element", "access_share", lambda c, x: elements(x), 0.41, 0.42, None, MEDIUM),
    Edge("tensor_by_element", "high_share", lambda c, x: elements(x), 1.65, 1.68, MEDIUM, HIGH),
    Edge("tensor_by_element", "steps_share", lambda c, x: elements(steps_with=x), 2, 3, None, HIGH),
    # 30 operators, or 40, of 1 ms
    Edge("python_loop_over_batch", "loop_share", lambda c, x: samples_looped(x), 1.66, 1.67, None, MEDIUM),
    Edge("python_loop_over_batch", "high_share", lambda c, x: samples_looped(x), 6.66, 6.67, MEDIUM, HIGH),
    Edge("python_loop_over_slices", "loop_share", lambda c, x: slices_looped(x), 1.24, 1.26, None, MEDIUM),
    Edge("python_loop_over_slices", "high_share", lambda c, x: slices_looped(x), 4.99, 5, MEDIUM, HIGH),
    Edge("python_loop_over_slices", "steps_share", lambda c, x: slices_looped(10, x), 2, 3, None, HIGH),
    # gaps of x less 9 µs
    Edge("launch_bound", "high_share", lambda c, x: paced(x), 17.9, 18.1, MEDIUM, HIGH),
    Edge("launch_bound", "gap_us", lambda c, x: slowly(x), 1001, 1000, None, HIGH),
    # of 100 µs
    Edge("small_batch", "small_share", lambda c, x: batches(x, 100 - x), 49, 50, None, MEDIUM),
    Edge("small_batch", "compute_share", lambda c, x: batches(x, 0), 29, 30, None, MEDIUM),
    # 1448² bf16 are just under 4 MiB
    Edge("weights_bound_inference", "weight_mib", lambda c, x: products(x), 1448, 1449, None, MEDIUM),
    Edge("idle_peer_devices", "readings", lambda c, x: peers(x), 4, 5, None, LOW),
    Edge("idle_peer_devices", "compute_share", lambda c, x: peers(busy_us=x), 49, 50, None, LOW),
    Edge("idle_peer_devices", "used_gib", lambda c, x: peers(used_gib=x), 2, 1.99, None, LOW),
    Edge("gc_pauses", "collections", lambda c, x: collections(x), 2, 3, None, LOW),
    Edge("grad_in_inference", "steps", lambda c, x: passes(x), 2, 3, None, LOW),
    Edge("grad_in_inference", "nodes", lambda c, x: passes(operators=x), 3, 4, None, LOW),
    Edge("grad_in_inference", "steps_share", lambda c, x: passes(with_graph=x), 8, 9, None, LOW),
    Edge("grad_in_inference", "memory_share", lambda c, x: passes(peak_gib=x), 9.59, 9.61, LOW, MEDIUM),
    Edge("cold_start_dominates", "steps", lambda c, x: started(x), 2, 3, None, LOW),
    Edge("cold_start_dominates", "many_steps", lambda c, x: started(x), 9, 10, LOW, MEDIUM),
    Edge("allocator_calls_in_step", "steps", lambda c, x: allocating(x, x), 2, 3, None, HIGH),
    Edge("allocator_calls_in_step", "steps_share", lambda c, x: allocating(with_calls=x), 3, 4, None, HIGH),
    Edge("empty_cache_in_step", "high_share", lambda c, x: emptying(x), 49.9, 50, MEDIUM, HIGH),
    # of nine steady steps
    Edge("empty_cache_in_step", "steps_share", lambda c, x: emptied(x), 7, 8, None, MEDIUM),
    Edge("explicit_synchronize", "waits", lambda c, x: synchronised(x), 1, 2, None, MEDIUM),
    # of 16 GiB
    Edge("logits_dominate_peak", "peak_share", lambda c, x: scored(x, 9), 7.99, 8, None, MEDIUM),
    Edge("logits_dominate_peak", "near_limit_share", lambda c, x: scored(8, x), 14.39, 14.41, MEDIUM, HIGH),
    Edge("optimizer_state_dominates", "peak_share", lambda c, x: stateful(x, 12), 9.59, 9.61, None, MEDIUM),
    Edge("optimizer_state_dominates", "near_limit_share", lambda c, x: stateful(10, x), 14.39, 14.41, MEDIUM, HIGH),
    Edge("tensors_held_by_notebook", "peak_share", lambda c, x: held(x), 9.59, 9.61, LOW, MEDIUM),
    Edge("memory_unused", "compute_share", lambda c, x: updated(200, 1000 - x), 699, 700, None, MEDIUM),
    Edge("pcie_link_degraded", "below_share", lambda c, x: linked(x), 8, 9, None, MEDIUM),
    Edge("pcie_link_degraded", "exposed_share", lambda c, x: linked(copy_us=x), 29, 30, LOW, MEDIUM),
    # 1.25 times what is left less 120 µs for each gradient, 2% of it, and 3 for the rows of an update of 100 µs: of a
    # step of 10 ms
    Edge("dense_embedding_gradients", "saved_share", lambda c, x: tables(x), 431, 432, None, MEDIUM),
    Edge("dense_embedding_gradients", "high_share", lambda c, x: tables(x), 2064, 2065, MEDIUM, HIGH),
)  # fmt: skip


def ranks(steps: int) -> Any:
    late = rank_straggler.rank(1, 2_000, wait_us=2_000, steps=steps)
    return rank_straggler.Results(rank_straggler.rank(0, steps=steps), (late, rank_straggler.rank(2, steps=steps)))


def tables(backward_us: float) -> Trace:
    return dense_embedding_gradients.training(backward_us=backward_us, update_us=100).build()


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.rule}-{edge.threshold}")
def test_just_under_a_threshold_and_at_it(edge: Edge) -> None:
    before, after = (outcome(edge.rule, edge.build(None, value)) for value in (edge.under, edge.at))
    assert (before, after) == (edge.before, edge.after)
