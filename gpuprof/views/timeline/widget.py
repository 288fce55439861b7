"""The timeline in a live notebook: an anywidget that sends the full data over the binary comm."""

from __future__ import annotations

from collections.abc import Iterable

import anywidget
import traitlets

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.views.timeline import bundle, encode
from gpuprof.views.timeline.build import build


class TimelineWidget(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget brings no types
    """Shows a Trace. `payload` and `buffer` are `encode.raw`'s; `focus_ranges` (ns since `origin_ns`) are zoomed to."""

    _esm = bundle.widget_module()
    _css = bundle.style()

    payload = traitlets.Dict().tag(sync=True)
    buffer = traitlets.Bytes().tag(sync=True)
    focus_ranges = traitlets.List().tag(sync=True)

    def __init__(self, trace: Trace, results: Results | None = None, *, report: Report | None = None):
        timeline = build(
            trace,
            results or (report.results if report else None),
            findings=report.findings if report else (),
            title=report.title if report else None,
        )
        self.origin_ns = timeline.origin_ns
        payload, buffer = encode.raw(timeline)
        super().__init__(payload=payload, buffer=buffer)

    def focus(self, ranges_ns: Iterable[tuple[int, int]]) -> None:
        """Zoom to the first of these ranges (ns on the trace's clock) and frame them all."""
        self.focus_ranges = [[t0 - self.origin_ns, t1 - self.origin_ns] for t0, t1 in ranges_ns]
