"""What the timeline shows: lanes of events and of curves, as plain columns.

Times are int64 ns relative to `Timeline.origin_ns`. A *series* is the events of one kind in one row: sorted, never
overlapping. Its `table` and `source` say which rows of which trace table its events are.

The payload (see encode.py) is this in JSON with every column replaced by its place in one buffer:

    {"title", "zero_ns", "end_ns", "span_ns", "names": [...],
     "kinds": [{"key", "label", "meaning", "light", "dark", ...}],
     "lanes": [{"type": "events", "label", "title", "shown", "row_height", "stalls", "overview", "device", "main",
                "rows": [[{"kind", "start", "duration", "name", "link", "details": [...]}]]},
               {"type": "curves", "label", "title", "unit", "top", "limit",
                "curves": [{"label", "kind", "unit", "time", "value", "filled", "dashed", "peak", "hold"}]}],
     "stalls": [{"kind", "start", "duration"}], "findings": [{"label", "ranges"}], "reduced": str | null}

Events are numbered over all series in the order of the payload; `link` holds, for a device event, the number of the
launch that enqueued it (-1 where unknown).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gpuprof.model.intervals import EMPTY, Intervals, intersect, single, union
from gpuprof.model.table import Array
from gpuprof.views.timeline.rows import row_of_each


@dataclass(frozen=True)
class Detail:
    """One more figure of each event, for the hover card: shape `(n,)`, `unknown` where it was not recorded.

    The values are amounts of `unit`, or indices of `words`, or, if `named`, of `Timeline.names`.
    """

    label: str
    unit: str
    values: Array
    unknown: int = -1
    words: tuple[str, ...] = ()
    named: bool = False


@dataclass(frozen=True)
class Series:
    """Events of one kind in one row. `name` indexes `Timeline.names`; `link` holds event numbers."""

    kind: str
    start_ns: Array
    duration_ns: Array
    name: Array | None = None
    table: str = ""
    source: Array = field(default_factory=lambda: np.empty(0, np.int64))
    link: Array | None = None
    details: tuple[Detail, ...] = ()

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Lane:
    """Rows of series. `shown` rows stand open at first; `stalls`: idle time of the device is shaded here.

    `device`: whose stream it is; None for lanes of the host. `main`: it is the main host thread's.
    """

    label: str
    title: str
    rows: tuple[tuple[Series, ...], ...]
    shown: int = 4
    row_height: int = 18
    stalls: bool = False
    overview: bool = False
    device: int | None = None
    main: bool = False

    @property
    def covered_ns(self) -> int:
        """Time during which at least one event of the lane runs, ns."""
        return self._covered().total_ns

    def covered_within(self, span_ns: int) -> int:
        """The same, of the first `span_ns` from the origin: Python frames can reach beyond what is drawn."""
        return intersect(self._covered(), single(0, span_ns)).total_ns

    def _covered(self) -> Intervals:
        series = [series for row in self.rows for series in row]
        if not series:
            return EMPTY
        starts = np.concatenate([s.start_ns for s in series])
        return union(Intervals(starts, starts + np.concatenate([s.duration_ns for s in series])))


@dataclass(frozen=True)
class Curve:
    """A value that holds until its next reading; NaN where a reading is missing. `peak` is (time_ns, value)."""

    label: str
    kind: str
    unit: str
    time_ns: Array
    value: Array
    filled: bool = False
    dashed: bool = False
    peak: tuple[int, float] | None = None
    hold_ns: int = 0


@dataclass(frozen=True)
class CurveLane:
    """Curves on one scale from 0 to `top`; `limit` is drawn as a line."""

    label: str
    title: str
    unit: str
    curves: tuple[Curve, ...]
    top: float
    limit: float | None = None


@dataclass(frozen=True)
class Timeline:
    """Everything drawn. `zero_ns` is the time, from the origin, that the axis calls 0: the begin of the trace's span,
    which user ranges may precede; `end_ns` is that of its end (None: `span_ns`), behind which they may reach. Idle time
    is known between the two. `findings` are (label, ranges in ns relative to the origin)."""

    title: str
    origin_ns: int
    zero_ns: int
    span_ns: int
    names: tuple[str, ...]
    lanes: tuple[Lane | CurveLane, ...]
    stalls: tuple[Series, ...] = ()
    findings: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()
    reduced: str | None = None
    end_ns: int | None = None

    def series(self) -> Iterator[Series]:
        """Every series in the order in which events are numbered."""
        for lane in self.lanes:
            if isinstance(lane, Lane):
                for row in lane.rows:
                    yield from row

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(len(series) for series in self.series())


@dataclass(frozen=True)
class Events:
    """Events of one lane before they are laid out, columns of shape `(n,)`: `kind` and `table` index the tuples."""

    start_ns: Array
    duration_ns: Array
    name: Array
    kind: Array
    table: Array
    source: Array
    kinds: tuple[str, ...]
    tables: tuple[str, ...]


def lay_out(events: Events) -> tuple[tuple[Series, ...], ...]:
    """Rows of series: events of one row never overlap, those around come before those inside."""
    if not len(events.start_ns):
        return ()
    ends = events.start_ns + events.duration_ns
    order = np.lexsort((-ends, events.start_ns))
    rows = row_of_each(events.start_ns[order], ends[order])
    # One stable sort groups by row, kind and table and keeps the order of time inside each group.
    width = len(events.kinds) * len(events.tables)
    group = rows.astype(np.int64) * width + events.kind[order] * len(events.tables) + events.table[order]
    grouped = np.argsort(group, kind="stable")
    keys, begins = np.unique(group[grouped], return_index=True)
    laid: list[list[Series]] = [[] for _ in range(int(rows.max()) + 1)]
    for key, members in zip(keys.tolist(), np.split(order[grouped], begins[1:]), strict=True):
        kind, table = divmod(key % width, len(events.tables))
        laid[key // width].append(
            Series(
                kind=events.kinds[kind],
                start_ns=events.start_ns[members],
                duration_ns=events.duration_ns[members],
                name=events.name[members],
                table=events.tables[table],
                source=events.source[members],
            )
        )
    return tuple(tuple(row) for row in laid)
