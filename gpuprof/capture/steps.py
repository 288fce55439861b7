"""How many steps a cell has made, from optimizer steps and DataLoader batches."""

from __future__ import annotations

from enum import IntEnum


class StepSource(IntEnum):
    """What steps are counted by; a higher one is trusted over a lower one."""

    NOTHING = 0
    LOADER = 1
    OPTIMIZER = 2


class StepCount:
    """Counts steps over a whole cell.

    A step is one `step()` of the optimizer that stepped most: two optimizers that alternate (a GAN), or one per
    parameter, make one step together, and gradient accumulation makes one of several batches. Where no optimizer
    steps, a step is one batch, of the DataLoader that gave most, whose work has ended: the next one is asked for.
    """

    def __init__(self) -> None:
        self._by_optimizer = 0
        self._by_loader = 0

    @property
    def source(self) -> StepSource:
        """What `seen` counts."""
        if self._by_optimizer:
            return StepSource.OPTIMIZER
        return StepSource.LOADER if self._by_loader else StepSource.NOTHING

    @property
    def seen(self) -> int:
        """Steps that have ended."""
        return self._by_optimizer or max(self._by_loader, 0)

    def optimizer_stepped(self, times: int) -> None:
        """One optimizer has now stepped `times` times in this cell."""
        self._by_optimizer = max(self._by_optimizer, times)

    def batches_used(self, batches: int) -> None:
        """One DataLoader has now given `batches` batches in this cell whose work has ended."""
        self._by_loader = max(self._by_loader, batches)
