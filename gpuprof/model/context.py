"""What only a live run knows beside the trace: the cell, the environment, the loaders, the window, the outcome.

Everything here is JSON in a Recording's `recording.json` (msgspec checks it on reading). None means *unknown*.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gpuprof.model.device import Device
from gpuprof.model.loading import Loading
from gpuprof.model.look import Look
from gpuprof.model.marked_modules import MarkedModules
from gpuprof.model.memory import Allocator, Composition, DeviceMemory, HeldTensors, StepMemory
from gpuprof.model.operands import MadeValue, Operands


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The profiled cell. `source` is the code below the magic line, with that line kept as a comment."""

    source: str
    execution_count: int | None = None
    name: str | None = None
    filename: str | None = None
    cell_id: str | None = None


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """The machine and the torch flags at the time of the run.

    `cores_allowed`: those that this process may run on; `cores_limit`: how many of them the container's CPU quota is
    worth. `architectures`: what this torch holds device code for (`sm_90`, `compute_90`); known once a device is in
    use."""

    python: str = ""
    torch: str = ""
    gpuprof: str = ""
    system: str = ""
    front_end: str | None = None
    cuda_build: str | None = None
    hip_build: str | None = None
    driver: str | None = None
    devices: tuple[Device, ...] = ()
    processor: str | None = None
    cores_allowed: int | None = None
    cores_limit: float | None = None
    cores_total: int | None = None
    host_memory_bytes: int | None = None
    torch_threads: int | None = None
    matmul_precision: str | None = None
    tf32_matmul: bool | None = None
    tf32_cudnn: bool | None = None
    cudnn_benchmark: bool | None = None
    deterministic: bool | None = None
    anomaly_mode: bool | None = None
    launch_blocking: bool | None = None
    sync_debug_mode: str | None = None
    allocator_config: str | None = None
    architectures: tuple[str, ...] | None = None


class Loader(msgspec.Struct, frozen=True, kw_only=True):
    """One DataLoader that the run iterated.

    `iteration_set_up_ns`: how long each `iter(loader)` took, in which worker processes are started; `wait_ns`: how long
    each batch was waited for. Both with the Unix time at which they began. `iteration_end_ns`: how long each call took
    that found the loader exhausted, in which worker processes are ended.
    `tokens`, `token_positions`, `longest_positions`: real tokens, all positions, and the positions if every batch were
    padded to its own longest sequence, over the first batches whose masks or tokens show where their sequences end;
    None where none did, or nothing was padding.
    `tokens_a_batch`: real tokens in one of those batches, on average, padded or not; None where few of them show it.
    `samples_compared`: how many samples of its dataset were compared with what the same index gave in an earlier pass;
    `samples_same` of them had the same content. `sample_bytes` of one.
    `iterable`: its dataset is an `IterableDataset`, of which each worker reads all samples unless it shares them out.
    `maker`: the package of the framework that made it or reads it; None where none of those that are known did.
    `inner_dataset`: where the dataset is a `Subset` of another, the type of the innermost. `collated_by`: who puts
    samples together to a batch: `torch`, a function of the user's `own`, or `nobody` where the dataset is asked for
    whole batches (`batch_size=None`); None where that is not known.
    """

    workers: int
    batch_size: int | None = None
    batches: int | None = None
    samples: int | None = None
    pin_memory: bool | None = None
    prefetch_factor: int | None = None
    persistent_workers: bool | None = None
    dataset: str | None = None
    iterable: bool | None = None
    line: int | None = None
    iterations_started: int = 0
    iteration_start_ns: tuple[int, ...] = ()
    iteration_set_up_ns: tuple[int, ...] = ()
    iteration_end_ns: tuple[int, ...] = ()
    batches_read: int = 0
    wait_ns: tuple[int, ...] = ()
    wait_start_ns: tuple[int, ...] = ()
    tokens: int | None = None
    token_positions: int | None = None
    longest_positions: int | None = None
    tokens_a_batch: float | None = None
    samples_compared: int = 0
    samples_same: int = 0
    sample_bytes: int | None = None
    maker: str | None = None
    inner_dataset: str | None = None
    collated_by: str | None = None


class Optimizer(msgspec.Struct, frozen=True, kw_only=True):
    """One optimizer that the run stepped, torch's or a framework's own (see `gpuprof.frameworks`). `last_step_ns`: when
    its last step of the cell ended, Unix time; None where that was not recorded. `floating`: whether all its parameters
    are of floating-point types, complex ones are not; None where that was not recorded. `maker`: as a Loader's."""

    name: str
    parameters: int
    elements: int
    state_bytes: int | None = None
    fused: bool | None = None
    foreach: bool | None = None
    device: str | None = None
    line: int | None = None
    steps: int = 0
    last_step_ns: int | None = None
    floating: bool | None = None
    maker: str | None = None


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """What part of the cell the kernel recording covers, and why it ended.

    `ended_by` is `cell` (recorded to its end), `steps`, `pause` (enough steps, then none for long), `seconds`, `even
    work` (a cell without steps), `bytes`, `profiler` (another one started) or `error`. Steps are counted over the
    whole cell; the recorded ones are `first_step` to `first_step + steps_recorded - 1`. `recorded_step_ns` and
    `plain_step_ns`: median duration of a step inside the recording (warm-up apart) and after it, by the same
    stopwatch; None where fewer than eight show it. `plain_error_share`: standard error of the latter over it.
    """

    cell_start_ns: int = 0
    cell_end_ns: int = 0
    start_ns: int = 0
    end_ns: int = 0
    steps_seen: int = 0
    first_step: int = 0
    steps_recorded: int = 0
    ended_by: str = "cell"
    started_late: bool = False
    recorded_step_ns: float | None = None
    plain_step_ns: float | None = None
    plain_error_share: float | None = None


class UsedFramework(msgspec.Struct, frozen=True, kw_only=True):
    """A training framework that was loaded in the process: its top-level module, and its version, empty where it has
    none."""

    package: str
    version: str = ""


class StartedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """`count` processes that the cell started itself, other than workers of loaders, to run the function or command of
    that name. `cpu_ns`: what they were seen to compute, with those that they started."""

    name: str
    count: int = 1
    cpu_ns: int = 0


class Garbage(msgspec.Struct, frozen=True, kw_only=True):
    """Collections of Python's garbage collector in the cell, on any thread: each stops all of them.

    `collections` and `total_ns` are of all; those of at least 20 µs are listed, with Unix times. Generation 2 is a full
    collection."""

    collections: int = 0
    total_ns: int = 0
    start_ns: tuple[int, ...] = ()
    duration_ns: tuple[int, ...] = ()
    generation: tuple[int, ...] = ()


class PyplotFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of `matplotlib.pyplot` that the cell opened: `left` were open at its end, after a backend that shows them
    below the cell had closed those that it showed; `most` were open at a time, by about ten looks per second."""

    left: int = 0
    most: int = 0


class GraphBreak(msgspec.Struct, frozen=True, kw_only=True):
    """Why torch.compile ended a graph in the middle of a function, in its own words, and how often while it traced."""

    reason: str
    times: int


class Compiling(msgspec.Struct, frozen=True, kw_only=True):
    """What torch.compile counted in this run: `graphs` compiled, the `breaks` between them.

    `resumed`: names such as `torch_dynamo_resume_in_f_at_7` say where a function goes on after a break, where
    torch counts them. `earlier_breaks` were counted before the run.
    """

    graphs: int = 0
    breaks: tuple[GraphBreak, ...] = ()
    resumed: tuple[str, ...] = ()
    earlier_breaks: int = 0


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file whose lines were followed. `source` is empty for the profiled cell, which is in `Cell`.

    `execution_count`: the number of the other cell that it is, where the notebook's history has it.
    """

    filename: str
    source: str = ""
    execution_count: int | None = None


class FollowedLines(msgspec.Struct, frozen=True, kw_only=True):
    """How lines were followed from `start_ns` to `end_ns` (Unix times); the table `line_events` has what was seen.

    `how` is `monitoring` (every line of the notebook's code, Python 3.12 and newer), `samples` (the lines of operators,
    learned from looks at the stack) or, in recordings of older versions, `calls` (the lines of certain calls only, for
    as long as the call takes). `files[0]` is the profiled cell. `cost_share`: about what the
    following took of that time, 0..1."""

    how: str
    start_ns: int
    end_ns: int
    files: tuple[SourceFile, ...] = ()
    cost_share: float | None = None


class SampledFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file seen on the sampled stacks. `kind` is `cell`, `notebook` (another cell, with its `source`), `module` (the
    user's own) or `library`, named from its package on."""

    filename: str
    kind: str
    source: str = ""
    execution_count: int | None = None


class SampledStacks(msgspec.Struct, frozen=True, kw_only=True):
    """How the stack of the cell's thread was sampled from `start_ns` to `end_ns` (Unix times), the whole cell.

    The tables `stack_nodes`, `stack_samples` and `stack_instants` have what was seen. `how` is `memory` or `py-spy`
    (by a process of its own) or `thread` (from this one, blind to code that holds the GIL). `cost_share`: processor
    time of the sampling, as a share of one core over that time.
    """

    how: str
    start_ns: int
    end_ns: int
    rate_hz: float
    cost_share: float | None = None
    files: tuple[SampledFile, ...] = ()
    functions: tuple[str, ...] = ()


class CellOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the cell ended. `error` is None for a cell that ran through, else the exception's class name."""

    error: str | None = None
    message: str | None = None


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What gpuprof itself took. `pause_ns` is the part of `stop_ns` that lies inside the cell: ending (and, where
    steps came late, restarting) the kernel recording while the cell ran on. `operator_ns`: what the recording adds to
    one operator on the host, tried out after a cell of which no iteration ran without it."""

    start_ns: int = 0
    stop_ns: int = 0
    pause_ns: int | None = None
    sampler_share: float | None = None
    operator_ns: float | None = None


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; empty for a trace from elsewhere. `sampling["gaps_bytes"]`: memory unused between our own records;
    `sampling["discarded_events"]`: how many events an earlier recording had, about, that a later one took the place of,
    `sampling["discarded_bytes"]` by how much the process grew when that one ended, and `sampling["discarded_ns"]` the
    Unix time when that was seen (0: never).
    """

    run_id: str | None = None
    run_number: int | None = None
    created_ns: int | None = None
    cell: Cell | None = None
    options: dict[str, Any] = {}
    environment: Environment | None = None
    loaders: tuple[Loader, ...] = ()
    loadings: tuple[Loading, ...] = ()
    optimizers: tuple[Optimizer, ...] = ()
    frameworks: tuple[UsedFramework, ...] = ()
    started_processes: tuple[StartedProcess, ...] = ()
    window: Window | None = None
    allocators: tuple[Allocator, ...] = ()
    compositions: tuple[Composition, ...] = ()
    step_memory: tuple[StepMemory, ...] = ()
    device_memory: tuple[DeviceMemory, ...] = ()
    held: tuple[HeldTensors, ...] | None = None
    garbage: Garbage | None = None
    compiling: Compiling | None = None
    lines: FollowedLines | None = None
    stacks: SampledStacks | None = None
    modules: MarkedModules | None = None
    look: Look | None = None
    operands: Operands | None = None
    made_values: tuple[MadeValue, ...] = ()
    figures: PyplotFigures | None = None
    outcome: CellOutcome | None = None
    cost: Cost | None = None
    sampling: dict[str, Any] = {}
    host_start: dict[str, Any] = {}
    notes: tuple[str, ...] = ()

    def described(self, file: SampledFile) -> SampledFile:
        """A file seen on the stacks; the profiled cell with its own text and number, which stacks do not have."""
        if file.kind != "cell" or self.cell is None:
            return file
        return msgspec.structs.replace(file, source=self.cell.source, execution_count=self.cell.execution_count)
