"""Whose code is it: the user's (a notebook, a script, a module beside it) or a library's?"""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_OURS = Path(__file__).parents[2]
_INSTALLED = ("site-packages", "dist-packages")


def is_users(names: dict[str, Any], namespaces: Iterable[dict[str, Any]]) -> bool:
    """Whether these globals are one of `namespaces`, or those of a module of the user's."""
    return any(names is namespace for namespace in namespaces) or is_users_module(
        str(names.get("__name__", "")), names.get("__file__")
    )


def is_users_class(kind: type, namespaces: Iterable[dict[str, Any]]) -> bool:
    """Whether the class was defined in one of them."""
    name = kind.__module__
    if any(name == namespace.get("__name__") for namespace in namespaces):
        return True
    module = sys.modules.get(name)
    return module is not None and is_users_module(name, getattr(module, "__file__", None))


@functools.cache
def is_users_module(name: str, file: str | None) -> bool:
    """Whether its file is neither Python's, nor installed, nor ours; `__main__` always is the user's."""
    if name == "__main__":
        return True
    if file is None:
        return False
    path = Path(file)
    theirs = [sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib")]
    if any(part in _INSTALLED for part in path.parts) or path.is_relative_to(_OURS):
        return False
    return not any(path.is_relative_to(folder) for folder in theirs)
