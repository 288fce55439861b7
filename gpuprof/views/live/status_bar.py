"""The status bar in a live notebook: an anywidget that draws one status after the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from gpuprof.views.live.live_status import CURVE_S, live_status
from gpuprof.views.theme import EVENTS

if TYPE_CHECKING:
    from gpuprof.capture.session.captured import Live

_HERE = Path(__file__).parent


class StatusBar(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget brings no types
    """`status` is what `live_status()` makes; `stage` says what is done after the cell, and then stands alone."""

    _esm = (_HERE / "status_bar.js").read_text(encoding="utf-8")
    _css = (_HERE / "status_bar.css").read_text(encoding="utf-8")

    status = traitlets.Dict().tag(sync=True)
    stage = traitlets.Unicode().tag(sync=True)
    look = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: Any):
        look = {name: [EVENTS[name].light, EVENTS[name].dark] for name in ("kernel", "memory")}
        super().__init__(look={**look, "curve_s": CURVE_S}, **traits)

    def show(self, live: Live) -> None:
        """Draw this status. Callable from any thread."""
        self.status = live_status(live)

    def say(self, stage: str) -> None:
        """Say what happens now that the cell has ended."""
        self.stage = stage
