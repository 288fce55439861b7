"""The notebook itself keeps large tensors or arrays alive that this cell does not use.

What it finds
    At the end of the cell, tensors and NumPy's arrays of at least 5 % of the memory are held by outputs (`Out[3]`,
    `_`), by the frames of the last traceback, or by names that neither the cell nor any function of the notebook
    mentions.

Why it costs
    They lie beside what the cell needs. An out-of-memory error is the worst case: its traceback keeps all that the
    failing function had allocated, so that the next, smaller attempt fails as well.

What to do
    Delete what is not needed with `%xdel name` (`%xdel _3` for `Out[3]`): unlike `del` and `%reset out` it takes every
    reference that IPython keeps. The next error takes the place of the last traceback: run `1/0`, then
    `gc.collect()`. End the last line of a cell with `;` or assign it, so that it does not become an output.

When to leave it
    When a later cell needs it, or when memory is not short.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.memory import HeldTensors
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.device_memory import ran_out

_MOST_NAMES = 5
_NOTEBOOKS = ("ipykernel", "IPython")


@dataclass(frozen=True)
class TensorsHeldByNotebook(Rule):
    """See the module."""

    held_share: float = threshold(0.05, "of the memory: less is seldom what is missing")
    peak_share: float = threshold(0.6, "of the device at the peak: below it memory is not what limits the run")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what the names hold that nobody mentions."""
        context = results.context
        if context.held is None:
            front_end = context.environment.front_end if context.environment else None
            if not (front_end or "").startswith(_NOTEBOOKS):
                return None
            return Abstention(
                self.name,
                "the names of the notebook and what they hold",
                "This recording does not hold them; profile the cell again with `%%gpuprofile`.",
            )
        memory = results.get(MemoryPeak).primary
        on_devices = {each.device for each in context.held if each.device != "cpu"}
        device = f"cuda:{memory.device}" if memory else max(on_devices, default="cpu")
        held = [each for each in context.held if not each.used and each.device == device and each.bytes]
        total = sum(each.bytes for each in held)
        if not total:
            return None
        limit = _limit(results, device)
        if not limit:
            return Abstention(
                self.name,
                "the size of the memory that the notebook’s tensors lie in",
                "This recording does not hold it; profile the cell again with `%%gpuprofile`.",
            )
        if total < self.held_share * limit:
            return None
        return self._finding(results, memory, held, total, limit)

    def _finding(
        self, results: Results, memory: MemoryUse | None, held: list[HeldTensors], total: int, limit: int
    ) -> Finding:
        peak = memory.whole_peak_bytes if memory else None
        severity = Severity.MEDIUM if peak is not None and peak >= self.peak_share * limit else Severity.LOW
        if ran_out(results, memory):
            severity = Severity.HIGH
        names = ", ".join(f"`{each.name}` ({units.size(each.bytes)})" for each in held[:_MOST_NAMES])
        more = f" and {len(held) - _MOST_NAMES} more" if len(held) > _MOST_NAMES else ""
        place = "the host’s memory" if held[0].device == "cpu" else f"the memory of {held[0].device}"
        return Finding(
            rule=self.name,
            severity=severity,
            title=f"The notebook holds {units.size(total)} of {_what(held)} that this cell does not use",
            explanation=f"{names}{more}: together {units.percent(total / limit)} of {place} ({units.size(limit)}).",
            evidence={
                "held_bytes": total,
                "held_share": round(total / limit, 4),
                "memory_bytes": limit,
                "names": ", ".join(each.name for each in held[:_MOST_NAMES]),
                **({"peak_allocated_bytes": peak} if peak is not None else {}),
            },
            change=_change(held),
        )


def _limit(results: Results, device: str) -> int | None:
    if device == "cpu":
        return results.context.environment.host_memory_bytes if results.context.environment else None
    return results.device(int(device.partition(":")[2] or 0)).memory_bytes


def _what(held: list[HeldTensors]) -> str:
    known = {"tensors": any(each.tensors > each.arrays for each in held), "arrays": any(each.arrays for each in held)}
    return " and ".join(name for name, there in known.items() if there) or "tensors"


def _change(held: list[HeldTensors]) -> str:
    names = [_deletable(each.name) for each in held if each.kind != "traceback"][:_MOST_NAMES]
    advice = ["run " + ", ".join(f"`%xdel {name}`" for name in names)] if names else []
    if any(each.kind == "traceback" for each in held):
        advice.append("for the last traceback run `1/0` in a cell of its own, then `import gc; gc.collect()`")
    return f"Before this cell {'; '.join(advice)}."


def _deletable(name: str) -> str:
    """`_3` for `Out[3]`: the variable of that output."""
    return f"_{name[4:-1]}" if name.startswith("Out[") else name
