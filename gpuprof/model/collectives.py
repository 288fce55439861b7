"""What the names of collectives and element types say: the kind, the bytes, and how much of them crosses the bus."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache


class CollectiveKind(StrEnum):
    """What ranks exchange. SEND_RECV is between two ranks, and so no collective in the strict sense."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    BROADCAST = "broadcast"
    SEND_RECV = "send/recv"
    GATHER = "gather"
    SCATTER = "scatter"
    REDUCE = "reduce"
    BARRIER = "barrier"
    OTHER = "other"

    @property
    def meets(self) -> bool:
        """Whether no rank can finish before the last has arrived; a root may send and go on."""
        return self in _MEETING


_MEETING = frozenset(
    {
        CollectiveKind.ALL_REDUCE,
        CollectiveKind.REDUCE_SCATTER,
        CollectiveKind.ALL_GATHER,
        CollectiveKind.ALL_TO_ALL,
        CollectiveKind.BARRIER,
    }
)
# The first that is found decides: "reduce" is in many of them.
_NAMES = (
    ("reducescatter", CollectiveKind.REDUCE_SCATTER),
    ("allreduce", CollectiveKind.ALL_REDUCE),
    ("allgather", CollectiveKind.ALL_GATHER),
    ("alltoall", CollectiveKind.ALL_TO_ALL),
    ("broadcast", CollectiveKind.BROADCAST),
    ("barrier", CollectiveKind.BARRIER),
    ("send", CollectiveKind.SEND_RECV),
    ("recv", CollectiveKind.SEND_RECV),
    ("gather", CollectiveKind.GATHER),
    ("scatter", CollectiveKind.SCATTER),
    ("reduce", CollectiveKind.REDUCE),
)
_TYPES = {
    **dict.fromkeys(("char", "byte", "bool", "signedchar", "unsignedchar", "int8", "uint8"), 1),
    **dict.fromkeys(("half", "bfloat16", "short", "shortint", "int16", "float16"), 2),
    **dict.fromkeys(("float", "int", "int32", "float32"), 4),
    **dict.fromkeys(("double", "long", "longint", "int64", "float64", "complexfloat"), 8),
}


@lru_cache(maxsize=4096)
def kind_of(name: str) -> CollectiveKind:
    """By the name of a kernel, an operator or a range: `ncclDevKernel_AllReduce_Sum_f32`, `gloo:all_reduce`, `send`."""
    letters = re.sub(r"[^a-z]", "", name.lower())
    return next((kind for part, kind in _NAMES if part in letters), CollectiveKind.OTHER)


@lru_cache(maxsize=256)
def element_bytes(type_name: str) -> int | None:
    """Of one element: `Float`, `c10::BFloat16`, `long int`, `Float8_e4m3fn`; None for a type that is not known."""
    bare = type_name.rpartition("::")[2].lower().replace(" ", "").replace("_", "")
    return 1 if bare.startswith("float8") else _TYPES.get(bare)


def buffer_elements(kind: CollectiveKind, in_elements: int, out_elements: int, size: int) -> int:
    """Elements of the buffer whose bytes NCCL's tests divide by the time; -1 where not known (as the arguments).

    For a gather the sum over the `size` ranks of the group, for a reduce-scatter all that each puts in.
    https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    if kind is CollectiveKind.ALL_GATHER:
        return out_elements if out_elements >= 0 else in_elements * size if min(in_elements, size) > 0 else -1
    return in_elements if in_elements >= 0 else -1 if kind is CollectiveKind.REDUCE_SCATTER else out_elements


def bus_factor(kind: CollectiveKind, size: int) -> float | None:
    """Bytes over the bus ÷ bytes of the buffer, for a group of `size` ranks; None where it is not defined.

    All-reduce 2(n−1)/n; all-gather, reduce-scatter and all-to-all (n−1)/n; broadcast, reduce and send/recv 1:
    https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    if size < 2:
        return None
    if kind is CollectiveKind.ALL_REDUCE:
        return 2 * (size - 1) / size
    if kind in (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL):
        return (size - 1) / size
    return 1.0 if kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE, CollectiveKind.SEND_RECV) else None
