"""Tables that sort and filter, the same in the page and in the dashboard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def script() -> str:
    """The functions of the tables as plain script; `enlivenTables(root)` is the one to call."""
    return (_FOLDER / "tables.js").read_text(encoding="utf-8")


@cache
def style() -> str:
    """How tables look; the colours `--ink`, `--muted`, `--line`, `--card`, `--paper` and `--accent` are the host's."""
    return (_FOLDER / "tables.css").read_text(encoding="utf-8")


@cache
def widget_module() -> str:
    """An ES module for anywidget: `html_widget.js` with the tables in it, and a way to put a cell below."""
    parts = (script(), *((_FOLDER / name).read_text(encoding="utf-8") for name in ("insert_cell.js", "html_widget.js")))
    return "\n".join(parts)
