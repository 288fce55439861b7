"""One watcher of a running cell: it begins and ends with the cell, and fills one field of the run's context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gpuprof.capture.base.main_thread_budget import MainThreadBudget


@dataclass(frozen=True)
class WatchedCell:
    """The cell as a signal may need it: its variables, live, and its code; None where they are not known. And what all
    signals together may take of its thread."""

    namespace: Mapping[str, Any] | None = None
    source: str | None = None
    budget: MainThreadBudget = field(default_factory=MainThreadBudget)


class Signal(ABC):
    """Base of every signal; each module of capture's rooms that defines a subclass is found by scan.

    `field` names the field of RunContext that `facts()` fills. `ends_first`: it ends before the kernel recording is
    stopped, so that stopping is not part of what it sees. `follows_iterations`: whether `after_step` and `before_batch`
    find anything; what `begin` sets to False is not called in every iteration.
    """

    field: ClassVar[str]
    ends_first: ClassVar[bool] = False

    def __init__(self, cell: WatchedCell | None = None):
        self.cell = cell or WatchedCell()
        self.follows_iterations = True

    def begin(self) -> None:  # noqa: B027  - most signals need only some of these
        """The cell is about to run."""

    def after_step(self, optimizer: Any, times: int) -> None:  # noqa: B027
        """That optimizer has stepped `times` times; called inside `step()`, while the gradients are there."""

    def before_batch(self) -> None:  # noqa: B027
        """A DataLoader is asked for a batch, in the loop of the cell."""

    def tick(self, resident_bytes: int) -> None:  # noqa: B027
        """From the watching thread, about ten times a second, with the process's resident memory; must not raise."""

    def pause(self) -> None:  # noqa: B027
        """The kernel recording has ended and the cell runs on: what costs time per iteration ends here."""

    def end(self) -> None:  # noqa: B027
        """The cell has ended, or is given up; does nothing where it has not begun."""

    @abstractmethod
    def facts(self) -> Any:
        """What was seen, for its field; asked once, after `end`."""

    def notes(self) -> tuple[str, ...]:
        """What a reader has to know of the facts, one sentence each; asked after `facts`."""
        return ()
