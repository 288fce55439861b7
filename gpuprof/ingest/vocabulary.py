"""What the names of calls, copies and kernels say, for CUDA, ROCm, XPU and MTIA."""

from __future__ import annotations

import re

from gpuprof.model.kinds import CallKind, CopyKind, HostMemory

# The first that matches decides: a graph launch is also a "Launch".
_CALLS: tuple[tuple[re.Pattern[str], CallKind], ...] = (
    (re.compile(r"GraphLaunch"), CallKind.GRAPH),
    (re.compile(r"Graph|GetAttribute|LaunchHostFunc"), CallKind.OTHER),
    (re.compile(r"Launch|^runFunction"), CallKind.KERNEL),
    (re.compile(r"Memcpy|MemoryCopy|^enqueueCommand memcpy"), CallKind.COPY),
    (re.compile(r"Memset|MemoryFill"), CallKind.MEMSET),
    (re.compile(r"Synchronize|^synchronize"), CallKind.SYNCHRONIZE),
    (re.compile(r"StreamWaitEvent|^enqueueCommand waitOnEvent"), CallKind.EVENT_WAIT),
    (re.compile(r"EventRecord|^recordEvent"), CallKind.EVENT_RECORD),
    (re.compile(r"EventQuery|StreamQuery"), CallKind.EVENT_QUERY),
    (re.compile(r"Malloc|HostAlloc|MemAlloc|MemCreate"), CallKind.ALLOCATE),
    (re.compile(r"Free|MemRelease"), CallKind.FREE),
)

_DIRECTIONS = (
    (re.compile(r"HtoD|HostToDevice|H2D"), CopyKind.H2D),
    (re.compile(r"DtoH|DeviceToHost|D2H"), CopyKind.D2H),
    (re.compile(r"DtoD|DeviceToDevice|D2D"), CopyKind.D2D),
    (re.compile(r"PtoP|PeerToPeer|P2P"), CopyKind.P2P),
    (re.compile(r"HtoH|HostToHost|H2H"), CopyKind.H2H),
)

_COLLECTIVE = re.compile(r"(?:^|[^a-z])(?:nccl|rccl|msccl|oneccl)", re.IGNORECASE)
# As Python prints them: <built-in method astype of numpy.ndarray object at 0x7cbf780f01b0>, <built-in function array>
_BUILT_IN = re.compile(r"<built-in (?:method|function) (\S+?)(?: of (.+?)(?: object)? at 0x[0-9a-fA-F]+)?>")
# how c10d names the ranges of its backends
_EXCHANGE_RANGE = re.compile(r"(?:nccl|gloo|mpi|ucc|xccl|hccl):")
_TORCH_SPAN = re.compile(r"ProfilerStep#|enumerate\(DataLoader\)#|Optimizer\.")


def call_kind(name: str) -> CallKind:
    """What a runtime or driver call does, by its name."""
    return next((kind for pattern, kind in _CALLS if pattern.search(name)), CallKind.OTHER)


def copy_kind(name: str) -> CopyKind:
    """The direction of a copy, by its name (`Memcpy HtoD (Pageable -> Device)`)."""
    return next((kind for pattern, kind in _DIRECTIONS if pattern.search(name)), CopyKind.UNKNOWN)


def host_memory(name: str) -> HostMemory:
    """The host side of a copy, by its name; UNKNOWN where it touches the host without saying (ROCm)."""
    if copy_kind(name) in (CopyKind.D2D, CopyKind.P2P):
        return HostMemory.NONE
    if "Pageable" in name:
        return HostMemory.PAGEABLE
    return HostMemory.PINNED if "Pinned" in name else HostMemory.UNKNOWN


def is_collective(name: str) -> bool:
    """Whether the kernel is a collective's."""
    return _COLLECTIVE.search(name) is not None


def is_exchange_range(name: str) -> bool:
    """Whether c10d marks an exchange between ranks with a range of this name."""
    return _EXCHANGE_RANGE.match(name) is not None


def is_torch_span(name: str) -> bool:
    """Whether torch itself marks a range with this name. Traces of 2021 file such ranges under operators."""
    return _TORCH_SPAN.match(name) is not None


def function_name(name: str) -> str:
    """The name of a Python function in a profiler's stack; a built-in's without the address of what it belongs to."""
    found = _BUILT_IN.fullmatch(name)
    if found is None:
        return name
    method, owner = found.groups()
    return f"{owner}.{method}" if owner and owner != "type" else str(method)
