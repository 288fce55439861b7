"""What the rules about Python loops over slices share."""

from __future__ import annotations

from collections.abc import Sequence, Set

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.batch_sizes import BatchSizes
from gpuprof.analyses.loops.python_loops import Loop, Repetition
from gpuprof.analyses.loops.slice_walks import Walk
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.cell.source_loops import independent_lines

AT_ONCE = "simulated with the host's work of one turn for all"
_MOST_NAMES = 5


def batch_sizes(results: Results, loop: Loop) -> Set[int]:
    """How many samples a loop over the batch has turns for: the batch sizes of the loaders.

    Without any those that a loss is computed of, if the text of the cell shows that no turn needs another: a loss over
    the steps of one sequence has as many. Empty where neither is known, or where samples and steps look the same.
    """
    known, cell = results.get(BatchSizes), results.context.cell
    if known.of_loaders or cell is None or not any(is_over_batch(run, known.of_losses) for run in loop.runs):
        return known.of_loaders
    if any(_may_be_time(walk, known) for run in loop.runs for walk in run.walks or ()):
        return known.of_loaders
    return known.of_losses if independent_lines(cell.source, loop.names) else known.of_loaders


def _may_be_time(walk: Walk, known: BatchSizes) -> bool:
    """Whether both first dimensions of three reach the loss: either may be the batch."""
    return len(walk.rest) == 2 and any(shape[:2] == (walk.size, walk.rest[0]) for shape in known.compared)


def is_over_batch(run: Repetition, sizes: Set[int]) -> bool:
    """The first or last turn may look different. What walks along another dimension, too, is no loop over samples."""
    walks = run.walks or ()
    return all(walk.dimension == 0 for walk in walks) and any(
        walk.size in sizes and walk.size not in walk.rest and 0 <= walk.size - run.turns <= 1 for walk in walks
    )


def is_hidden(results: Results, inside: Intervals, busy_share: float) -> bool:
    """Whether a device is busy for that share of the union `inside`: it is not held up."""
    device = results.get(DeviceActivity).primary
    return device is not None and intervals.intersect(device.busy, inside).total_ns >= busy_share * inside.total_ns


def named_operators(loop: Loop) -> str:
    """The first few of a turn, in words."""
    return shortened(loop.names)


def shortened(operators: Sequence[str]) -> str:
    """The first few of these, in words."""
    names = ", ".join(dict.fromkeys(operators[:_MOST_NAMES]))
    return f"{names}, …" if len(operators) > _MOST_NAMES else names
