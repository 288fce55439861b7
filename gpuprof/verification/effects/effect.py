"""One effect on the world, in words, and the exception that stops it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class StoppedEffect(BaseException):
    """Raised where the effect would happen. No Exception: a cell's `except Exception` must not hide it."""


class EffectKind(StrEnum):
    """What is acted on."""

    FILES = "files"
    PROCESSES = "processes"
    NETWORK = "network"
    OTHER = "other"


@dataclass(frozen=True)
class Effect:
    """`what` goes on behind "line 3 of the cell": a verb, an object.

    `paths` are the files acted on. `direct`: it counts only where code of the user's does it, not a library for it.
    """

    what: str
    kind: EffectKind
    paths: tuple[str, ...] = ()
    direct: bool = False
