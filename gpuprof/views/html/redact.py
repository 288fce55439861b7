"""Removes source code, paths, and user and host names from what the page shows."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Callable
from typing import Any

# A drive or a root, then folders: all but the last part of an absolute path.
_FOLDERS = re.compile(r"(?:(?<=^)|(?<=[\s\"'(=:,]))(?:[A-Za-z]:\\|~?/)(?:[^\\/\s\"'<>|()]+[\\/])+")
_NOT_A_SECRET = {"root", "user", "jovyan", "localhost", "python", "torch", "main"}


def redactor() -> Callable[[str], str]:
    """A function that shortens absolute paths to their last part and blanks this user's and host's names."""
    names = [
        re.escape(name)
        for name in sorted(_own_names(), key=len, reverse=True)
        if len(name) >= 3 and name.lower() not in _NOT_A_SECRET
    ]
    own = re.compile(rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-])", re.IGNORECASE) if names else None

    def redact(text: str) -> str:
        text = _FOLDERS.sub("…/", text)
        return own.sub("…", text) if own else text

    return redact


def _own_names() -> set[str]:
    names = {socket.gethostname(), socket.gethostname().partition(".")[0]}
    try:
        names.add(getpass.getuser())
    except (KeyError, OSError):
        # no entry for this user id, as in some containers
        return names
    return names


def redact_all(value: Any, redact: Callable[[str], str]) -> Any:
    """`value` with every text in it (dict values, lists, tuples) redacted; numbers stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_all(entry, redact) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(redact_all(entry, redact) for entry in value)
    return value
