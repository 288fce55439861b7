"""What share of a cell has neither phase nor place, and the cells of kept outputs by it.

python -m benchmarks.rounds.unplaced FOLDER ...

FOLDER holds what benchmarks.rounds or benchmarks.programs kept. Prints a table, the largest share first.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.trace import Trace

WANTED = 0.10


def unplaced(trace: Trace) -> dict[str, Any]:
    """Shares (0..1) of the sampled time: `neither` phase nor line, `no_phase`, `no_line`; each None where nothing was
    sampled. `largest`: the innermost function that most of the first is in, `largest_share` its share of the cell."""
    results = Results(trace)
    phases, stretches = results.get(CellPhases), results.get(Stretches)
    if phases.unplaced_share is None:
        return {"neither": None, "no_phase": None, "no_line": None, "largest": "", "largest_share": 0.0}
    node, spent, whole = stretches.node, stretches.duration_ns, stretches.total_ns
    line = np.append(results.get(StackLines).line, -1)[node]
    unknown = results.get(SamplePhases).phase == PHASES.index(Phase.OTHER)
    held = dict[str, int]()
    for row in np.flatnonzero(unknown & (line <= 0)).tolist():
        name = _innermost(trace, int(node[row]))
        held[name] = held.get(name, 0) + int(spent[row])
    largest = max(held, key=lambda each: held[each], default="")
    return {
        "neither": phases.unplaced_share,
        "no_phase": float(spent[unknown].sum() / whole),
        "no_line": float(spent[line <= 0].sum() / whole),
        "largest": largest,
        "largest_share": held.get(largest, 0) / whole,
    }


def _innermost(trace: Trace, node: int) -> str:
    stacks = trace.context.stacks
    if node < 0 or stacks is None:
        return "no code of the user on the stack"
    file, function = trace.stack_nodes["sampled_file"][node], trace.stack_nodes["function"][node]
    return f"{stacks.files[file].filename}: {stacks.functions[function]}"


def table(kept: dict[str, dict[str, Any]]) -> str:
    """A row per cell, as Markdown: the largest share first, and after them what was not sampled."""
    known = {name: each for name, each in kept.items() if each["neither"] is not None}
    rows = [
        f"| {name} | {each['neither']:.1%} | {each['no_phase']:.1%} | {each['no_line']:.1%} | {_largest(each)} |"
        for name, each in sorted(known.items(), key=lambda item: -item[1]["neither"])
    ]
    rows += [f"| {name} | not sampled | | | |" for name in kept if name not in known]
    head = "| cell | neither phase nor line | no phase | no line | largest part of the first |\n|---|---|---|---|---|"
    over = sum(each["neither"] > WANTED for each in known.values())
    return "\n".join(
        [head, *rows, "", f"More than {WANTED:.0%} without phase and place: {over} of {len(known)} cells."]
    )


def _largest(told: dict[str, Any]) -> str:
    return f"{told['largest']}, {told['largest_share']:.1%}" if told["largest"] else ""


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="what has neither phase nor place")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    kept = {}
    for folder in parser.parse_args(arguments).folders:
        for path in sorted(folder.glob("*.json")):
            told = json.loads(path.read_text(encoding="utf-8"))
            if "unplaced" in told:
                kept[path.stem] = told["unplaced"]
    print(table(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
