"""What of an executed notebook the repository keeps: all that can be read without a kernel, and nothing of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nbformat import NotebookNode

from gpuprof.views.html.redact import redactor

_FOLDED = re.compile(r"<details[^>]*><summary>Interactive timeline and all tables</summary>.*?</details>\n?", re.DOTALL)
_INSTEAD = "<p>Run the cell for the interactive timeline and all tables: this saved notebook leaves them out.</p>\n"
_PLOT = "An interactive plot, which this saved notebook leaves out: run the cell to see it."
_PICTURE = re.compile(r'("data:[^"]*")')
_VOLATILE = ((re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"), (re.compile(r"\bipykernel_\d+"), "ipykernel"))


def as_saved(notebook: NotebookNode) -> NotebookNode:
    """The notebook itself, changed in place: no folded pages, scripts, paths, names of user or host, addresses."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = list(_shown(cell.outputs))
    notebook.metadata.get("language_info", {}).pop("version", None)
    return notebook


def _shown(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """What still shows something without its scripts; a sentence for a plot that needs them."""
    plain = _plainer()
    for output in outputs:
        for key in ("text", "traceback"):
            if key in output:
                output[key] = [plain(line) for line in output[key]] if key == "traceback" else plain(output[key])
        data = output.get("data")
        if data is None:
            yield output
            continue
        for kind in ("text/plain", "text/html"):
            if kind in data:
                data[kind] = plain(data[kind])
        if "<script" in data.get("text/html", "") or any("holoviews" in kind for kind in data):
            output.data, output.metadata = NotebookNode({"text/plain": _PLOT}), NotebookNode()
            if "text/plain" not in data:
                continue
        if output.data:
            yield output


def _plainer() -> Callable[[str], str]:
    redact = redactor()

    def plain(text: str) -> str:
        parts = _PICTURE.split(_FOLDED.sub(_INSTEAD, text))
        return "".join(part if i % 2 else _without_volatile(redact(part)) for i, part in enumerate(parts))

    return plain


def _without_volatile(text: str) -> str:
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text
