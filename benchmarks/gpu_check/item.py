"""One entry of the plan: which check, with which arguments, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """`module` is a file of `checks`. `least_s`: with less time left it is not begun; `limit_s`: it is ended then.

    `name` is unique in the plan; where a module is used once it is the module's.
    """

    module: str
    arguments: tuple[str, ...] = ()
    least_s: float = 10.0
    limit_s: float = 60.0

    @property
    def name(self) -> str:
        """The key in results.json."""
        return ":".join((self.module, *self.arguments))
