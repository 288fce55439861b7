"""The output of a profiled cell in which the status bar stands first and the card afterwards."""

from __future__ import annotations

from typing import Self

import ipywidgets

from gpuprof.views.widget_lifecycle import close_all

NO_WIDGETS = "gpuprof: buttons and dashboard need a live kernel and widgets; see the report below."
_standing: dict[str, Place] = {}


class Place(ipywidgets.VBox):  # type: ignore[misc]  # untyped
    """An empty box that says, where widgets are not shown, what it would have held."""

    @classmethod
    def under(cls, cell: str) -> Self:
        """A new place under this cell (its id, else its code). What stood there before goes, and lets its run go."""
        before = _standing.pop(cell, None)
        if before is not None:
            close_all(before)
        place = cls()
        _standing[cell] = place
        return place

    def put(self, content: ipywidgets.Widget | None) -> None:
        """Hold this and nothing else; what was here before is closed."""
        before: tuple[ipywidgets.Widget, ...] = self.children  # type: ignore[has-type]  # untyped
        self.children = () if content is None else (content,)
        for each in before:
            if each is not content:
                close_all(each)

    def __repr__(self) -> str:
        # all that an untrusted or unattended notebook shows in place of a widget
        return NO_WIDGETS
