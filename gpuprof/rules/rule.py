"""What every rule is. One rule a file; the file's name is the rule's name; its docstring is its documentation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, fields
from typing import Any, ClassVar, cast

from gpuprof.analyses.result import Results
from gpuprof.rules.finding import Abstention, Finding

HEADINGS = ("What it finds", "Why it costs", "What to do", "When to leave it")


class Rule(ABC):
    """Base of every rule: a frozen dataclass whose fields are its thresholds.

    Each threshold is a field made with `threshold(default, reason)`; its name carries the unit (`wait_share`,
    `kernel_us`). The module's docstring has the four HEADINGS, in order, each followed by prose. `yields_to` names the
    rules that are the root cause of the same time: where one of them finds something on the same time, this one is
    silent.
    """

    yields_to: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """The rule's name: its file's."""
        return type(self).__module__.rpartition(".")[2]

    @abstractmethod
    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge. None: decided, nothing to say. Must not fail on any Results."""

    def thresholds(self) -> list[tuple[str, Any, str]]:
        """Each threshold as (name, value, reason)."""
        return [(f.name, getattr(self, f.name), str(f.metadata.get("reason", ""))) for f in fields(cast(Any, self))]


def threshold(default: float, reason: str) -> Any:
    """A threshold of a rule: a dataclass field that carries its reason."""
    return field(default=default, metadata={"reason": reason})
