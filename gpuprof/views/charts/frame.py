"""A chart as what a frame of its own needs to draw it: BokehJS from this machine's package, and the document."""

from __future__ import annotations

import functools
import gzip
from pathlib import Path
from typing import Any


@functools.cache
def script() -> str:
    """An ES module whose `render({ model, el })` draws `model.get("item")` with `model.get("library")`."""
    return Path(__file__).with_name("frame.js").read_text(encoding="utf-8")


@functools.cache
def library() -> bytes:
    """BokehJS as the installed Bokeh carries it, gzip."""
    from bokeh.resources import Resources

    (core,) = Resources(mode="inline", components=["bokeh"], minified=True).js_raw[:1]
    return gzip.compress(core.encode("utf-8"), 6, mtime=0)


def bokeh_item(chart: Any) -> str:
    """A HoloViews object as the JSON that `Bokeh.embed.embed_item` takes."""
    import holoviews as hv
    import holoviews.plotting.bokeh
    from bokeh.core.json_encoder import serialize_json
    from bokeh.embed import json_item

    figure = hv.render(chart, backend="bokeh")
    return str(serialize_json(json_item(figure)))
