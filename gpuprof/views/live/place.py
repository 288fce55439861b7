"""The output of a profiled cell in which the strip stands first and the dashboard afterwards."""

from __future__ import annotations

import ipywidgets


class Place(ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """An empty box that says, where widgets are not shown, what it would have held."""

    def __repr__(self) -> str:
        # all that an untrusted or unattended notebook shows in place of a widget
        return "gpuprof dashboard: it needs a live kernel; the report below holds its figures."
