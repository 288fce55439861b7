"""Framework calls on the host: what they cost by name, by phase, and where Python repeats itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.result import Result, Results
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class OperatorUse:
    """All calls of one name. `total_ns` counts an operator within another of its own name once; `self_ns` leaves out
    the operators within."""

    name: str
    count: int
    total_ns: int
    self_ns: int


@dataclass(frozen=True, eq=False)
class ItemReads:
    """Values read into Python (`.item()`, `float(t)`, `if t:`): the outermost operator around `_local_scalar_dense`.

    Arrays of shape `(count,)`. `per_step` is the mean over the steps, `steps_with` how many steps have one; None
    without steps. `in_optimizer` of them happen inside an optimizer's step.
    """

    start_ns: Array
    duration_ns: Array
    step: Array
    in_optimizer: int
    per_step: float | None
    steps_with: int | None

    @property
    def count(self) -> int:
        """How many."""
        return len(self.start_ns)

    @property
    def ns(self) -> int:
        """Host time in them, waiting included."""
        return int(self.duration_ns.sum())


@dataclass(frozen=True)
class Loop:
    """The same short sequence of operators over and over in a step, outside backward, optimizer and input.

    `names` is the sequence of one turn, `repeats_per_step` the median number of turns in a step that has it,
    `turns` their number in the whole trace, `ns` the host time from the first turn's start to the last one's end,
    summed over its runs; `operators_ns` the part of it inside operators. `ranges_ns`: the runs, longest first.
    """

    names: tuple[str, ...]
    repeats_per_step: float
    turns: int
    ns: int
    operators_ns: int
    share: float
    ranges_ns: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Operators(Result):
    """Operators on the host. `uses` is sorted by self time, largest first; all threads count there.

    `forward_ns`, `backward_ns` and `optimizer_ns` are host time on the main thread inside operators of that phase
    (the optimizer's whole range); backward is what the autograd engine runs, optimizer the `Optimizer.` ranges,
    forward every other operator outside the DataLoader. `backward_other_thread_ns` is backward on other threads,
    where CUDA runs have it. None where no operator was recorded.
    """

    uses: tuple[OperatorUse, ...]
    forward_ns: int | None
    backward_ns: int | None
    optimizer_ns: int | None
    backward_other_thread_ns: int | None
    items: ItemReads
    loops: tuple[Loop, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators and the user ranges."""
        raise NotImplementedError
