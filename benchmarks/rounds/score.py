"""How a report scores against what its cell is known to have.

Located: a hot spot, a place where memory grew, or a finding points at a line of the fault, or a hot spot or what the
CPU did while the GPU was idle names a call of it. A finding above low severity on a healthy cell is a false alarm. An
all-clear is a verdict without a finding that names no place either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MAGIC_LINES = 1  # `%%gpuprofile` above the cell


@dataclass(frozen=True)
class Score:
    """One cell: `kind` is time, memory or healthy; `by` says what located it. `alarms`: rules that spoke above low."""

    name: str
    kind: str
    located: bool
    by: str
    alarms: tuple[str, ...]
    all_clear: bool


def score(name: str, cell: Mapping[str, Any], said: Mapping[str, Any]) -> Score:
    """Of one cell and what was said of it."""
    kind = cell.get("KIND") or ("time" if cell.get("FAULT") else "healthy")
    if "error" in said:
        return Score(name, kind, False, "the cell failed", (), False)
    told = said["json"]
    findings = [each for each in told["findings"] if each["severity"] != "low"]
    by = _located(cell, told)
    clear = not told["findings"] and not told["hot_spots"] and not told["gpu_idle"]
    return Score(name, kind, bool(by), by, tuple(each["rule"] for each in findings), clear)


def _located(cell: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    lines, calls = _fault_lines(cell), [call.lower() for call in cell.get("FAULT_CALLS", [])]
    for number, spot in enumerate(told["hot_spots"], 1):
        if spot["profiled"] and lines & {spot["line"], spot["cell_line"]}:
            return f"hot spot {number}, its line"
        if spot["profiled"] and lines & {each["line"] for each in spot["lines"]}:
            return f"hot spot {number}, one of its {len(spot['lines'])} lines"
        if any(names_call(spot["what"], call) for call in calls):
            return f"hot spot {number}, its call"
    for each in (told["process_memory"] or {}).get("grown", []):
        if each["profiled"] and each["line"] in lines:
            return "where memory grew"
    for each in told["findings"]:
        if lines & set(each["where"]["lines"]):
            return f"finding {each['rule']}"
    return next(("GPU idle" for each in told["gpu_idle"] if any(names_call(each["what"], call) for call in calls)), "")


def names_call(what: str, call: str) -> bool:
    """Whether the last part of a dotted name is the call's last part."""
    ran = what.lower().split(" (")[0]
    return bool(ran) and ran.replace("::", ".").rsplit(".", 1)[-1] == call.replace("::", ".").rsplit(".", 1)[-1]


def _fault_lines(cell: Mapping[str, Any]) -> set[int]:
    source = str(cell.get("FAULTY") or cell.get("GOOD")).lstrip("\n")
    wanted = cell.get("FAULT_LINES", [])
    numbers = {line for line in wanted if isinstance(line, int)}
    # a line may be given by its beginning, a whole function by its `def`
    begins = tuple(line.strip() for line in wanted if not isinstance(line, int))
    found, body = set[int](), -1
    for number, line in enumerate(source.splitlines(), 1):
        indent = len(line) - len(line.lstrip()) if line.strip() else body + 1
        body = body if 0 <= body < indent else -1
        if number in numbers or line.strip().startswith(begins) or body >= 0:
            found.add(number + _MAGIC_LINES)
            body = indent if body < 0 and line.strip().startswith("def ") else body
    return found


def table(scored: Sequence[Score]) -> str:
    """A row per cell and the sums, as Markdown."""
    faults = [each for each in scored if each.kind != "healthy"]
    healthy = [each for each in scored if each.kind == "healthy"]
    rows = []
    for each in scored:
        located = "" if each.kind == "healthy" else "yes" if each.located else "no"
        cells = (each.name, each.kind, located, each.by, ", ".join(each.alarms), "yes" if each.all_clear else "")
        rows.append(f"| {' | '.join(cells)} |")
    head = "| cell | kind | located | by | findings above low | all-clear |\n|---|---|---|---|---|---|"
    found, alarmed = sum(each.located for each in faults), sum(bool(each.alarms) for each in healthy)
    clear = sum(each.all_clear for each in faults)
    sums = (
        f"Located {found} of {len(faults)}; false alarms on {alarmed} of {len(healthy)} healthy cells; "
        f"false all-clears {clear}."
    )
    return "\n".join([head, *rows, "", sums])
