"""One module a rule, in the rule's room: `fires()`, `stays_quiet()`, `abstains()` and what is EXPECTED."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType


@functools.cache
def case_modules() -> dict[str, str]:
    """The module of every case by its rule's name."""
    found = pkgutil.walk_packages(__path__, f"{__name__}.")
    return {each.name.rpartition(".")[2]: each.name for each in found if not each.ispkg}


def case_of(name: str) -> ModuleType:
    """The case of that rule."""
    return importlib.import_module(case_modules()[name])
