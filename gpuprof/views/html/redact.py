"""Removes source code, paths, and user and host names from what the page shows."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Callable
from pathlib import PureWindowsPath
from typing import Any

from gpuprof.model.trace import Trace

# A drive, a share or a root, then folders: all but the last part of an absolute path.
_FOLDERS = re.compile(
    r"(?:(?<=^)|(?<=[\s\"'`“(\[{<=:;,@]))(?:file://)?(?:[A-Za-z]:[\\/]|\\\\|~[\w.-]*/|/)(?:[^\\/\s\"'`<>|()]+[\\/])+"
)
_HOME = re.compile(r"[\\/](?:home|Users)[\\/]([\w. -]+)(?=[\\/])")
# tensorboard_trace_handler of torch.profiler calls its files `<host>_<process>.<time>.pt.trace.json`
_HOST = re.compile(r"(.+)_\d+\.\d+\.pt\.trace\.json")
_NOT_A_SECRET = {
    *("root", "user", "jovyan", "localhost", "python", "torch", "main"),
    *("ubuntu", "runner", "default", "shared", "public", "cuda", "linux"),
}


def redactor(trace: Trace | None = None) -> Callable[[str], str]:
    """A function that shortens absolute paths to their last part and blanks names of users and hosts.

    Blanked are the names of this user and host and, of `trace`, the users whose home folders its names mention and the
    host in the name of its file.
    """
    known = _own_names() | (_names_in(trace) if trace else set())
    names = [
        re.escape(name)
        for name in sorted(known, key=lambda name: (-len(name), name))
        if len(name) >= 3 and name.lower() not in _NOT_A_SECRET
    ]
    # a name with digits behind an underscore is that name still: `gpubox_4711`
    blanked = re.compile(rf"(?<![^\W_]|-)(?:{'|'.join(names)})(?![^\W_]|-)", re.IGNORECASE) if names else None
    folder = _folder(trace)

    def redact(text: str) -> str:
        if folder:
            text = text.replace(folder, "…/")
        text = _FOLDERS.sub("…/", text)
        return blanked.sub("…", text) if blanked else text

    return redact


def _folder(trace: Trace | None) -> str:
    """The folder of the trace's file with its last separator; empty where there is none worth hiding."""
    path = trace.source.path if trace else ""
    name = PureWindowsPath(path).name
    folder = path.removesuffix(name) if name else ""
    return folder if len(folder) > 1 else ""


def _names_in(trace: Trace) -> set[str]:
    source = trace.source.path
    users = {user for text in (source, *trace.names) for user in _HOME.findall(text)}
    host = _HOST.match(PureWindowsPath(source).name)
    return users | ({host[1], host[1].partition(".")[0]} if host else set())


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
