"""The budget bar of the picture: one segment a kind of time, labelled where the label fits, listed below where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gpuprof.analyses.run.time_budget import BudgetEntry
from gpuprof.units import percent
from gpuprof.views.theme import BUDGET, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 12
LEAST_SHARE = 0.001
PAD, SWATCH, BETWEEN = 10, 22, 24


class Swatch(NamedTuple):
    """A colour, its words, and where it begins in its row, in pixels."""

    colour: str
    label: str
    left: float


def draw_bar(axes: Axes, entries: tuple[BudgetEntry, ...], width: int) -> list[BudgetEntry]:
    """Draw the bar into `axes`, `width` pixels wide; returns the entries whose name did not fit inside."""
    axes.set_xlim(0, width)
    axes.set_ylim(1, 0)
    axes.axis("off")
    left, unnamed = 0.0, []
    for entry in entries:
        if not entry.ns:
            continue
        kind, right = BUDGET[entry.category], left + entry.share * width
        # half a pixel of paper at either side keeps neighbours apart
        axes.barh(0.5, max(right - left - 1, 0.5), left=left + 0.5, height=1, color=kind.light, linewidth=0)
        if not _label(axes, entry, left, right - left, kind.ink()):
            unnamed.append(entry)
        left = right
    return unnamed


def _label(axes: Axes, entry: BudgetEntry, left: float, room: float, ink: str) -> bool:
    share = axes.text(left + PAD, 0.34, percent(entry.share), color=ink, size=SIZE + 1.5, weight="bold", va="center")
    if _width(share) + 2 * PAD > room:
        share.remove()
        return False
    name = axes.text(left + PAD, 0.72, BUDGET[entry.category].label, color=ink, size=SIZE, va="center")
    if _width(name) + 2 * PAD > room:
        name.remove()
        share.set_y(0.5)
        return False
    return True


def key_items(entries: list[BudgetEntry]) -> list[tuple[str, str]]:
    """Colour and words of each entry that is wide enough to be seen, for `rows_of_swatches`."""
    return [
        (BUDGET[e.category].light, f"{BUDGET[e.category].label} {percent(e.share)}")
        for e in entries
        if e.share >= LEAST_SHARE
    ]


def rows_of_swatches(figure: Figure, items: list[tuple[str, str]], width: int) -> list[list[Swatch]]:
    """Colour swatches with labels, broken into rows of at most `width` pixels."""
    rows: list[list[Swatch]] = []
    left = float(width)
    for colour, label in items:
        probe = figure.text(0, 0, label, size=SIZE)
        needs = SWATCH + _width(probe)
        probe.remove()
        if left + needs > width:
            rows.append([])
            left = 0.0
        rows[-1].append(Swatch(colour, label, left))
        left += needs + BETWEEN
    return rows


def draw_swatches(axes: Axes, row: list[Swatch], width: int) -> None:
    """One row of them."""
    axes.set_xlim(0, width)
    axes.set_ylim(0, 1)
    axes.axis("off")
    for swatch in row:
        axes.text(swatch.left + SWATCH, 0.5, swatch.label, color=INK, size=SIZE, va="center")
        axes.plot([swatch.left + 7], [0.5], marker="s", markersize=10, color=swatch.colour, markeredgewidth=0)


def _width(text: Any) -> float:
    return float(text.get_window_extent().width)
