"""What a section of the page and of the dashboard is made of: tables, curves, source and sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from gpuprof import units
from gpuprof.model.table import Array

COLUMNS = 480
WIDTH, HEIGHT = 1000, 120


@dataclass(frozen=True)
class TableCell:
    """A figure of a table: its text and the number it sorts by; None is *unknown* and sorts last."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Name:
    """A name too long for a table: `text` is shown, `whole` is what one gets by pointing at it."""

    text: str
    whole: str


Value = str | Name | TableCell


@dataclass(frozen=True)
class TableBlock:
    """A table: `heads` are the column names, `rows` hold texts and Names (left) and Cells (right). `note` stands below.

    `sortable`: the rows are of one kind, so that their order is the reader's.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    note: str = ""
    sortable: bool = True


@dataclass(frozen=True)
class CurveBlock:
    """A value over time as an SVG path in a box of WIDTH × HEIGHT; `top` and `span` label its axes."""

    caption: str
    kind: str
    line: str
    area: str
    top: str
    span: str


@dataclass(frozen=True)
class Sentence:
    """A plain sentence, where there is nothing to show or something to know."""

    text: str


@dataclass(frozen=True)
class Meter:
    """A time as text, and as a bar of `share` (0..1) of its column in the colour of that kind of event."""

    kind: str
    text: str
    share_text: str
    share: float


@dataclass(frozen=True)
class SourceLine:
    """One line of code, with a Meter (or nothing) for each column; `number` None stands for lines left out.

    `findings` are the numbers of those that name it.
    """

    number: int | None
    text: str
    meters: tuple[Meter | None, ...]
    findings: tuple[int, ...] = ()


@dataclass(frozen=True)
class SourceBlock:
    """Annotated source; `columns` name the meters."""

    caption: str
    columns: tuple[str, ...]
    lines: tuple[SourceLine, ...]


Block = TableBlock | CurveBlock | SourceBlock | Sentence


# The tests of `templates/blocks.html.jinja`.
TESTS: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "cell": lambda value: isinstance(value, TableCell),
        "name": lambda value: isinstance(value, Name),
        "table": lambda block: isinstance(block, TableBlock),
        "source": lambda block: isinstance(block, SourceBlock),
        "curve": lambda block: isinstance(block, CurveBlock),
    }
)


def curve_block(
    caption: str,
    kind: str,
    time: Array,
    value: Array,
    *,
    top: float,
    top_text: str,
    within: tuple[float, float] | None = None,
) -> CurveBlock:
    """The highest value of each of COLUMNS equal parts of the time `within` these bounds (ns); values hold until the
    next one, and nothing is drawn before the first.

    `time` is ascending, `value` of the same shape `(n,)`, n ≥ 1; NaN where unknown. Without bounds the time is that
    from the first value to the last.
    """
    begin, end = within or (float(time[0]), float(time[-1]))
    edges = np.linspace(begin, end, COLUMNS + 1)
    at = np.searchsorted(time, edges, side="right") - 1
    known = np.where(np.isfinite(value), value, -np.inf)
    first = int(np.argmax(at[1:] >= 0)) if (at[1:] >= 0).any() else 0
    tops = np.array([known[max(a, 0) : b + 1].max() for a, b in pairwise(at[first:].tolist())])
    tops = np.where(np.isfinite(tops), tops, 0.0)
    xs = np.linspace(0, WIDTH, COLUMNS)[first:]
    ys = HEIGHT - tops / (top or 1.0) * (HEIGHT - 4)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    area = f"M{xs[0]:.1f},{HEIGHT} {points} {WIDTH},{HEIGHT}Z"
    return CurveBlock(caption, kind, f"M{points}", area, top_text, units.duration(end - begin))
