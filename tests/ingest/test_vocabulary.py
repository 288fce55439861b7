from __future__ import annotations

import pytest

from gpuprof.ingest.vocabulary import call_kind, copy_kind, function_name, host_memory, is_collective, is_torch_span
from gpuprof.model.kinds import CallKind, CopyKind, HostMemory


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (CallKind.KERNEL, "cudaLaunchKernel cudaLaunchKernelExC cuLaunchKernel cuLaunchKernelEx hipLaunchKernel"),
        (CallKind.KERNEL, "hipExtModuleLaunchKernel cudaLaunchCooperativeKernel hipModuleLaunchKernel"),
        (CallKind.GRAPH, "cudaGraphLaunch hipGraphLaunch"),
        (CallKind.COPY, "cudaMemcpyAsync cudaMemcpy hipMemcpyWithStream hipMemcpyAsync cuMemcpyHtoDAsync"),
        (CallKind.MEMSET, "cudaMemsetAsync hipMemsetAsync cuMemsetD32Async"),
        (CallKind.SYNCHRONIZE, "cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize hipDeviceSynchronize"),
        (CallKind.EVENT_WAIT, "cudaStreamWaitEvent hipStreamWaitEvent"),
        (CallKind.EVENT_RECORD, "cudaEventRecord cudaEventRecordWithFlags hipEventRecord"),
        (CallKind.EVENT_QUERY, "cudaEventQuery cudaStreamQuery"),
        (CallKind.ALLOCATE, "cudaMalloc cudaHostAlloc cudaMallocHost hipMalloc hipHostMalloc cuMemCreate"),
        (CallKind.FREE, "cudaFree cudaFreeHost hipFree"),
        (CallKind.OTHER, "cudaStreamIsCapturing cudaFuncGetAttributes cudaLaunchHostFunc cudaGraphAddMemcpyNode"),
        (CallKind.OTHER, "cudaGetDevice cudaMemGetInfo cudaPointerGetAttributes cudaGraphInstantiate"),
    ],
)
def test_calls(kind: CallKind, names: str) -> None:
    assert {name: call_kind(name) for name in names.split()} == dict.fromkeys(names.split(), kind)


@pytest.mark.parametrize(
    ("name", "direction", "host"),
    [
        ("Memcpy HtoD (Pageable -> Device)", CopyKind.H2D, HostMemory.PAGEABLE),
        ("Memcpy HtoD (Pinned -> Device)", CopyKind.H2D, HostMemory.PINNED),
        ("Memcpy DtoH (Device -> Pageable)", CopyKind.D2H, HostMemory.PAGEABLE),
        ("Memcpy HtoD (Host -> Device)", CopyKind.H2D, HostMemory.UNKNOWN),
        ("CopyDeviceToHost", CopyKind.D2H, HostMemory.UNKNOWN),
        ("Memcpy DtoD (Device -> Device)", CopyKind.D2D, HostMemory.NONE),
        ("Memcpy PtoP (Device -> Device)", CopyKind.P2P, HostMemory.NONE),
        ("Memcpy HtoH (Pinned -> Pinned)", CopyKind.H2H, HostMemory.PINNED),
        ("Memcpy Unknown", CopyKind.UNKNOWN, HostMemory.UNKNOWN),
    ],
)
def test_copies(name: str, direction: CopyKind, host: HostMemory) -> None:
    assert (copy_kind(name), host_memory(name)) == (direction, host)


@pytest.mark.parametrize(
    ("name", "collective"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", True),
        ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", True),
        ("void rcclGenericKernel<1, true>", True),
        ("void at::native::vectorized_elementwise_kernel<4>", False),
        ("synccl_like_name", False),
    ],
)
def test_collectives(name: str, collective: bool) -> None:
    assert is_collective(name) is collective


@pytest.mark.parametrize(
    ("name", "span"),
    [
        ("ProfilerStep#12", True),
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", True),
        ("Optimizer.zero_grad#SGD.zero_grad", True),
        ("aten::mm", False),
        ("MyOptimizer.step", False),
    ],
)
def test_ranges_of_torch(name: str, span: bool) -> None:
    assert is_torch_span(name) is span


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("<built-in method astype of numpy.ndarray object at 0x7cbf780f01b0>", "numpy.ndarray.astype"),
        ("<built-in method linear of type object at 0x7f0e>", "linear"),
        ("<built-in function array>", "array"),
        ("train.py(12): step", "train.py(12): step"),
        ("<built-in method with a space of x>", "<built-in method with a space of x>"),
    ],
)
def test_a_function_is_named_without_an_address(name: str, function: str) -> None:
    assert function_name(name) == function
