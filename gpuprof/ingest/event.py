"""One event as Kineto writes it, and what its categories mean.

Numbers are `Any` on purpose: some exporters write them as text, and one odd value must not spoil a file. Only the
fields of these structures are built; everything else in an event is skipped by the parser.
"""

from __future__ import annotations

from typing import Any

import msgspec

Scalar = str | int | float | bool | None
NO_TEXT = msgspec.Raw(b"")


class Args(msgspec.Struct, gc=False):
    """The `args` of an event; -1 where a number is absent."""

    external_id: Any = msgspec.field(default=-1, name="External id")
    external_id_2021: Any = msgspec.field(default=-1, name="external id")
    correlation: Any = -1
    sequence: Any = msgspec.field(default=-1, name="Sequence number")
    forward_thread: Any = msgspec.field(default=-1, name="Fwd thread id")
    input_dims: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input Dims")
    input_dims_2021: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input dims")
    input_types: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input type")
    input_values: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Concrete Inputs")
    device: Any = -1
    stream: Any = -1
    bytes: Any = -1
    grid: Any = None
    block: Any = None
    occupancy: Any = msgspec.field(default=None, name="est. achieved occupancy %")
    warps: Any = msgspec.field(default=None, name="warps per SM")
    collective: Any = msgspec.field(default=None, name="Collective name")
    group: Any = msgspec.field(default=None, name="Process Group Name")
    group_description: Any = msgspec.field(default=None, name="Process Group Description")
    group_ranks: Any = msgspec.field(default=None, name="Process Group Ranks")
    group_size: Any = msgspec.field(default=-1, name="Group size")
    in_elements: Any = msgspec.field(default=-1, name="In msg nelems")
    out_elements: Any = msgspec.field(default=-1, name="Out msg nelems")
    element_type: Any = msgspec.field(default=None, name="dtype")
    source_rank: Any = msgspec.field(default=-1, name="Src Rank")
    destination_rank: Any = msgspec.field(default=-1, name="Dst Rank")
    collective_number: Any = msgspec.field(default=-1, name="Seq")
    awaited_stream: Any = msgspec.field(default=-1, name="wait_on_stream")
    awaited_correlation: Any = msgspec.field(default=-1, name="wait_on_cuda_event_record_corr_id")
    device_type: Any = msgspec.field(default=-1, name="Device Type")
    device_id: Any = msgspec.field(default=-1, name="Device Id")
    address: Any = msgspec.field(default=-1, name="Addr")
    memory_bytes: Any = msgspec.field(default=0, name="Bytes")
    allocated: Any = msgspec.field(default=-1, name="Total Allocated")
    reserved: Any = msgspec.field(default=-1, name="Total Reserved")
    thread_name: Any = msgspec.field(default=None, name="name")
    direction: Any = None
    size: Any = -1


class Event(msgspec.Struct, gc=False):
    """One element of `traceEvents`. `ts` and `dur` are µs."""

    ph: str | None = None
    cat: str | None = None
    name: Scalar = ""
    pid: Scalar = -1
    tid: Scalar = -1
    ts: Any = None
    dur: Any = 0
    args: Args | None = None


class EventTime(msgspec.Struct, gc=False):
    """The same element, of which only the text of `ts` is wanted."""

    ts: msgspec.Raw = NO_TEXT


NO_ARGS = Args()

# The range of the whole recording: it ends when the profiler stopped, before it prepared its results.
RECORDED_CATEGORY, RECORDED_NAME = "Trace", "PyTorch Profiler"

KERNEL = ("kernel", "Kernel")
COPY = ("gpu_memcpy", "Memcpy")
MEMSET = ("gpu_memset", "Memset")

_CATEGORIES = {
    "operators": ("cpu_op", "Operator"),
    "user_ranges": ("user_annotation",),
    "calls": (
        *("cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver"),
        *("privateuse1_runtime", "privateuse1_driver"),
    ),
    "device_events": (*KERNEL, *COPY, *MEMSET),
    "syncs": ("cuda_sync",),
    "frames": ("python_function",),
    "memory": ("cpu_instant_event",),
}

# Accelerators whose work is not read: how their categories begin.
UNREAD_ACCELERATORS = ("mtia_insight", "hpu", "npu", "tpu", "xla", "mps", "neuron")

# The table of each category. Traces of 2021 give `[memory]` and metadata no category at all.
TABLE_OF: dict[str | None, str] = {
    category: table for table, categories in _CATEGORIES.items() for category in categories
} | {None: "memory"}
