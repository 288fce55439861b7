"""What every rule is. One rule a file; the file's name is the rule's name; its docstring is its documentation."""

from __future__ import annotations

import inspect
import re
import sys
from abc import ABC, abstractmethod
from dataclasses import field, fields, replace
from typing import Any, ClassVar, cast

from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.doubt import Evidence
from gpuprof.rules.base.evidence import rests_on
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import EXACT_TOLERANCE, Guard
from gpuprof.rules.base.precedence import ROOT_CAUSES

HEADINGS = ("What it finds", "Why it costs", "What to do", "When to leave it")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


class Rule(ABC):
    """Base of every rule: a frozen dataclass whose fields are its thresholds.

    Each threshold is a field made with `threshold(default, reason)`; its name carries the unit (`wait_share`,
    `kernel_us`). The module's docstring has the four HEADINGS, in order, each followed by prose. `yields_to` names the
    rules that are the root cause of the same time: where one of them finds something on the same time, this one is
    silent. `guard` says how far its diff may move what the cell computes (None: it never gives one), `loss_tolerance`
    the largest relative difference of a loss under `Guard.EXACT`, and `whole_cell` that its diff saves time outside the
    steps, so that the cell is measured to its end, `not_for` in which kinds of run it has nothing to say.
    """

    guard: ClassVar[Guard | None] = None
    loss_tolerance: ClassVar[float] = EXACT_TOLERANCE
    whole_cell: ClassVar[bool] = False
    not_for: ClassVar[frozenset[KindOfRun]] = frozenset()

    @property
    def name(self) -> str:
        """The rule's name: its file's."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def yields_to(self) -> tuple[str, ...]:
        """The rules that it yields to, by ROOT_CAUSES."""
        return ROOT_CAUSES.get(self.name, ())

    @property
    def rests_on(self) -> frozenset[Evidence]:
        """The evidence that its findings rest on, by `rules/base/evidence.py`."""
        return rests_on(self.name, type(self).__module__.split(".")[-2])

    def sections(self) -> tuple[str, dict[str, str]]:
        """The summary line of the rule's module, and the text under each of HEADINGS that it has, in its order."""
        text = inspect.cleandoc(sys.modules[type(self).__module__].__doc__ or "")
        summary, _, body = text.partition("\n")
        found: dict[str, list[str]] = {}
        heading = ""
        for line in body.splitlines():
            if line in HEADINGS:
                heading = line
                found[heading] = []
            elif heading:
                found[heading].append(line.strip())
        return summary.strip(), {name: "\n".join(lines).strip() for name, lines in found.items()}

    @property
    def leave_it(self) -> str:
        """When not to follow the advice: the first sentence of *When to leave it*."""
        text = " ".join(self.sections()[1].get("When to leave it", "").split())
        first = _SENTENCE_END.split(text, maxsplit=1)[0]
        if first.startswith("Never: "):
            return f"Do not leave it: {first.removeprefix('Never: ')}"
        return f"Leave it {first[0].lower()}{first[1:]}" if first else ""

    def judge(self, results: Results) -> Finding | Abstention | None:
        """`check` where the rule is meant for such a run; of a finding that says nothing else its own `leave_it`."""
        if self.not_for and results.get(RunKind).kind in self.not_for:
            return None
        answer = self.check(results)
        if isinstance(answer, Finding) and not answer.leave_it:
            return replace(answer, leave_it=self.leave_it)
        return answer

    @abstractmethod
    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge. None: decided, nothing to say. Must not fail on any Results."""

    def thresholds(self) -> list[tuple[str, Any, str]]:
        """Each threshold as (name, value, reason)."""
        return [(f.name, getattr(self, f.name), str(f.metadata.get("reason", ""))) for f in fields(cast(Any, self))]


def threshold(default: float, reason: str) -> Any:
    """A threshold of a rule: a dataclass field that carries its reason."""
    return field(default=default, metadata={"reason": reason})
