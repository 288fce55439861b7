"""How long the run waited for its input: the DataLoader's `__next__`, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.result import Result, Results
from gpuprof.model.context import Loader
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class InputPipeline(Result):
    """Waits for batches on the thread that iterates the loader. All arrays have shape `(waits,)`, in time order.

    `start_ns`, `duration_ns`, `step`: each `__next__` (one within another counts once). `first`: the first batch of
    an iteration whose start-up stands apart (workers starting); `ended`: the call that only found the loader exhausted.
    `batch` = neither of the two. `wait_ns` sums every wait, `wait_share` divides the part of it inside the steps by
    the steps' time (by the span where no steps are known); `median_ns` and `p95_ns` are over `batch` rows. All four
    are None where no wait was recorded. `in_process`: the batches are made on the waiting thread itself
    (`num_workers=0`); None where the name does not say. `device_idle_in_wait_ns`: the part of the waits in which the
    first device had nothing to do; None without device activity.
    """

    start_ns: Array
    duration_ns: Array
    step: Array
    first: Array
    ended: Array
    in_process: bool | None
    wait_ns: int | None
    wait_share: float | None
    per_step_ns: float | None
    device_idle_in_wait_ns: int | None
    median_ns: float | None
    p95_ns: float | None
    loaders: tuple[Loader, ...]

    @property
    def batch(self) -> Array:
        """Boolean mask of shape `(waits,)`: ordinary waits for one batch."""
        return ~(self.first | self.ended)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the `enumerate(DataLoader)#….__next__` ranges."""
        raise NotImplementedError
