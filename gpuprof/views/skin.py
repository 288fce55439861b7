"""How a medium dresses the parts of `templates/finding.html.jinja`: by classes, or by styles of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from gpuprof.views.theme import GREY, Kind

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Skin:
    """`box` and `heading` are the elements of a card and of its title. `prefix` stands before each class; where
    `styles` are given, each part has its style instead, or nothing. `asks` are the attributes of the button that shows
    a finding in the timeline, with `{number}` and `{index}` (from 0); without, there is none. `between` stands between
    the commands.
    """

    box: str = "div"
    heading: str = "p"
    prefix: str = ""
    styles: Mapping[str, str] | None = None
    asks: str = ""
    between: str = ""
    severity: str = "{}"

    def part(self, name: str) -> Markup:
        """The attribute of a part, with a space before it; empty where it has none."""
        if self.styles is None:
            return Markup(' class="{}"').format(self._class(name))
        return Markup(' style="{}"').format(self.styles[name]) if name in self.styles else Markup("")

    def edge(self, kind: Kind | None) -> Markup:
        """The attributes of a card: its left edge has the colour of that kind of time."""
        if self.styles is None:
            coloured = f" edge-{kind.key}" if kind else ""
            return Markup(' class="{}"').format(self._class("card") + coloured)
        return Markup(' style="{}"').format(f"{self.styles['card']};border-left-color:{kind.light if kind else GREY}")

    def button(self, number: int) -> Markup:
        """The attributes of the button that shows this finding in the timeline; empty where there is none."""
        return Markup(self.asks.format(number=number, index=number - 1))  # ours, with a number in it

    def level(self, severity: str) -> Markup:
        """The severity as it is shown."""
        return escape(self.severity.format(severity))

    def _class(self, name: str) -> str:
        # the roles of a diff's lines are looked for inside of it
        return name if name in ("added", "removed", "place", "kept") else self.prefix + name
