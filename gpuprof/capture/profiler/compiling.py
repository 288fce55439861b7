"""What torch.compile counted in a run: graphs, and why it broke them. Reads its counters, and never imports it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.model.context import Compiling, GraphBreak

_MOST_BREAKS = 20
_LONGEST_REASON = 240


class CompileCounters(Signal):
    """Two readings of `torch._dynamo.utils.counters`, as the run begins and as it ends."""

    field = "compiling"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._before: dict[str, dict[str, int]] = {}

    def begin(self) -> None:
        """Take the first."""
        self._before = _counters()

    def facts(self) -> Compiling | None:
        """The difference to now; None where torch.compile has not been imported."""
        if "torch._dynamo.utils" not in sys.modules:
            return None
        now = _counters()
        breaks = _grown(self._before, now, "graph_break")
        resumed = _grown(self._before, now, "resumes")
        return Compiling(
            graphs=_grown(self._before, now, "stats").get("unique_graphs", 0),
            breaks=tuple(
                GraphBreak(reason=_short(reason), times=times)
                for reason, times in sorted(breaks.items(), key=lambda each: -each[1])[:_MOST_BREAKS]
            ),
            resumed=tuple(resumed)[:_MOST_BREAKS],
            earlier_breaks=sum(self._before.get("graph_break", {}).values()),
        )


def _counters() -> dict[str, dict[str, int]]:
    module = sys.modules.get("torch._dynamo.utils")
    found: Any = getattr(module, "counters", None)  # another thread may be importing it now
    if not isinstance(found, Mapping):
        return {}
    return {str(group): dict(found[group]) for group in ("stats", "graph_break", "resumes") if group in found}


def _grown(before: dict[str, dict[str, int]], now: dict[str, dict[str, int]], group: str) -> dict[str, int]:
    """What was counted in between; a counter that the user has cleared meanwhile counts from zero."""
    earlier = before.get(group, {})
    differences = {str(key): _more(earlier.get(key, 0), value) for key, value in now.get(group, {}).items()}
    return {key: value for key, value in differences.items() if value > 0}


def _more(before: int, now: int) -> int:
    return now - before if now >= before else now


def _short(reason: str) -> str:
    """The first line, and the explanation that follows it from torch 2.7 on."""
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    explained = [line.removeprefix("Explanation:").strip() for line in lines[1:] if line.startswith("Explanation:")]
    return ": ".join([*lines[:1], *explained[:1]])[:_LONGEST_REASON]
