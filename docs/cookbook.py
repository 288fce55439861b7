"""The cookbook's text: every labelled pair as a change of a cell, by what it is about."""

from __future__ import annotations

import difflib
from collections import defaultdict

from benchmarks.proving.pair import Pair, all_pairs

_SECTIONS = {  # folders of benchmarks/pairs, in the order in which a cell is best looked at
    "loading": "Input pipeline",
    "transfers": "Transfers",
    "waits": "Waits for the GPU",
    "host": "Python on the CPU",
    "launches": "Launches and compilation",
    "training": "Optimizer",
    "precision": "Precision",
    "compute": "Compute",
    "memory": "Memory",
}
_UNPUBLISHED = "nobody"
_LABEL = "  # <- "


def cookbook() -> str:
    """Markdown: one diff a pair, in sections."""
    by_section: dict[str, list[Pair]] = defaultdict(list)
    for pair in all_pairs():
        by_section[_SECTIONS[pair.path.parent.name]].append(pair)
    parts = [
        "# Cookbook\n",
        "Common faults of training cells, each with its cure. They are the labelled pairs on which gpuprof’s rules and "
        "predictions are scored ([evidence](evidence/index.md)); the files are in `benchmarks/pairs/`. The published "
        "gains were measured by others, on their machines.\n",
    ]
    for title in _SECTIONS.values():
        parts.append(f"## {title}\n")
        parts.extend(_recipe(pair) for pair in by_section[title])
    return "\n".join(parts)


def _recipe(pair: Pair) -> str:
    rules = " or ".join(f"[`{rule}`](rules/{rule}.md)" for rule in pair.rules)
    lines = list(
        difflib.unified_diff(_lines(pair.bad.source), _lines(pair.good.source), n=3, lineterm=""),
    )[2:]
    diff = "\n".join(line for line in lines if not line.startswith("@@"))
    found = f"Found by {rules}" if rules else "No rule finds it"
    known = "none known" if pair.published.startswith(_UNPUBLISHED) else pair.published
    return f"### {pair.title}\n\n`{pair.name}`. {found}. Published gain: {known}.\n\n```diff\n{diff}\n```\n"


def _lines(source: str) -> list[str]:
    return [line.split(_LABEL)[0] for line in source.splitlines()]
