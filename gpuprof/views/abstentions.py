"""What could not be judged in a few lines: of a trace from elsewhere, by what would record it."""

from __future__ import annotations

import re

from gpuprof.rules.base.finding import Abstention
from gpuprof.views.wording import grouped_abstentions, sentence_end, some_names

_COMMAND = re.compile(r"`(%%gpuprofile[^`]*)`")
_FEW = 3
_MOST_COMMANDS = 2


def abstention_lines(abstained: tuple[Abstention, ...], *, foreign: bool) -> list[str]:
    """One sentence for each signal that is missing; where that is more than a few (`foreign`: the trace was not made
    by gpuprof, which gives most of them) one for each command that records them, and one for the rest."""
    groups = grouped_abstentions(abstained)
    if not foreign or len(groups) <= _FEW:
        return [f"{rules}: needs {sentence_end(needs)} {how}" for rules, needs, how in groups]
    by_command: dict[str, list[str]] = {}
    for each in abstained:
        found = _COMMAND.search(each.how)
        by_command.setdefault(found[1] if found else "", []).append(each.rule)
    others = by_command.pop("", [])
    ordered = sorted(by_command.items(), key=lambda item: -len(item[1]))
    others += [rule for _, rules in ordered[_MOST_COMMANDS:] for rule in rules]
    lines = [
        f"`{command}` records what is missing for {some_names(rules)}." for command, rules in ordered[:_MOST_COMMANDS]
    ]
    if others:
        lines.append(f"Something else is missing for {some_names(sorted(others))}.")
    return [*lines, "What each one needs: `gpuprof findings --json PATH`."]
