"""HoloViews objects in a notebook's output without a network, where `hv.extension` was not called.

`hv.extension("bokeh", inline=True)` writes 6 MB into the notebook and still asks a CDN for style sheets at every plot.
Here each output is a sandboxed frame (0.02 MB), and BokehJS (0.5 MB) stands in one of them: the first, and again in
that cell when it is run anew. Saved and trusted, the plots stay alive.
"""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any, NamedTuple

from gpuprof.views.charts import frame

_HTML = """<div id="%(place)s"><p>A plot: it is drawn in a trusted notebook that runs scripts.</p></div>
<script>(() => {
%(carried)s%(script)s
const libraries = (window.gpuprofLibraries ??= {});
const patience = 60_000, version = %(version)s;
async function library() {
  for (let waited = 0; !libraries[version]; waited += 100) {
    if (waited > patience) throw new Error("its drawing library is in another cell; restart the kernel and run all");
    await new Promise((done) => setTimeout(done, 100));
  }
  const text = atob(libraries[version]), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
const values = { item: %(item)s, title: "plot", height: 280 };
function draw() {
  const el = document.getElementById("%(place)s");
  if (!el) return setTimeout(draw, 100);
  library().then((ready) => {
    el.replaceChildren();
    render({ model: { get: (name) => (name === "library" ? ready : values[name]) }, el });
  }, (error) => { el.textContent = `The plot could not be drawn: ${error.message}.`; });
}
draw();
})();</script>"""
_CARRIED = "(window.gpuprofLibraries ??= {})[%s] = %s;\n"


class _Run(NamedTuple):
    """One execution of a cell: the cell's id (its count where the front end gives none) and the execution's count."""

    cell: str
    number: int


_carrier: _Run | None = None
_places = itertools.count(1)


def enable(shell: Any) -> None:
    """Have this kernel's shell show HoloViews objects so; where `hv.extension` is called, HoloViews shows them."""
    from holoviews.core.dimension import Dimensioned

    shell.display_formatter.formatters["text/html"].for_type(Dimensioned, lambda item: html(item, shell))


def html(item: Any, shell: Any) -> str | None:
    """`item` as HTML with a script; None where HoloViews shows it itself, or it needs a kernel to be drawn."""
    import holoviews as hv

    if hv.extension._loaded or item.traverse(lambda each: each, [hv.HoloMap]):
        return None
    return drawn(frame.bokeh_item(item), carries=_carries(_now(shell)))


def drawn(item: str, *, carries: bool) -> str:
    """The output of one Bokeh document; `carries`: with BokehJS for itself and every other one."""
    import uuid

    import bokeh

    version = _literal(bokeh.__version__)
    library = _literal(base64.b64encode(frame.library()).decode("ascii")) if carries else ""
    script = frame.script().replace("export default { render };", "").replace("</", "<\\/")
    return _HTML % {
        "place": f"gpuprof-plot-{next(_places)}-{uuid.uuid4().hex[:8]}",
        "carried": _CARRIED % (version, library) if carries else "",
        "script": script,
        "version": version,
        "item": _literal(item),
    }


def _literal(text: str) -> str:
    """A JavaScript string that cannot end its script element."""
    return json.dumps(text).replace("<", "\\u003c")


def _carries(now: _Run) -> bool:
    """Whether BokehJS goes into this output: into the first of a kernel, and there again when its cell runs anew."""
    global _carrier
    carries = _carrier is None or (now.cell == _carrier.cell and now.number != _carrier.number)
    if carries:
        _carrier = now
    return carries


def _now(shell: Any) -> _Run:
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    count = int(shell.execution_count)
    return _Run(str((parent.get("metadata") or {}).get("cellId") or count), count)
