"""The output above a profiled cell's own: the status bar while it runs. The card stands below it afterwards."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.display import DisplayHandle
    from ipywidgets import Widget

    from gpuprof.capture.session.session import Session
    from gpuprof.model.context import Cell

_FIRST_S = 0.5  # a cell that ends sooner never shows the status bar
_PERIOD_S = 0.25
# Of one core: where a status costs more than this it is taken more rarely.
_MOST_SHARE = 0.01


class LiveOutput:
    """One displayed widget whose content changes. Everything but `follow`'s thread runs on the main thread."""

    def __init__(self, cell: Cell) -> None:
        from gpuprof.views.live import StatusBar
        from gpuprof.views.live.place import Place

        self._box = Place.under(cell.cell_id or cell.source)
        self._status_bar = StatusBar()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._above: DisplayHandle | None = None
        self.became = False
        self.cost_ns = 0

    def open(self) -> None:
        """Display it, empty."""
        from IPython.display import display

        self._above = display(self._box, display_id=True)

    def follow(self, session: Session) -> None:
        """Show the session from now on, from a thread of its own; without one where no thread can be had."""
        thread = threading.Thread(target=self._follow, args=(session,), name="gpuprof-live", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads: the status bar is an extra
            return
        self._thread = thread

    def end(self) -> None:
        """Stop following."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(1.0)

    def say(self, stage: str) -> None:
        """Say what is done now, where the status bar is on show."""
        if self._box.children:
            self._status_bar.say(stage)

    def become(self, card: Widget) -> None:
        """Show this below all that the cell has shown, and nothing above it any more."""
        from IPython.display import display

        self._empty_above()
        self._box.put(card)
        display(self._box)
        self.became = True
        self._drop_status_bar()

    def clear(self) -> None:
        """Show nothing any more."""
        self._empty_above()
        self._box.put(None)
        self._drop_status_bar()

    def _empty_above(self) -> None:
        above, self._above = self._above, None
        if above is not None:
            above.update({"text/html": "", "text/plain": ""}, raw=True)

    def _drop_status_bar(self) -> None:
        from gpuprof.views.widget_lifecycle import close_all

        close_all(self._status_bar)

    def _follow(self, session: Any) -> None:
        wait = _FIRST_S
        while not self._ended.wait(wait):
            began = time.thread_time_ns()
            try:
                self._status_bar.show(session.live())
                if not self._box.children:
                    self._box.children = (self._status_bar,)
            except Exception:  # noqa: BLE001 - the end of our thread: a comm that is gone must not reach the user's cell
                return
            cost = time.thread_time_ns() - began
            self.cost_ns += cost
            wait = max(_PERIOD_S, cost / 1e9 / _MOST_SHARE)
