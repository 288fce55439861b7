"""The page that says what was caught and what was not."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from benchmarks.mutation.mutants import Mutant

CAUGHT, SURVIVED, EQUIVALENT = "caught", "survived", "equivalent"
TEXT = """\
# Do the tests bite?

`{command}`, {day}: {count} small faults (seed {seed}), put into the code one at a time; for each, the tests that run
the line are run. What kinds of faults, and what is left out: [mutation/mutants.py](mutation/mutants.py).

{table}

**{share:.1%}** of the faults that can be seen at all are caught. The run took {minutes:.0f} minutes.
"""


@dataclass(frozen=True)
class Verdict:
    """What became of a fault; `by`: the test that caught it, or why it is equivalent."""

    mutant: Mutant
    outcome: str
    by: str = ""
    tests: int = 0


def equivalents(path: Path) -> dict[tuple[str, str, str], str]:
    """The faults that change nothing anyone can see, each with the reason."""
    listed = tomllib.loads(path.read_text()).get("equivalent", [])
    return {(each["module"], each["line"], each["change"]): each["reason"] for each in listed}


def share_caught(verdicts: list[Verdict]) -> float:
    """Of all that are not equivalent."""
    counts = Counter(each.outcome for each in verdicts)
    return counts[CAUGHT] / max(counts[CAUGHT] + counts[SURVIVED], 1)


def page(verdicts: list[Verdict], *, command: str, seed: int, seconds: float) -> str:
    """The whole report, in Markdown."""
    text = TEXT.format(
        command=command,
        day=date.today().isoformat(),
        count=len(verdicts),
        seed=seed,
        table=_table(verdicts),
        share=share_caught(verdicts),
        minutes=seconds / 60,
    )
    survivors = [each for each in verdicts if each.outcome == SURVIVED]
    same = [each for each in verdicts if each.outcome == EQUIVALENT]
    if survivors:
        rows = [
            f"| {_place(each)} | {_code(each.mutant.source)} | {_code(each.mutant.change)} | {each.tests} |"
            for each in survivors
        ]
        text += "\n## Not caught\n\n| where | line | fault | tests that run it |\n|---|---|---|---|\n"
        text += "\n".join(rows) + "\n"
    if same:
        text += "\n## Equivalent\n\nThey change nothing that anyone can see, by "
        text += "[mutation/equivalent.toml](mutation/equivalent.toml).\n\n"
        rows = [f"| {_place(each)} | {_code(each.mutant.change)} | {each.by} |" for each in same]
        text += "| where | fault | why |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    return text


def _table(verdicts: list[Verdict]) -> str:
    rows = ["| package | faults | caught | survived | equivalent |", "|---|---|---|---|---|"]
    packages = list(dict.fromkeys(each.mutant.package for each in verdicts))
    for name in (*packages, "all"):
        counts = Counter(each.outcome for each in verdicts if name in (each.mutant.package, "all"))
        rows.append(f"| {name} | {counts.total()} | {counts[CAUGHT]} | {counts[SURVIVED]} | {counts[EQUIVALENT]} |")
    return "\n".join(rows)


def _place(verdict: Verdict) -> str:
    return f"{verdict.mutant.path.removeprefix('gpuprof/')}:{verdict.mutant.line}"


def _code(text: str) -> str:
    shown = text if len(text) <= 120 else f"{text[:119]}…"
    return "`` " + shown.replace("|", "\\|") + " ``"
