"""The Where tab: hot spots, phases, and what the CPU did while the device was idle."""

from __future__ import annotations

from gpuprof.views.accounts import account_blocks, account_sentences
from gpuprof.views.sections.section import Section

SECTION = Section(
    order=5,
    key="where",
    title="Hot spots",
    known=lambda report: not report.gate.validity.nothing_holds and bool(account_blocks(report.results)),
    blocks=lambda report: [*account_blocks(report.results), *account_sentences(report.results)],
)
