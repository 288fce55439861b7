"""What the optimizer's steps cost on the host and on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.result import Result, Results
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class OptimizerUse:
    """All steps of optimizers of one class (`name`, such as `Adam`).

    `start_ns`, `duration_ns`: each `Optimizer.step#` range on its thread, shape `(count,)`. `ns` is their sum, `share`
    its part inside steps over the steps' time (over the span without steps). `operators_per_step` counts every
    operator in one such range (median), `kernels_per_step` the kernels launched in it (median; None without device
    activity), `device_ns` the sum of those kernels' durations. `parameters`, `elements`, `fused`, `foreach`, `line`
    come from the live run (None elsewhere, or where two optimizers of that class differ); `foreach_seen`/`fused_seen`
    say whether operators named so (`_foreach_`, `_fused_`) ran.
    """

    name: str
    start_ns: Array
    duration_ns: Array
    ns: int
    share: float | None
    operators_per_step: float
    kernels_per_step: float | None
    device_ns: int | None
    parameters: int | None
    elements: int | None
    fused: bool | None
    foreach: bool | None
    line: int | None
    device: str | None
    foreach_seen: bool
    fused_seen: bool

    @property
    def count(self) -> int:
        """How many optimizer steps were recorded."""
        return len(self.start_ns)


@dataclass(frozen=True)
class OptimizerSteps(Result):
    """One entry per optimizer class, the costliest first; empty where no optimizer step was recorded."""

    uses: tuple[OptimizerUse, ...]

    @property
    def primary(self) -> OptimizerUse | None:
        """The costliest one."""
        return self.uses[0] if self.uses else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the `Optimizer.step#` ranges."""
        raise NotImplementedError
