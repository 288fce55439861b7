"""The Ranks tab: the collectives of all ranks that were loaded together."""

from __future__ import annotations

from gpuprof.views.rank_blocks import rank_blocks
from gpuprof.views.sections.section import Section

SECTION = Section(
    order=25,
    key="ranks",
    title="Ranks",
    known=lambda report: bool(rank_blocks(report.results)),
    blocks=lambda report: rank_blocks(report.results),
)
