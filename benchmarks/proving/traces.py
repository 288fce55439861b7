"""The recorded public traces: whether the rules say what is known of them.

`trace_labels.toml` holds what the list of traces and the independent figures say: causes that a trace is known to show,
and causes that it is known not to have (its cured twin). No gain was measured on them, and nobody knows all that is
wrong in them: other findings are not judged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LABELS = Path(__file__).with_name("trace_labels.toml")


@dataclass(frozen=True)
class TraceLabel:
    """What is known of a trace. `why` says from where."""

    name: str
    shows: tuple[str, ...]
    lacks: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class TraceScore:
    """`found` and `missed`: causes it shows. `false`: findings that it lacks. `unjudged`: all others."""

    name: str
    found: tuple[str, ...]
    missed: tuple[str, ...]
    false: tuple[str, ...]
    unjudged: tuple[str, ...]
    why: str


def labels() -> tuple[TraceLabel, ...]:
    """Every labelled trace."""
    entries = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    return tuple(
        TraceLabel(name, tuple(entry.get("shows", ())), tuple(entry.get("lacks", ())), entry["why"])
        for name, entry in entries.items()
    )


def scored(label: TraceLabel, rules: Iterable[str]) -> TraceScore:
    """The findings of one trace, by the names of their rules, against its label."""
    fired = tuple(dict.fromkeys(rules))
    return TraceScore(
        label.name,
        found=tuple(rule for rule in label.shows if rule in fired),
        missed=tuple(rule for rule in label.shows if rule not in fired),
        false=tuple(rule for rule in fired if rule in label.lacks),
        unjudged=tuple(rule for rule in fired if rule not in label.shows and rule not in label.lacks),
        why=label.why,
    )


def score_traces(folder: Path) -> list[TraceScore]:
    """Every labelled trace of this folder; empty where the folder is not there."""
    from gpuprof.run import Run

    found = []
    for label in labels():
        path = folder / f"{label.name}.json.gz"
        if path.is_file():
            found.append(scored(label, (finding.rule for finding in Run.load(path).findings)))
    return found
