"""Every table of a Trace: columns, dtypes, units, meanings. The reference page is generated from here.

Times are int64 ns since the Unix epoch (or since the trace's own origin where it carries none). `name` columns hold
indices into `Trace.names`. Missing values: -1 for integers, NaN for floats.
"""

from __future__ import annotations

from gpuprof.model.look_schema import LOOKED
from gpuprof.model.table import Column, TableSchema

_START = Column("start_ns", "int64", "ns", "when it began")
_DURATION = Column("duration_ns", "int64", "ns", "how long it took")
_NAME = Column("name", "int32", "index of names", "its name")
_THREAD = Column("thread", "int32", "row of threads", "the host thread it ran on")
_STEP = Column("step", "int32", "row of steps", "the step in which it began; -1 outside every step")
_CORRELATION = Column(
    "correlation", "int64", "id", "joins a call to the device work it enqueued; a graph launch shares one id"
)

OPERATORS = TableSchema(
    "operators",
    "one framework call on the host, such as aten::mm",
    (
        _START,
        _DURATION,
        _THREAD,
        _NAME,
        Column("external_id", "int64", "id", "Kineto's id of the operator, shared by the device work it caused"),
        Column("sequence", "int64", "id", "autograd sequence number: of a node its own, else the next to be given"),
        Column("forward_thread", "int64", "id", "of a node torch's number of the thread that made it; else 0 or -1"),
        Column("parent", "int32", "row of operators", "the operator around it on the same thread; -1 at the top"),
        Column("depth", "int16", "levels", "how many operators are around it"),
        _STEP,
        Column("input_dims", "int32", "index of names", "the input shapes as recorded, where they were"),
        Column("input_types", "int32", "index of names", "the input types as recorded, where they were"),
        Column(
            "input_values",
            "int32",
            "index of names",
            "the numbers given to a slice, a convolution, fused attention, or the dense gradient of an embedding, as "
            "recorded, where they were",
        ),
    ),
)

SPANS = TableSchema(
    "user_ranges",
    "one user range on the host: record_function, ProfilerStep, DataLoader __next__, Optimizer.step",
    (
        _START,
        _DURATION,
        _THREAD,
        _NAME,
        _STEP,
    ),
)

CALLS = TableSchema(
    "calls",
    "one runtime or driver call, such as cudaLaunchKernel; a launch is a call that enqueues device work",
    (
        _START,
        _DURATION,
        _THREAD,
        _NAME,
        Column("kind", "uint8", "CallKind", "what the call does"),
        _CORRELATION,
        Column("operator", "int32", "row of operators", "the innermost operator around the call; -1 if none"),
        _STEP,
    ),
)

DEVICE_EVENTS = TableSchema(
    "device_events",
    "one kernel, copy or memset on a device",
    (
        _START,
        _DURATION,
        _NAME,
        Column("kind", "uint8", "DeviceEventKind", "kernel, copy or memset"),
        Column("device", "int32", "device id", "the device as the trace numbers it"),
        Column("stream", "int64", "stream id", "the ordered queue it ran on"),
        _CORRELATION,
        Column("call", "int32", "row of calls", "the launch that enqueued it; -1 where none matches"),
        Column("operator", "int32", "row of operators", "the operator that caused it; -1 if unknown"),
        Column(
            "step", "int32", "row of steps", "the step whose launch caused it (its own start where no launch matches)"
        ),
        Column("copy", "uint8", "CopyKind", "direction of a copy"),
        Column("host_memory", "uint8", "HostMemory", "pageable or pinned, for copies that touch the host"),
        Column("bytes", "int64", "bytes", "bytes copied or set"),
        Column("collective", "bool", "", "whether it is a collective's kernel (NCCL, RCCL)"),
        Column("blocks", "int64", "thread blocks", "grid size of a kernel"),
        Column("block_threads", "int32", "threads", "threads in one block"),
        Column("occupancy_percent", "float32", "percent", "estimated achieved occupancy, as the profiler gives it"),
    ),
)

COLLECTIVES = TableSchema(
    "collectives",
    "one exchange between ranks as the profiler describes it: a kernel, record_param_comms, or a range with its shapes",
    (
        _START,
        _DURATION,
        _NAME,
        Column("thread", "int32", "row of threads", "the host thread it ran on; -1 for a kernel"),
        _CORRELATION,
        Column("external_id", "int64", "id", "that of the operator"),
        Column("group", "int32", "index of names", "the name of the process group, where recorded"),
        Column("group_description", "int32", "index of names", "what the program calls it, such as mesh_tp"),
        Column("group_ranks", "int32", "index of names", "its ranks as text, such as [0, 1]"),
        Column("group_size", "int32", "ranks", "how many ranks it has"),
        Column("in_elements", "int64", "elements", "what this rank puts in"),
        Column("out_elements", "int64", "elements", "what this rank gets"),
        Column("element_type", "int32", "index of names", "the type of an element, such as Float"),
        Column("source_rank", "int32", "rank", "who sends, of a send or receive"),
        Column("destination_rank", "int32", "rank", "who receives, of a send or receive"),
        Column("number", "int64", "count", "its number within the process group, where recorded"),
    ),
)

SYNCS = TableSchema(
    "syncs",
    "one synchronisation as CUPTI reports it (cuda_sync)",
    (
        _START,
        _DURATION,
        _NAME,
        Column("device", "int32", "device id", "the device waited for"),
        Column("stream", "int64", "stream id", "the stream waited for or waiting; -1 for all"),
        _CORRELATION,
        Column("call", "int32", "row of calls", "the host call that waits; -1 where none matches"),
        Column(
            "awaited_correlation", "int64", "id", "for a stream wait: the correlation of the EventRecord it waits for"
        ),
    ),
)

MEMORY = TableSchema(
    "memory",
    "one allocation or release by torch's allocators ([memory] rows)",
    (
        Column("time_ns", "int64", "ns", "when"),
        _THREAD,
        Column("bytes", "int64", "bytes", "bytes allocated (positive) or released (negative)"),
        Column("device_type", "uint8", "MemoryDevice", "CPU, CUDA or HIP"),
        Column("device", "int32", "device id", "which device; -1 for the host"),
        Column("address", "int64", "address", "start of the block (kept modulo 2**63)"),
        Column("allocated_bytes", "int64", "bytes", "live bytes after it, where recorded"),
        Column("reserved_bytes", "int64", "bytes", "bytes held by the caching allocator after it, where recorded"),
    ),
)

FRAMES = TableSchema(
    "frames",
    "one Python call (python_function), recorded with stacks",
    (
        _START,
        _DURATION,
        _THREAD,
        _NAME,
        Column("parent", "int32", "row of frames", "the frame around it on the same thread; -1 at the top"),
        _STEP,
    ),
)

STEPS = TableSchema(
    "steps",
    "one training or inference iteration on the main host thread",
    (
        _START,
        _DURATION,
        Column("number", "int64", "step number", "the step's own number, or its order from 0"),
    ),
)

THREADS = TableSchema(
    "threads",
    "one host thread",
    (
        Column("pid", "int64", "process id", "its process"),
        Column("tid", "int64", "thread id", "its id as the trace gives it"),
        _NAME,
    ),
)

DEVICE_READINGS = TableSchema(
    "device_readings",
    "one NVML reading of one device; -1 or NaN where the metric was not read at that tick",
    (
        Column("time_ns", "int64", "ns", "midpoint of the reading, Unix time"),
        Column("monotonic_ns", "int64", "ns", "the same instant by time.perf_counter_ns: shows a clock step"),
        Column("device", "int32", "row of the sampled devices", "which of the sampled devices"),
        Column("utilisation_percent", "float32", "percent", "share of NVML's last period with any kernel resident"),
        Column(
            "memory_utilisation_percent",
            "float32",
            "percent",
            "share of the period with device memory being read or written",
        ),
        Column(
            "memory_used_bytes",
            "int64",
            "bytes",
            "used on the whole device: every process and the driver's own reserve",
        ),
        Column(
            "power_mw",
            "int64",
            "mW",
            "power draw; instant or the driver's 1 s average, as power_source of the device says",
        ),
        Column("temperature_c", "float32", "°C", "GPU temperature"),
        Column("sm_clock_mhz", "int32", "MHz", "SM clock"),
        Column("memory_clock_mhz", "int32", "MHz", "memory clock"),
        Column("clock_reasons", "int64", "NVML bit mask", "why clocks are below their maximum"),
        Column("pcie_generation", "int32", "generation", "current PCIe link generation (drops when idle)"),
        Column("pcie_width", "int32", "lanes", "current PCIe link width"),
        Column("call_ns", "int64", "ns", "how long the reading took"),
    ),
)

HOST_READINGS = TableSchema(
    "host_readings",
    "one reading of this process",
    (
        Column("time_ns", "int64", "ns", "when, Unix time"),
        Column("resident_bytes", "int64", "bytes", "resident memory of the process"),
        Column("cpu_percent", "float32", "percent", "CPU use of the process since the last reading; 100 is one core"),
        Column("children_cpu_percent", "float32", "percent", "the same, of its child processes (DataLoader workers)"),
        Column("children_resident_bytes", "int64", "bytes", "resident memory of its child processes"),
        Column("main_thread_percent", "float32", "percent", "time since the last reading that its main thread ran"),
        Column(
            "main_core_wait_percent",
            "float32",
            "percent",
            "time since the last reading that its main thread was ready to run but had no core (Linux)",
        ),
        Column(
            "other_cpu_percent",
            "float32",
            "percent",
            "CPU use of other programs since the last reading that tells it, on the cores that the process may run on"
            " (Linux)",
        ),
    ),
)

LINE_EVENTS = TableSchema(
    "line_events",
    "one change of the line that runs on a host thread; it holds until the thread's next row",
    (
        Column("time_ns", "int64", "ns", "when, Unix time"),
        Column("tid", "int64", "thread id", "the thread's id as the system gives it: tid in threads"),
        Column("source_file", "int32", "row of the followed files", "0: the profiled cell; -1: no followed code runs"),
        Column("line", "int32", "line", "the line, from 1; -1: no followed code runs"),
        Column("cell_line", "int32", "line", "the line of the profiled cell that led here; -1 if none"),
        Column("begins", "bool", "", "whether the line begins; False where a call in it has returned"),
    ),
)

ITERATIONS = TableSchema(
    "iterations",
    "one iteration of the whole cell, by light hooks: from the end of one optimizer step, or batch, to the next",
    (
        Column("start_ns", "int64", "ns", "when it began, Unix time"),
        Column("duration_ns", "int64", "ns", "how long it took"),
        Column("optimizer_ns", "int64", "ns", "in steps of optimizers, their closures apart; -1 where none stepped"),
        Column("plain", "bool", "", "whether nothing of it was recorded: it ran as it does without gpuprof"),
    ),
)

STACK_NODES = TableSchema(
    "stack_nodes",
    "one frame below its caller, in the tree of all stacks that were sampled",
    (
        Column("parent", "int32", "row of stack_nodes", "the frame that called it; -1: the first of the user's code"),
        Column("sampled_file", "int32", "row of the sampled files", "0: the profiled cell"),
        Column("function", "int32", "row of the sampled functions", "its function, with the class it belongs to"),
        Column("line", "int32", "line", "the line in it, from 1; -1: not known"),
    ),
)

STACK_SAMPLES = TableSchema(
    "stack_samples",
    "one stretch of the whole cell in which its thread was seen with one stack",
    (
        Column("start_ns", "int64", "ns", "when it was first seen so, Unix time"),
        Column("duration_ns", "int64", "ns", "until it was first seen otherwise"),
        Column("node", "int32", "row of stack_nodes", "the innermost frame; -1: no code of the user was on the stack"),
    ),
)

STACK_INSTANTS = TableSchema(
    "stack_instants",
    "one look of a thread of gpuprof at the stack, while the kernels were recorded",
    (
        Column("time_ns", "int64", "ns", "when, Unix time"),
        Column("node", "int32", "row of stack_nodes", "the innermost frame; -1: no code of the user was on the stack"),
    ),
)

MODULE_CALLS = TableSchema(
    "module_calls",
    "one call of a torch.nn.Module, forward only, in the recorded part of the cell",
    (
        Column("start_ns", "int64", "ns", "when it began, Unix time"),
        Column("duration_ns", "int64", "ns", "how long it took, the modules that it called included"),
        Column("tid", "int64", "thread id", "the thread's id as the system gives it: tid in threads"),
        Column("module", "int32", "row of the marked modules", "which module was called"),
    ),
)

STACKS = (STACK_NODES, STACK_SAMPLES, STACK_INSTANTS)
# of a Recording, each in a file of its own
LARGE_TABLES = (LINE_EVENTS, ITERATIONS, *STACKS, MODULE_CALLS, *LOOKED)

TABLES: dict[str, TableSchema] = {
    schema.name: schema
    for schema in (
        OPERATORS,
        SPANS,
        CALLS,
        DEVICE_EVENTS,
        COLLECTIVES,
        SYNCS,
        MEMORY,
        FRAMES,
        STEPS,
        THREADS,
        DEVICE_READINGS,
        HOST_READINGS,
        *LARGE_TABLES,
    )
}
