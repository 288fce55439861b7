"""What a live run knows of memory: allocators, models and optimizers, readings over the cell, what names hold.

JSON in a Recording's `recording.json`, a part of its RunContext.
"""

from __future__ import annotations

import msgspec


class Allocator(msgspec.Struct, frozen=True, kw_only=True):
    """The CUDA caching allocator of one device around the run (`torch.cuda.memory_stats`).

    The peaks are torch's counters, which are never reset here. `peak_in_run` is False where the peak of allocated bytes
    was already as high before: the run's own is then unknown, and at most that. `inactive_split_bytes`: at the end,
    free parts of blocks in use, which cannot be given back to the driver. `limit_bytes`: what this process let torch
    reserve at most (`torch.cuda.set_per_process_memory_fraction`); None where that is the whole device, or unknown.
    """

    device: int
    allocated_before_bytes: int
    allocated_after_bytes: int
    reserved_after_bytes: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    peak_in_run: bool | None = None
    retries: int
    ooms: int
    device_allocs: int | None = None
    device_frees: int | None = None
    inactive_split_bytes: int | None = None
    limit_bytes: int | None = None


class ModuleBytes(msgspec.Struct, frozen=True, kw_only=True):
    """What one part of a model holds on a device: its own bytes and those of everything below it."""

    name: str
    parameter_bytes: int = 0
    gradient_bytes: int = 0
    state_bytes: int = 0
    buffer_bytes: int = 0


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """What models and optimizers held on one device (`cpu`, `cuda:0`), by storage: a shared one counts once.

    The largest of what was found at the end of the first optimizer steps (gradients included) and of the cell.
    `after_steps` is the number of optimizer steps by then, 0 where none stepped. `whole` is False where a tensor could
    not be sized or there were too many. `modules`: the parts of the models that were found, largest first.
    """

    device: str
    parameter_bytes: int = 0
    gradient_bytes: int = 0
    state_bytes: int = 0
    buffer_bytes: int = 0
    after_steps: int = 0
    whole: bool = True
    modules: tuple[ModuleBytes, ...] = ()


class StepMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The CUDA caching allocator of one device after optimizer steps of the whole cell, one entry a reading."""

    device: int
    step: tuple[int, ...] = ()
    time_ns: tuple[int, ...] = ()
    allocated_bytes: tuple[int, ...] = ()
    reserved_bytes: tuple[int, ...] = ()


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The CUDA caching allocator of one device over the whole cell: at its ends, after optimizer steps, and where a
    DataLoader was asked for a batch, at most one reading each 20 ms; one entry a reading, ascending Unix times."""

    device: int
    time_ns: tuple[int, ...] = ()
    allocated_bytes: tuple[int, ...] = ()


UNNAMED = "[…]"
"""The name of lists that no name holds yet."""


class HolderLevel(msgspec.Struct, frozen=True, kw_only=True):
    """One container or object on the way from a name to most of what it holds: its type, how many things are in it, and
    the step to the next: `[…]` (each item), `[0]`, `["state"]`, `.history`; empty at the end of the way."""

    kind: str
    items: int
    step: str


class ItemPart(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that the items of a container hold by one step from each item: `.optimizer`, `["logits"]`, `[0]`. `kind`:
    the type of the item. `model`: that step leads to a model."""

    kind: str
    step: str
    bytes: int
    model: bool = False


class HeldTensors(msgspec.Struct, frozen=True, kw_only=True):
    """Tensors on one device that one name of the notebook kept alive at the end of the cell; on the host (`cpu`)
    NumPy's arrays as well, which are `arrays` of the `tensors`.

    `kind` is `global`, `module` (a model or optimizer), `output` (`Out[3]`, `_`), `traceback` (a frame of the last
    one), `hook` (only a module's forward hook reaches it; `name` is the hook's), `frame`: a variable of a function of
    the notebook (`outputs in evaluate()`) that ran at `at_ns` (Unix time), when the process was about largest, or
    `peak`: a name of the notebook that held more then than at the end. `bytes`
    are of whole storages, each under the first name that holds it. `graphs` of the `tensors` carry an autograd graph.
    `used`: the cell or a function of the notebook mentions the name, or something else refers to the object as well.

    `graph_bytes`: what the graphs keep on this device for a backward pass, weights and what names hold left out; None
    in older recordings. The tensors themselves may be elsewhere. `hook`: the function that is or was a forward hook of
    the module `hooked` (`Net.layers.0`), and can reach what the name holds.

    Of `bytes`: `unseen_bytes` are of storages of which all tensors together show half or less, less what they show;
    `copied_bytes` are `copies` whole sets of tensors shaped as the parameters of a model; `repeated_bytes` are the same
    numbers again, each about `repeated_times` times, in the tensor in which that is most (only looked for on the host);
    `zeros_bytes` are the zeros of one tensor on the host, about `zeros_share` of it, in all of its parts; `one_hot`:
    each of its lines has a single 1. `wide_bytes` are of `wide_type`, and every number of them that was looked at is
    exactly one of the smaller `narrow_type`, in which they take `narrow_bytes` (only looked for on the host; "" and 0
    where there is none). `attribute`: the one of the name's object of whose numbers these figures are, in the largest;
    "" where it is no attribute. `cycled_bytes`: in an `itertools.cycle`, which keeps what it hands out. `shape`: of the
    largest tensor; None in older recordings. `levels`: the way to `way_bytes`, seven tenths of the bytes at least,
    through containers and objects; empty where the name stands for one tensor. `looked_share` of the bytes were looked
    at; the others are estimated by the items of the same containers that were. `item_parts`: of a container of objects
    or records, the largest of what these hold. `filling`: of lists that no name holds
    yet, in the row `[…]`, the functions and lines that may be filling one then, the innermost first.
    """

    name: str
    kind: str
    device: str
    bytes: int
    tensors: int
    arrays: int = 0
    cycled_bytes: int = 0
    graphs: int = 0
    used: bool = False
    graph_bytes: int | None = None
    hook: str | None = None
    hooked: str | None = None
    unseen_bytes: int = 0
    copies: int = 0
    copied_bytes: int = 0
    repeated_bytes: int = 0
    repeated_times: float = 1.0
    zeros_bytes: int = 0
    zeros_share: float = 0.0
    one_hot: bool = False
    wide_type: str = ""
    wide_bytes: int = 0
    narrow_type: str = ""
    narrow_bytes: int = 0
    attribute: str = ""
    at_ns: int | None = None
    shape: tuple[int, ...] | None = None
    levels: tuple[HolderLevel, ...] = ()
    way_bytes: int = 0
    looked_share: float = 1.0
    item_parts: tuple[ItemPart, ...] = ()
    filling: tuple[tuple[str, int], ...] = ()
