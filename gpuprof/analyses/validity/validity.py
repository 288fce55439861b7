"""The gate above the verdict: asks every check of this room whether the recording can be judged."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses import validity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.validity.doubt import ALL, Doubt, Evidence, Handling, ValidityCheck
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class Validity(Result):
    """`doubts`: those that stop the verdict first, then in the order of the checks; empty for a sound recording."""

    doubts: tuple[Doubt, ...] = ()

    @property
    def cannot_judge(self) -> bool:
        """Whether the run has no verdict."""
        return any(doubt.cannot_judge for doubt in self.doubts)

    @property
    def state(self) -> str:
        """`sound`, `doubtful` or `cannot_judge`."""
        if self.cannot_judge:
            return "cannot_judge"
        return "doubtful" if self.doubts else "sound"

    @property
    def nothing_holds(self) -> bool:
        """Whether every kind of evidence is spoiled, so that no figure is to be shown."""
        return any(doubt.cannot_judge and doubt.spoils == ALL for doubt in self.doubts)

    @property
    def restated(self) -> frozenset[str]:
        """The notes of the recording that a doubt says already."""
        return frozenset(note for doubt in self.doubts for note in doubt.restates)

    def handling(self, rests_on: frozenset[Evidence]) -> Handling:
        """What becomes of a finding that rests on this evidence."""
        return max((doubt.handling for doubt in self.doubts if doubt.spoils & rests_on), default=Handling.SAID)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Ask every check."""
        asked = [results.get(check).doubt for check in checks()]
        said = [doubt for doubt in asked if doubt is not None]
        return cls(tuple(sorted(said, key=lambda doubt: not doubt.cannot_judge)))


@functools.cache
def checks() -> tuple[type[ValidityCheck], ...]:
    """Every check, in its order: each module of this room that defines one."""
    modules = [
        importlib.import_module(each.name) for each in pkgutil.iter_modules(validity.__path__, f"{validity.__name__}.")
    ]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, ValidityCheck) and value is not ValidityCheck
    }
    return tuple(sorted(found, key=lambda check: check.order))
