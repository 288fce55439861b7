"""Puts the picture together with Matplotlib's Agg canvas, without pyplot: the user's figures, backend and rcParams
stay as they are."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace
from gpuprof.units import duration, plural, size, time_unit
from gpuprof.views.static_png.bar import SIZE, draw_bar, draw_swatches, key_items, rows_of_swatches
from gpuprof.views.static_png.columns import blend, shares
from gpuprof.views.static_png.lanes import PictureLane, lanes
from gpuprof.views.static_png.palette import flattened
from gpuprof.views.theme import EVENTS, INK, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, DPI = 1200, 100
MARGIN, LABELS = 20, 190
MUTED = "#5c6773"
GRID = "#e3e7eb"
BAR, KEY, STEPS, LANE, CURVE, AXIS, GAP = 60, 32, 26, 32, 88, 34, 10


def render_picture(trace: Trace, results: Results, *, bar: bool = True) -> bytes | None:
    """The picture as PNG, 1200 pixels wide on white; None where there is no time to draw. `bar`: with the budget's bar
    above the timeline."""
    budget = results.get(TimeBudget)
    if trace.span_ns <= 0 or not budget.entries:
        return None
    import matplotlib.style

    # the user's own style (usetex, fonts, sizes) must neither reach this picture nor be changed by it
    with matplotlib.style.context("default"):
        return _Picture(trace, results).png(bar=bar)


class _Picture:
    def __init__(self, trace: Trace, results: Results):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.trace, self.results = trace, results
        self.lanes = lanes(trace, results)
        self.memory = _curve(results.get(MemoryPeak))
        # room for everything; what stays unused at the bottom is cut off when saving
        timeline = STEPS + len(self.lanes) * LANE + CURVE + 2 * GAP
        self.height = 2 * MARGIN + BAR + 3 * KEY + GAP + timeline + AXIS + 2 * KEY
        self.figure: Figure = Figure(figsize=(WIDTH / DPI, self.height / DPI), dpi=DPI, facecolor=PAPER)
        FigureCanvasAgg(self.figure)
        self.top = MARGIN

    def png(self, *, bar: bool) -> bytes:
        plot_width = WIDTH - 2 * MARGIN - LABELS
        if bar:
            self._draw_budget(WIDTH - 2 * MARGIN)
        above = self.top
        if self.trace.steps:
            _draw_steps(self._labelled("steps", STEPS), self.trace, plot_width)
        for lane in self.lanes:
            _draw_lane(self._labelled(lane.label, LANE), lane, self.trace, plot_width)
        if self.memory is not None:
            self.top += GAP
            owner = "memory" if self.memory.device is not None else "host memory"
            _draw_memory(self._labelled(owner, CURVE), self.memory, self.trace)
        self._draw_time(above)
        self._swatches(_legend(self.lanes), MARGIN + LABELS, plot_width)
        return self._saved()

    def _draw_budget(self, width: int) -> None:
        unnamed = draw_bar(self._axes(BAR, MARGIN, width), self.results.get(TimeBudget).entries, width)
        self._swatches(key_items(unnamed), MARGIN, width)
        self.top += GAP

    def _swatches(self, items: list[tuple[str, str]], left: int, width: int) -> None:
        for row in rows_of_swatches(self.figure, items, width):
            draw_swatches(self._axes(KEY, left, width), row, width)

    def _saved(self) -> bytes:
        from matplotlib.transforms import Bbox
        from PIL.Image import open as opened

        used = Bbox([[0, (self.height - self.top - MARGIN / 2) / DPI], [WIDTH / DPI, self.height / DPI]])
        drawn, small = io.BytesIO(), io.BytesIO()
        self.figure.savefig(drawn, format="png", dpi=DPI, bbox_inches=used, pil_kwargs={"compress_level": 0})
        # a palette makes it a third as large, and notebooks keep every picture
        with opened(drawn) as picture:
            flattened(picture.convert("RGB")).save(small, "png", optimize=True)
        return small.getvalue()

    def _axes(self, height: int, left: int, width: int) -> Axes:
        box = (left / WIDTH, 1 - (self.top + height) / self.height, width / WIDTH, height / self.height)
        self.top += height
        return self.figure.add_axes(box)

    def _labelled(self, label: str, height: int) -> Axes:
        y = 1 - (self.top + height / 2) / self.height
        self.figure.text(MARGIN / WIDTH, y, label, size=SIZE, color=MUTED, va="center")
        axes = self._axes(height, MARGIN + LABELS, WIDTH - 2 * MARGIN - LABELS)
        axes.set_xlim(0, self.trace.span_ns)
        axes.axis("off")
        return axes

    def _draw_time(self, above: int) -> None:
        """Grid lines and times under everything from `above` down to here."""
        height = self.top - above
        self.top = above
        axes = self._axes(height, MARGIN + LABELS, WIDTH - 2 * MARGIN - LABELS)
        axes.set_zorder(-1)
        axes.set_xlim(0, self.trace.span_ns)
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        step, unit, name = _ticks(self.trace.span_ns)
        places = np.arange(0, self.trace.span_ns, step)
        labels = [f"{place / unit:g}{' ' + name if i == 0 else ''}" for i, place in enumerate(places)]
        axes.set_xticks(places, labels, size=SIZE, color=MUTED)
        axes.tick_params(length=0, pad=6)
        axes.grid(axis="x", color=GRID, linewidth=1)
        self.top += AXIS


def _ticks(span_ns: int) -> tuple[float, int, str]:
    """Spacing of about six ticks, and the unit they are written in."""
    rough = span_ns / 6
    magnitude = 10 ** np.floor(np.log10(rough))
    step = magnitude * next(factor for factor in (1, 2, 5, 10) if rough <= factor * magnitude)
    return (float(step), *time_unit(span_ns))


def _draw_lane(axes: Axes, lane: PictureLane, trace: Trace, width: int) -> None:
    parts = shares(lane.parts, trace.span_start_ns, trace.span_end_ns, width)
    strip = np.broadcast_to(blend(parts, lane.colours, PAPER), (1, width, 3))
    # white must stay see-through, or the strip would hide the grid
    alpha = np.where(sum(parts.values()) > 0, 255, 0).astype(np.uint8)[None, :, None]
    axes.imshow(
        np.concatenate((strip, alpha), axis=2),
        extent=(0, trace.span_ns, 0, 1),
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_ylim(-0.12, 1.12)


def _draw_steps(axes: Axes, trace: Trace, width: int) -> None:
    steps: Table = trace.steps
    axes.set_ylim(0, 1)
    # a step may begin before the first event and end after the last
    starts = np.clip(steps["start_ns"] - trace.span_start_ns, 0, trace.span_ns)
    shown = np.clip(steps["start_ns"] + steps["duration_ns"] - trace.span_start_ns, 0, trace.span_ns) - starts
    pixel = trace.span_ns / width
    if np.median(shown) < 3 * pixel:
        words = f"{plural(len(steps), 'step')}, too short to draw or outside the recorded events"
        axes.text(0, 0.5, words, size=SIZE - 1, color=MUTED, va="center")
        return
    lengths = np.maximum(shown - 2 * pixel, pixel)
    # one collection: an artist per step takes a millisecond each
    axes.broken_barh(list(zip(starts, lengths, strict=True)), (0.07, 0.86), color=EVENTS["step"].light, linewidth=0)
    _name_steps(axes, steps, starts + 6 * pixel, shown / pixel - 12)


def _name_steps(axes: Axes, steps: Table, lefts: Array, rooms: Array) -> None:
    """All in the longest form that fits most of them; a name without room is left out."""
    if np.median(rooms) < SIZE:
        return
    for form in ("step {number} · {took}", "step {number}", "{number}"):
        if 2 * int((rooms >= _width(axes, form.format(number="", took=""))).sum()) < len(rooms):
            continue  # each text costs a millisecond
        facts = zip(steps["number"], steps["duration_ns"], lefts, strict=True)
        texts = [
            axes.text(
                left, 0.48, form.format(number=number, took=duration(took)), size=SIZE - 1, color=INK, va="center"
            )
            for number, took, left in facts
        ]
        fits = [text.get_window_extent().width <= room for text, room in zip(texts, rooms, strict=True)]
        enough = 2 * sum(fits) >= len(fits)
        for text, fit in zip(texts, fits, strict=True):
            if not (fit and enough):
                text.remove()
        if enough:
            return


def _width(axes: Axes, words: str) -> float:
    text = axes.text(0, 0, words, size=SIZE - 1)
    width = float(text.get_window_extent().width)
    text.remove()
    return width


def _draw_memory(axes: Axes, use: MemoryUse, trace: Trace) -> None:
    colour = EVENTS["memory"].light
    inside = (use.time_ns >= trace.span_start_ns) & (use.time_ns <= trace.span_end_ns)
    times, held = _thinned(use.time_ns[inside] - trace.span_start_ns, use.allocated_bytes[inside])
    times, held = np.append(times, trace.span_ns), np.append(held, held[-1])
    axes.fill_between(times, held, step="post", color=colour, alpha=0.25, linewidth=0)
    axes.plot(times, held, drawstyle="steps-post", color=colour, linewidth=1.6)
    low, high = min(0, int(held.min())), max(int(held.max()), 1)
    limit = None if use.relative else use.limit_bytes
    if limit is not None and limit <= 2.5 * high:
        high = max(high, limit)
        axes.axhline(limit, color=EVENTS["sync"].light, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.set_ylim(low, low + (high - low) * 1.35)
    if use.peak_at_ns is not None and use.peak_allocated_bytes is not None:
        _mark_peak(axes, use.peak_at_ns - trace.span_start_ns, int(held.max()), _peak_words(use), trace.span_ns)


def _mark_peak(axes: Axes, at_ns: int, height: int, words: str, span_ns: int) -> None:
    axes.plot([at_ns], [height], marker="o", markersize=6, color=EVENTS["memory"].light, markeredgewidth=0)
    left = at_ns < span_ns / 2
    offset = span_ns * (0.008 if left else -0.008)
    label = axes.text(at_ns + offset, height, words, size=SIZE, color=INK, va="bottom", ha="left" if left else "right")
    # it may lie on the line of the limit
    label.set_bbox({"facecolor": PAPER, "alpha": 0.85, "linewidth": 0, "pad": 1})


def _peak_words(use: MemoryUse) -> str:
    if use.relative:
        return f"peak {size(use.peak_allocated_bytes)} above the start"
    of = "" if use.limit_bytes is None else f" of {size(use.limit_bytes)}"
    return f"peak {size(use.peak_allocated_bytes)}{of}"


def _thinned(times: Array, held: Array) -> tuple[Array, Array]:
    """At most two points a pixel column: its highest and its last, so that no peak is lost."""
    if len(times) <= 4 * WIDTH:
        return times, held
    column = ((times - times[0]) * WIDTH // max(int(times[-1] - times[0]), 1)).astype(np.int64)
    last = np.flatnonzero(np.diff(column, append=column[-1] + 1))
    first = np.concatenate(([0], last[:-1] + 1))
    tops = np.maximum.reduceat(held, first)
    order = np.repeat(np.arange(len(first)), 2)
    return np.stack((times[first], times[last]), 1).ravel(), np.where(
        np.arange(len(order)) % 2 == 0, tops[order], held[last][order]
    )


def _curve(peak: MemoryPeak) -> MemoryUse | None:
    for use in (peak.primary, peak.host):
        if use is not None and len(use.time_ns) > 1:
            return use
    return None


def _legend(shown: list[PictureLane]) -> list[tuple[str, str]]:
    """What the colours of the event rows mean; those of the budget are named in the bar."""
    keys = dict.fromkeys(key for lane in shown if not lane.of_budget for key in lane.parts)
    return [(EVENTS[key].light, EVENTS[key].label) for key in keys]
