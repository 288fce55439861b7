"""What every rule is. One rule a file; the file's name is the rule's name; its docstring is its documentation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, fields
from typing import Any, ClassVar, cast

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import EXACT_TOLERANCE, Guard
from gpuprof.rules.base.precedence import ROOT_CAUSES

HEADINGS = ("What it finds", "Why it costs", "What to do", "When to leave it")


class Rule(ABC):
    """Base of every rule: a frozen dataclass whose fields are its thresholds.

    Each threshold is a field made with `threshold(default, reason)`; its name carries the unit (`wait_share`,
    `kernel_us`). The module's docstring has the four HEADINGS, in order, each followed by prose. `yields_to` names the
    rules that are the root cause of the same time: where one of them finds something on the same time, this one is
    silent. `guard` says how far its diff may move what the cell computes (None: it never gives one), `loss_tolerance`
    the largest relative difference of a loss under `Guard.EXACT`, and `whole_cell` that its diff saves time outside the
    steps, so that the cell is measured to its end.
    """

    guard: ClassVar[Guard | None] = None
    loss_tolerance: ClassVar[float] = EXACT_TOLERANCE
    whole_cell: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The rule's name: its file's."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def yields_to(self) -> tuple[str, ...]:
        """The rules that it yields to, by ROOT_CAUSES."""
        return ROOT_CAUSES.get(self.name, ())

    @abstractmethod
    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge. None: decided, nothing to say. Must not fail on any Results."""

    def thresholds(self) -> list[tuple[str, Any, str]]:
        """Each threshold as (name, value, reason)."""
        return [(f.name, getattr(self, f.name), str(f.metadata.get("reason", ""))) for f in fields(cast(Any, self))]


def threshold(default: float, reason: str) -> Any:
    """A threshold of a rule: a dataclass field that carries its reason."""
    return field(default=default, metadata={"reason": reason})
