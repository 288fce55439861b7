"""The cell opens many figures of matplotlib and does not close them.

What it finds
    Ten figures of pyplot or more that the cell opened are still open when it has ended. Where memory grew in the lines
    that draw, also ten or more that were open at a time and that the notebook closed at the end of the cell.

Why it costs
    pyplot keeps each open figure, with the data of its images and its canvas: some MiB per figure, for as long as the
    kernel runs. Saving a figure does not close it, nor does giving its name to another one.

What to do
    Close each figure when it is saved or shown: `plt.close(fig)`. Or make one figure before the loop and clear it for
    each picture (`fig.clear()`).

When to leave it
    When there are few figures and a later cell goes on drawing in them.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.open_figures import OpenFigures
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold


@dataclass(frozen=True)
class FiguresLeftOpen(Rule):
    """See the module."""

    figures: float = threshold(10, "of one cell: fewer may be meant to be drawn in again, and hold little")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the figures that are open at a time."""
        found = results.get(OpenFigures)
        if not found.known and found.lines:
            return Abstention(
                self.name,
                "which figures of matplotlib stay open",
                "This recording does not hold them; profile the cell again with `%%gpuprofile`.",
            )
        # figures that a notebook shows and closes are meant to be open until then
        if found.left < self.figures and (found.most < self.figures or not found.grown_bytes):
            return None
        stay = found.left >= self.figures
        count = units.count(found.left if stay else found.most)
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if found.grown_bytes else Severity.LOW,
            title=f"The cell leaves {count} matplotlib figures open"
            if stay
            else f"{count} matplotlib figures are open at a time",
            explanation=f"{_explanation(found, count, stay=stay)}{_memory(found)}",
            evidence={
                "figures_left": found.left,
                "figures_open": found.most,
                **({"grown_bytes": found.grown_bytes} if found.grown_bytes else {}),
            },
            where=Where(lines=tuple(sorted({*found.lines, *found.grown_lines}))),
            change=(
                f"Close each figure as soon as it is {'saved' if stay else 'saved or shown'}: `plt.close(fig)`. Or "
                "make one figure before the loop, and clear it for each picture: `fig.clear()`."
            ),
        )


def _explanation(found: OpenFigures, count: str, *, stay: bool) -> str:
    if stay:
        return (
            f"{count} figures that the cell opened with pyplot are still open when it has ended: pyplot keeps them in "
            "memory, with their images and canvases, until they are closed."
        )
    return (
        f"{count} figures were open at a time, and were closed only at the end of the cell: until then pyplot keeps "
        "them in memory, with their images and canvases."
    )


def _memory(found: OpenFigures) -> str:
    if not found.grown_bytes:
        return ""
    return f" The memory of the process grew by {units.size(found.grown_bytes)} in lines that draw."
