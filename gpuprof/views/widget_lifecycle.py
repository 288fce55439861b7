"""Closes widgets with all that they hold: ipywidgets keeps every model, its layout and its data until it is closed."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets


class EndsQuietly:
    """For a widget with a `close()` of its own. ipywidgets holds each until it is closed, so one is collected unclosed
    only when the interpreter ends: what it would need to be closed is gone by then, and so is the front end."""

    def __del__(self) -> None:
        """Nothing is left to do."""


def close_all(widget: ipywidgets.Widget) -> None:
    """Close the widget, what is in it, and their layouts and styles; the front end takes them away."""
    for each in list(_held(widget, set())):
        # one that closes its own content would come back here
        super_close = getattr(each, "close_alone", each.close)
        super_close()


def _held(widget: ipywidgets.Widget, seen: set[int]) -> Iterator[ipywidgets.Widget]:
    if id(widget) in seen:
        return
    seen.add(id(widget))
    for name in widget.keys:
        if not widget.trait_has_value(name):
            continue
        value = getattr(widget, name)
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, ipywidgets.Widget):
                yield from _held(each, seen)
    yield widget
