"""A HoloViews chart in a live notebook without a network.

BokehJS comes from this machine's own package, compressed (0.4 MB), through the widget's comm, and runs in a sandboxed
frame: neither an extension of the front end nor `hv.extension` is needed, and the page's own Bokeh, if any, is left
alone. Opening a comm is exempt from jupyter_server's limit on output rates.
"""

from __future__ import annotations

import functools
import gzip
from pathlib import Path
from typing import Any

import anywidget
import traitlets

_SCRIPT = Path(__file__).with_name("chart_frame.js")


class ChartFrame(anywidget.AnyWidget):  # type: ignore[misc]  # untyped
    """Shows `item`, a Bokeh document as JSON, with `library`, BokehJS as gzip. `height` is a guess in CSS pixels
    until it is drawn; `title` names the chart for screen readers."""

    _esm = _SCRIPT.read_text(encoding="utf-8")

    library = traitlets.Bytes().tag(sync=True)
    item = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(280).tag(sync=True)

    @classmethod
    def of(cls, chart: Any, title: str) -> ChartFrame:
        """The frame of a HoloViews object."""
        return cls(library=library(), item=bokeh_item(chart), title=title)


@functools.cache
def library() -> bytes:
    """BokehJS as the installed Bokeh carries it, gzip."""
    from bokeh.resources import Resources

    (script,) = Resources(mode="inline", components=["bokeh"], minified=True).js_raw[:1]
    return gzip.compress(script.encode("utf-8"), 6)


def bokeh_item(chart: Any) -> str:
    """A HoloViews object as the JSON that `Bokeh.embed.embed_item` takes."""
    import holoviews as hv
    from bokeh.core.json_encoder import serialize_json
    from bokeh.embed import json_item

    figure = hv.render(chart, backend="bokeh")
    return str(serialize_json(json_item(figure)))
