"""Joins the timeline's modules into one, for hosts that take a single script."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
# A module stands after those it imports.
_MODULES = (
    "columns", "series", "text", "scale", "palette", "layout", "marks", "curves", "pick", "card", "search", "totals",
    "frame", "toolbar", "panel", "findings", "input", "timeline",
)  # fmt: skip
_IMPORT = re.compile(r"^import .*? from \"\./[a-z]+\.js\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


@cache
def script() -> str:
    """The modules as one classic body without `import` or `export`: `mount`, `openPayload`, `fromBase64`, `inflate`."""
    return "\n".join(_body(name) for name in _MODULES)


@cache
def widget_module() -> str:
    """One ES module for anywidget: exports `mount` and, as default, `{ render }`."""
    return f"{script()}\n{_body('widget')}\nexport {{ mount, openPayload }};\n"


@cache
def style() -> str:
    """The timeline's style sheet."""
    return (_FOLDER / "timeline.css").read_text(encoding="utf-8")


def _body(name: str) -> str:
    source = (_FOLDER / "js" / f"{name}.js").read_text(encoding="utf-8")
    return _EXPORT.sub("", _IMPORT.sub("", source))
