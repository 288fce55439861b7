"""Whether a report points at the place of the best fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.programs.notebook import Recipe, places
from benchmarks.rounds.score import names_call

# `%load_ext gpuprof` and the cell that sets up arguments run before the first cell of the program
_CELLS_BEFORE = 2
_MAGIC_LINES = 1


@dataclass(frozen=True)
class Score:
    """One program. `by`: what points at the place of the fix, empty for nothing; `alarms`: rules that spoke above low,
    in the order of the report; `minor`: the others."""

    name: str
    fix: str
    by: str
    alarms: tuple[str, ...]
    minor: tuple[str, ...]


def score(name: str, cells: list[str], recipe: Recipe, said: Mapping[str, Any]) -> Score:
    """Of what was said of its notebook."""
    if "error" in said:
        return Score(name, recipe.fix, "the cell failed", (), ())
    told = said["json"]
    rules = {severity: tuple(_rule(each) for each in told["findings"] if _low(each) == severity) for severity in (0, 1)}
    return Score(name, recipe.fix, _located(cells, recipe, told), rules[0], rules[1])


def _low(finding: Mapping[str, Any]) -> bool:
    return bool(finding["severity"] == "low")


def _rule(finding: Mapping[str, Any]) -> str:
    return f"{finding['rule']} ({finding['severity']})"


def _located(cells: list[str], recipe: Recipe, told: Mapping[str, Any]) -> str:
    profiled = len(cells)
    wanted = {
        (None if cell == profiled else cell + _CELLS_BEFORE, line + (_MAGIC_LINES if cell == profiled else 0))
        for cell, line in places(cells, recipe.fix_lines)
    }
    for number, spot in enumerate(told["hot_spots"], 1):
        cell = None if spot["profiled"] else spot["cell"]
        if (cell, spot["line"]) in wanted or (None, spot["cell_line"]) in wanted:
            return f"hot spot {number}, its line"
        if wanted & {(cell, each["line"]) for each in spot["lines"]}:
            return f"hot spot {number}, one of its {len(spot['lines'])} lines"
        caller = spot.get("called_from")
        if caller and ((None if caller["profiled"] else caller["cell"]), caller["line"]) in wanted:
            return f"hot spot {number}, where it was called"
        if any(names_call(spot["what"], call) for call in recipe.fix_calls):
            return f"hot spot {number}, its call"
    for each in told["findings"]:
        if wanted & {(None, line) for line in each["where"]["lines"]}:
            return f"finding {each['rule']}"
    return ""


def table(scored: Sequence[Score]) -> str:
    """A row per program and the sum, as Markdown."""
    head = "| program | best fix | located | findings above low | low |\n|---|---|---|---|---|"
    rows = [
        f"| {each.name} | {each.fix} | {each.by or 'no'} | {', '.join(each.alarms)} | {', '.join(each.minor)} |"
        for each in scored
    ]
    found = sum(each.by not in ("", "the cell failed") for each in scored)
    return "\n".join([head, *rows, "", f"Located {found} of {len(scored)}."])
