"""The budget bar of the picture: one segment a kind of time, labelled where the label fits, listed below where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuprof.analyses.time_budget import BudgetEntry
from gpuprof.units import percent
from gpuprof.views.theme import BUDGET, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAD = 10


def draw_bar(axes: Axes, entries: tuple[BudgetEntry, ...], width: int) -> list[BudgetEntry]:
    """Draw the bar into `axes`, `width` pixels wide; returns the entries whose name did not fit inside."""
    axes.set_xlim(0, width)
    axes.set_ylim(1, 0)
    axes.axis("off")
    left, unnamed = 0.0, []
    for entry in entries:
        kind, right = BUDGET[entry.category], left + entry.share * width
        # half a pixel of paper at either side keeps neighbours apart
        axes.barh(0.5, max(right - left - 1, 0.5), left=left + 0.5, height=1, color=kind.light, linewidth=0)
        if not _label(axes, entry, left, right - left, kind.ink()):
            unnamed.append(entry)
        left = right
    return unnamed


def _label(axes: Axes, entry: BudgetEntry, left: float, room: float, ink: str) -> bool:
    share = axes.text(left + PAD, 0.34, percent(entry.share), color=ink, size=12.5, weight="bold", va="center")
    if _width(share) + 2 * PAD > room:
        share.remove()
        return False
    name = axes.text(left + PAD, 0.72, BUDGET[entry.category].label, color=ink, size=11, va="center")
    if _width(name) + 2 * PAD > room:
        name.remove()
        share.set_y(0.5)
        return False
    return True


def draw_key(axes: Axes, entries: list[BudgetEntry], width: int) -> None:
    """The entries that found no room in the bar, with swatch, name and share, in one row as far as they fit."""
    items = [(BUDGET[e.category].light, f"{BUDGET[e.category].label} {percent(e.share)}") for e in entries]
    draw_swatches(axes, items, width)


def draw_swatches(axes: Axes, items: list[tuple[str, str]], width: int) -> None:
    """A row of colour swatches with labels; an item without room is left out."""
    axes.set_xlim(0, width)
    axes.set_ylim(0, 1)
    axes.axis("off")
    left = 0.0
    for colour, label in items:
        text = axes.text(left + 22, 0.5, label, color=INK, size=11, va="center")
        if left + 22 + _width(text) > width:
            text.remove()
            return
        axes.plot([left + 7], [0.5], marker="s", markersize=10, color=colour, markeredgewidth=0)
        left += 22 + _width(text) + 24


def _width(text: Any) -> float:
    return float(text.get_window_extent().width)
