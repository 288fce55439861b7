"""The cookbook's text: every labelled pair as a change of a cell, by family."""

from __future__ import annotations

import difflib
from collections import defaultdict

from benchmarks.proving.pair import Pair, all_pairs

_FAMILIES = {  # in the order in which a cell is best looked at
    "input_pipeline": "Input pipeline",
    "transfers": "Transfers",
    "host_syncs": "Waits for the device",
    "host": "Python on the host",
    "python_loops": "Python loops",
    "launches": "Launches",
    "optimizer": "Optimizer",
    "precision": "Precision",
    "compute": "Compute",
    "memory": "Memory",
}
_LABEL = "  # <- "


def cookbook() -> str:
    """Markdown: one section a family, one diff a pair."""
    by_family: dict[str, list[Pair]] = defaultdict(list)
    for pair in all_pairs():
        by_family[pair.family].append(pair)
    parts = [
        "# Cookbook\n",
        "Common faults of training cells, each with its cure. They are the labelled pairs on which gpuprof’s rules and "
        "predictions are scored ([evidence](evidence/index.md)); the files are in `benchmarks/pairs/`. The published "
        "gains were measured by others, on their machines.\n",
    ]
    order = {family: place for place, family in enumerate(_FAMILIES)}
    for family in sorted(by_family, key=lambda name: (order.get(name, len(order)), name)):
        parts.append(f"## {_FAMILIES.get(family, family.replace('_', ' ').capitalize())}\n")
        parts.extend(_recipe(pair) for pair in by_family[family])
    return "\n".join(parts)


def _recipe(pair: Pair) -> str:
    rules = " or ".join(f"[`{rule}`](rules/{rule}.md)" for rule in pair.rules)
    lines = list(
        difflib.unified_diff(_lines(pair.bad.source), _lines(pair.good.source), n=3, lineterm=""),
    )[2:]
    diff = "\n".join(line for line in lines if not line.startswith("@@"))
    found = f"Found by {rules}" if rules else "No rule finds it"
    return f"### {pair.name}\n\n{found}. Published gain: {pair.published}.\n\n```diff\n{diff}\n```\n"


def _lines(source: str) -> list[str]:
    return [line.split(_LABEL)[0] for line in source.splitlines()]
