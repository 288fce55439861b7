"""HTML of ours in a live notebook: its tables sort and filter there, its buttons ask the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from gpuprof.views import tables
from gpuprof.views.widget_lifecycle import EndsQuietly


class HtmlWidget(EndsQuietly, anywidget.AnyWidget):  # type: ignore[misc]  # anywidget brings no types
    """Shows `html`, in which every name must be escaped. A click on an element with `data-ask="…"` calls `asked` with
    that text; what it returns is shown below. With `data-waits` the reader is told meanwhile that a busy kernel waits.
    """

    _esm = tables.widget_module()
    _css = f".gpuprof-sheet {{\n{tables.style()}}}\n"

    html = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    answers = traitlets.Int().tag(sync=True)

    def __init__(self, html: str, asked: Callable[[str], str] | None = None):
        self._asked = asked
        super().__init__(html=html)
        self.on_msg(self._hear)

    def ask(self, what: str) -> None:
        """What a click on `data-ask=what` does."""
        try:
            said = self._asked(what) if self._asked is not None else ""
        # the boundary to the front end: nobody else would see what went wrong
        except Exception as error:  # noqa: BLE001
            said = f"{type(error).__name__}: {error}"
        with self.hold_sync():
            self.said = said
            self.answers += 1

    def close(self) -> None:
        """Also forget whom to ask."""
        self._asked = None
        super().close()

    def _hear(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("ask"), str):
            self.ask(content["ask"])
