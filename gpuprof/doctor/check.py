"""One check, and the text of several."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["works", "absent", "warning", "broken"]
_MARKS: dict[str, str] = {"works": "✓", "absent": "–", "warning": "!", "broken": "✗"}


@dataclass(frozen=True)
class Check:
    """What was looked at (`name`), its `state`, what was `found`, and how to `mend` it (empty where nothing is to do).

    `works`; `absent`: not there, and gpuprof does without; `warning`: works with a catch; `broken`: must be mended.
    """

    name: str
    state: State
    found: str
    mend: str = ""

    def to_dict(self) -> dict[str, str]:
        """Plain JSON types."""
        return asdict(self)


def render(checks: tuple[Check, ...]) -> str:
    """One line a check, the mend below it."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{_MARKS[check.state]} {check.name:<{width}}  {check.found}")
        if check.mend:
            lines.append(f"  {'':<{width}}  → {check.mend}")
    return "\n".join(lines)
