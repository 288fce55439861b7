"""Every section, found by scanning this package."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import TYPE_CHECKING

from gpuprof.views import sections
from gpuprof.views.sections.section import Section

if TYPE_CHECKING:
    from gpuprof.report import Report


@functools.cache
def all_sections() -> tuple[Section, ...]:
    """In their order."""
    names = [each.name for each in pkgutil.iter_modules(sections.__path__)]
    modules = [importlib.import_module(f"{sections.__name__}.{name}") for name in names]
    found = [getattr(module, "SECTION", None) for module in modules]
    return tuple(sorted((each for each in found if isinstance(each, Section)), key=lambda each: each.order))


def sections_of(report: Report) -> tuple[Section, ...]:
    """Those that have something of this run to show."""
    return tuple(section for section in all_sections() if section.known(report))
