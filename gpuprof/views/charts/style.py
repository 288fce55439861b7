"""What all charts share: their look, and the words that stand where nothing was recorded."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from gpuprof.model.table import Array

HEIGHT = 280
# legible on white and on dark notebooks alike (contrast 4.5 and 4.3); a live dashboard sets its own
FOREGROUND = "#767c85"
MOST_POINTS = 5_000
MOST_TICKS = 8
TOOLS = ["xwheel_zoom", "xpan", "reset", "save"]


def words(text: str) -> Any:
    """An element without axes that says `text`."""
    import holoviews as hv

    return hv.Text(0.5, 0.5, "\n".join(textwrap.wrap(text, 72))).opts(
        backend="bokeh",
        text_color=FOREGROUND,
        text_font_size="11pt",
        xaxis=None,
        yaxis=None,
        xlim=(0, 1),
        ylim=(0, 1),
        height=140,
        responsive=True,
        toolbar=None,
        default_tools=[],
        show_grid=False,
        hooks=[quiet, bare],
    )


def only_words(chart: Any) -> str | None:
    """The text of a chart that `words` made; None of any other."""
    import holoviews as hv

    return " ".join(str(chart.data[2]).split()) if isinstance(chart, hv.Text) else None


def frame(element: Any, **options: Any) -> Any:
    """`element` with the common look; `options` are further Bokeh plot options of it."""
    common = {
        "backend": "bokeh",
        "height": HEIGHT,
        "responsive": True,
        "default_tools": TOOLS,
        "show_grid": True,
        "hooks": [quiet],
        "toolbar": "above",
    }
    return element.opts(**{**common, **options})


def quiet(plot: Any, element: Any) -> None:
    """A Bokeh hook: no logo, no box, a background that lets the page through."""
    figure = plot.state
    figure.background_fill_alpha = 0
    figure.border_fill_alpha = 0
    figure.outline_line_color = None
    figure.toolbar.logo = None
    for axis in figure.axis:
        axis.axis_line_color = None
        axis.major_tick_line_color = None
        axis.minor_tick_line_color = None
        axis.major_label_text_color = axis.axis_label_text_color = FOREGROUND
        axis.axis_label_text_font_style = "normal"
    for grid in figure.grid:
        grid.grid_line_color, grid.grid_line_alpha = FOREGROUND, 0.18
    for legend in figure.legend:
        legend.background_fill_alpha = 0
        legend.border_line_color = None
        legend.label_text_color = FOREGROUND
        # a place in pixels, HoloViews' choice, is taken before the legend has its height: it would lie over the chart
        legend.location, legend.margin, legend.padding = "top_left", 2, 2
        legend.spacing = 14


def bare(plot: Any, element: Any) -> None:
    """A Bokeh hook: no grid."""
    for grid in plot.state.grid:
        grid.grid_line_color = None


def highest_rows(times: Array, values: Array, most: int = MOST_POINTS) -> Array:
    """Rows of a stepped curve that keep its peaks and what holds long: of every run of neighbours the highest and the
    last, and each row that holds for three `most`-ths of the time; about `most` in all."""
    import numpy as np

    if len(times) <= most:
        return np.arange(len(times))
    first = np.linspace(0, len(times), most // 3, endpoint=False).astype(np.int64)
    stops = np.append(first[1:], len(times))
    highest = np.array([start + int(values[start:stop].argmax()) for start, stop in zip(first, stops, strict=True)])
    held = np.flatnonzero(np.diff(times) * most >= 3 * (times[-1] - times[0]))
    return np.unique(np.concatenate(([0], highest, stops - 1, held)))


def byte_ticks(low: float, high: float) -> list[float]:
    """Powers of two of bytes between these bounds, at most eight of them."""
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    return [float(2**power) for power in range(first, last + 1, max(1, math.ceil((last - first + 1) / MOST_TICKS)))]


def decade_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between these bounds; over three decades the powers alone."""
    digits = (1.0,) if high > 1000 * low else (1.0, 2.0, 5.0)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for power in powers for digit in digits if low <= (tick := digit * 10.0**power) <= high]
