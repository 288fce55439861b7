"""Names that hold the same kind of needless numbers: the one-hot tables of predictions and of labels, the parts of a
data set for training and for validation. They are one finding, with one change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuprof.analyses.memory.kept_memory import KeptTensors


@dataclass(frozen=True)
class AlikeNames:
    """Besides one name: the other `names` of its function, or of the notebook, their `bytes`, the `needless_bytes` of
    these, and the `lines` (1-based) of the cell that make them."""

    names: tuple[str, ...]
    bytes: int
    needless_bytes: int
    lines: tuple[int, ...]


def with_alike(kept: Sequence[KeptTensors]) -> list[KeptTensors]:
    """Those of one device, each with the names that are alike; where all are made in the profiled cell."""
    found = []
    for each in kept:
        kind = _kind(each)
        others = [other for other in kept if other is not each and kind and each.made and _kind(other) == kind]
        others = [other for other in others if other.made and other.function == each.function]
        if not others:
            found.append(each)
            continue
        found.append(
            replace(
                each,
                alike=AlikeNames(
                    tuple(other.shown for other in others),
                    sum(other.wide_bytes or other.bytes for other in others),
                    sum(other.zeros_bytes or other.wide_bytes - other.narrow_bytes for other in others),
                    tuple(sorted({line for other in others for line in other.made})),
                ),
            )
        )
    return found


def _kind(kept: KeptTensors) -> tuple[str, ...]:
    if kept.kind not in ("global", "frame"):
        return ()
    if kept.zeros_bytes:
        return ("one-hot" if kept.one_hot else "zeros",)
    return (kept.wide_type, kept.narrow_type) if kept.narrow_type else ()
