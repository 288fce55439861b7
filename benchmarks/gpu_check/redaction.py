"""Removes folders, user and host names from recorded text, alike everywhere, so that names still match each other."""

from __future__ import annotations

import getpass
import re
import socket

# a path's folders, down to site-packages or to the file itself; names of operators and kernels hold no such thing
_PACKAGES = re.compile(rb"/(?:[^/\s\"':()]+/)+(?=(?:site|dist)-packages/)")
_FOLDERS = re.compile(rb"(?<![\w.>)\]/])/(?:home|root|Users|tmp|var|work|mnt|opt|usr|data|srv)/(?:[^/\s\"':()]+/)*")
# the kernel's own version may name where a machine stands
_KERNEL = re.compile(rb"\bLinux-\d[\w.+-]*")
_COMMON = {"root", "user", "jovyan", "localhost", "python", "torch", "main"}


def redacted(text: bytes) -> bytes:
    """Without them."""
    text = _KERNEL.sub(b"Linux", _FOLDERS.sub(b"", _PACKAGES.sub(b"", text)))
    for name in _own_names():
        text = re.sub(rb"(?<![\w-])" + re.escape(name.encode()) + rb"(?![\w-])", b"someone", text)
    return text


def _own_names() -> list[str]:
    names = {socket.gethostname()}
    try:
        names.add(getpass.getuser())
    except (KeyError, OSError):
        return sorted(names)
    return sorted(name for name in names if len(name) >= 3 and name.lower() not in _COMMON)
