"""Figures that an earlier condition of a rule has made sure of."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which is not None here; a rule that asks too early fails, which `judge` turns into an Abstention."""
    assert value is not None
    return value
