"""A HoloViews chart in a live notebook without a network.

BokehJS comes from this machine's own package, compressed (0.4 MB), through the widget's comm, and runs in a sandboxed
frame: neither an extension of the front end nor `hv.extension` is needed, and the page's own Bokeh, if any, is left
alone. Opening a comm is exempt from jupyter_server's limit on output rates.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from gpuprof.views.charts import frame


class ChartFrame(anywidget.AnyWidget):  # type: ignore[misc]  # untyped
    """Shows `item`, a Bokeh document as JSON, with `library`, BokehJS as gzip. `height` is a guess in CSS pixels
    until it is drawn; `title` names the chart for screen readers."""

    _esm = frame.script()

    library = traitlets.Bytes().tag(sync=True)
    item = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(280).tag(sync=True)

    @classmethod
    def of(cls, chart: Any, title: str) -> ChartFrame:
        """The frame of a HoloViews object."""
        return cls(library=frame.library(), item=frame.bokeh_item(chart), title=title)
