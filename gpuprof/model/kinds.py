"""The small closed vocabularies that tables store as uint8."""

from __future__ import annotations

from enum import IntEnum


class CallKind(IntEnum):
    """What a runtime or driver call does. A *launch* is a call that enqueues device work: KERNEL to GRAPH."""

    OTHER = 0
    KERNEL = 1
    COPY = 2
    MEMSET = 3
    GRAPH = 4
    SYNCHRONIZE = 5
    ALLOCATE = 6
    FREE = 7
    EVENT_RECORD = 8
    EVENT_WAIT = 9
    EVENT_QUERY = 10

    @property
    def is_launch(self) -> bool:
        """Whether the call enqueues device work."""
        return CallKind.KERNEL <= self <= CallKind.GRAPH


class DeviceEventKind(IntEnum):
    """What the device was doing. A copy never counts as a kernel."""

    KERNEL = 0
    COPY = 1
    MEMSET = 2


class CopyKind(IntEnum):
    """The direction of a copy; NONE for what is not a copy."""

    NONE = 0
    H2D = 1
    D2H = 2
    D2D = 3
    P2P = 4
    H2H = 5
    UNKNOWN = 6


class HostMemory(IntEnum):
    """The host side of a copy. ROCm traces hide it: UNKNOWN."""

    NONE = 0
    PAGEABLE = 1
    PINNED = 2
    UNKNOWN = 3


class MemoryDevice(IntEnum):
    """torch's DeviceType as it stands in `[memory]` rows."""

    CPU = 0
    CUDA = 1
    HIP = 6


class ValueKind(IntEnum):
    """What the content of a storage is to a model or an optimizer of the cell."""

    OTHER = 0
    PARAMETER = 1
    BUFFER = 2
    GRADIENT = 3
    OPTIMIZER_STATE = 4


class ZeroPattern(IntEnum):
    """Where a matrix that is mostly zeros has its other elements. Rows are what lies together in memory: a matrix that
    is read transposed has its rows as columns. ONE_HOT: a single element that is not zero, and that one is 1.

    Of numbers that index an embedding, padding is counted instead of zeros: PADDED_LENGTH where all rows of the batch
    are padded at some positions, PADDED_ROWS where the longest row is not.
    """

    NONE = 0
    DIAGONAL = 1
    ONE_HOT_ROWS = 2
    ONE_HOT_COLUMNS = 3
    PADDED_ROWS = 4
    PADDED_LENGTH = 5


class NodeFate(IntEnum):
    """What became of the node that autograd recorded for an operator, by the end of the look. UNKNOWN: none was
    recorded, or nothing read its result, so that the node was not followed."""

    UNKNOWN = 0
    KEPT = 1
    FREED = 2


# by the name that a column gives as its unit
VOCABULARIES: dict[str, type[IntEnum]] = {
    each.__name__: each
    for each in (CallKind, DeviceEventKind, CopyKind, HostMemory, MemoryDevice, NodeFate, ValueKind, ZeroPattern)
}
