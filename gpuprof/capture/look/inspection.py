"""Whether the capture of this process was asked to look at values closer (`--inspect`). One runs at a time."""

from __future__ import annotations

_asked = False


def ask(inspect: bool) -> None:
    """Said by whoever starts a capture, before it starts."""
    global _asked
    _asked = inspect


def inspecting() -> bool:
    """Whether it was asked for."""
    return _asked
