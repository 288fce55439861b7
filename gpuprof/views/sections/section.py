"""What a section is: one file of this package, found by scan, that shows one side of a run in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuprof.views.blocks import Block

if TYPE_CHECKING:
    from gpuprof.report import Report


@dataclass(frozen=True)
class Section:
    """One tab, the same in the page and in the dashboard; the one with the lower `order` is further left.

    `known(report)`: whether the run has anything for it; without, there is no such tab. `blocks(report)` are its
    tables, curves, source and sentences; a view that must not show source leaves those out. `chart` names the chart
    that stands for the curves where charts can be drawn.
    """

    order: int
    key: str
    title: str
    known: Callable[[Report], bool]
    blocks: Callable[[Report], Sequence[Block]]
    chart: str | None = None
