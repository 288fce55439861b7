"""Python's audit events, judged: which of them would change the world, and which only seem to.

The table of events: https://docs.python.org/3/library/audit_events.html
"""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuprof.verification.effects.effect import Effect, EffectKind

Judge = Callable[..., Effect | None]

_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_TERMINALS = ("/dev/stdout", "/dev/stderr", "/dev/null", "/dev/zero", "/dev/full", os.devnull)
_NO_FOLDER = -1
_LONGEST_NAME = 60
_MMAP_READ, _MMAP_COPY = 1, 3


def shown(value: Any) -> str:
    """A name as text of one line, shortened in the middle."""
    text = repr(os.fsdecode(value) if isinstance(value, bytes | os.PathLike) else value)
    half = _LONGEST_NAME // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[:half]}…{text[-half:]}"


def written(path: Any, verb: str = "writes the file") -> Effect:
    """A file at `path` would be written."""
    return Effect(f"{verb} {shown(path)}", EffectKind.FILES, _paths((path, _NO_FOLDER)))


def _opened(path: Any, mode: Any, flags: Any) -> Effect | None:
    writes = bool(set(mode) & set("wax+")) if isinstance(mode, str) else False
    if not writes and not (isinstance(flags, int) and flags & _WRITING_FLAGS):
        return None
    if isinstance(path, int):
        return written_by_number(path)
    if not isinstance(path, str | bytes | os.PathLike) or os.fspath(path) in _TERMINALS:
        return None
    if os.fspath(path) == "/dev/tty":
        return Effect("asks at the terminal", EffectKind.OTHER)
    # only a file without a name can be opened there, or one that an opener opens, which is another event
    return None if _is_folder(path) else written(path, "opens a file to write,")


def written_by_number(number: int) -> Effect | None:
    """What an earlier cell opened, and a pipe or a terminal is none of the world's."""
    try:
        regular = stat.S_ISREG(os.fstat(number).st_mode)
        writable = regular and _flags(number) & (os.O_WRONLY | os.O_RDWR)
    except (OSError, ValueError):
        return None
    if not writable:
        return None
    return Effect(f"writes an open file, descriptor {number}", EffectKind.FILES, _paths((number, _NO_FOLDER)))


def _flags(number: int) -> int:
    import fcntl

    return fcntl.fcntl(number, fcntl.F_GETFL)


def _mapped(number: int, _length: int, access: int, _offset: int) -> Effect | None:
    if number == _NO_FOLDER or access in (_MMAP_READ, _MMAP_COPY):
        return None
    return written_by_number(number)


def _on_existing(verb: str) -> Judge:
    """What fails by itself where there is no such file."""

    def judge(path: Any, *rest: Any) -> Effect | None:
        folder = rest[-1] if rest and isinstance(rest[-1], int) else _NO_FOLDER
        return _act(verb, path, folder) if _exists(path, folder) else None

    return judge


def _on_two(verb: str) -> Judge:
    def judge(source: Any, target: Any, folder: int = _NO_FOLDER, other: int = _NO_FOLDER) -> Effect | None:
        if not _exists(source, folder):
            return None
        what = f"{verb} {shown(source)} to {shown(target)}"
        return Effect(what, EffectKind.FILES, _paths((source, folder), (target, other)))

    return judge


def _on_any(verb: str) -> Judge:
    def judge(path: Any, *_: Any) -> Effect:
        return _act(verb, path, _NO_FOLDER)

    return judge


def _made_folder(path: Any, _mode: int, folder: int = _NO_FOLDER) -> Effect | None:
    return None if _exists(path, folder) else _act("makes the folder", path, folder)


def _linked(_source: Any, target: Any, *folders: int) -> Effect:
    return _act("makes the link", target, folders[-1] if folders else _NO_FOLDER)


def _act(verb: str, path: Any, folder: int) -> Effect:
    return Effect(f"{verb} {shown(path)}", EffectKind.FILES, _paths((path, folder)))


def _exists(path: Any, folder: int) -> bool:
    try:
        if isinstance(path, int):
            os.fstat(path)
        elif folder == _NO_FOLDER:
            os.lstat(path)
        else:
            os.stat(path, dir_fd=folder, follow_symlinks=False)
    except (OSError, ValueError, TypeError):
        return False
    return True


def _is_folder(path: Any) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - `path` may be bytes
    except (OSError, ValueError):
        return False


def _paths(*given: tuple[Any, int]) -> tuple[str, ...]:
    found = []
    for path, folder in given:
        try:
            if isinstance(path, int):
                found.append(str(Path(f"/proc/self/fd/{path}").readlink()))
                continue
            inside = Path(f"/proc/self/fd/{folder}").readlink() if folder != _NO_FOLDER else Path.cwd()
            found.append(str(inside / os.fsdecode(path)))
        except (OSError, ValueError, TypeError):
            return ()
    return tuple(found)


def _process(verb: str) -> Judge:
    def judge(*args: Any) -> Effect:
        named = next((each for each in args if isinstance(each, str | bytes | list | tuple) and each), None)
        command = named if isinstance(named, str | bytes) or named is None else " ".join(map(_word, named))
        return Effect(verb if command is None else f"{verb}, {shown(command)}", EffectKind.PROCESSES)

    return judge


def _popen(executable: Any, args: Any, *_: Any) -> Effect | None:
    return _process("runs a program")(args or executable)


def _word(part: Any) -> str:
    return os.fsdecode(part) if isinstance(part, str | bytes | os.PathLike) else str(part)


def _signalled(_target: int, number: int, *_: Any) -> Effect | None:
    return Effect("sends a signal to a process", EffectKind.PROCESSES) if number else None


def _network(verb: str, at: int) -> Judge:
    def judge(*args: Any) -> Effect:
        named = f" {shown(args[at])}" if at < len(args) else ""
        return Effect(f"{verb}{named}", EffectKind.NETWORK)

    return judge


def _looked_up(host: Any, *_: Any) -> Effect | None:
    text = host.decode(errors="replace") if isinstance(host, bytes) else host
    if not text or text == "localhost" or not isinstance(text, str):
        return None
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return Effect(f"looks up the address of {shown(text)} in the network", EffectKind.NETWORK)
    return None


def _database(name: Any, *_: Any) -> Effect | None:
    text = os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else ""
    uri = text.startswith("file:")
    if text in ("", ":memory:") or (uri and (":memory:" in text or "mode=ro" in text or "mode=memory" in text)):
        return None
    return written(name, "opens the database")


def _other(what: str, *, direct: bool = False) -> Judge:
    def judge(*_: Any) -> Effect:
        return Effect(what, EffectKind.OTHER, direct=direct)

    return judge


_FILES: dict[str, Judge] = {
    "open": _opened,
    "mmap.__new__": _mapped,
    "os.remove": _on_existing("deletes the file"),
    "os.rmdir": _on_existing("deletes the folder"),
    "os.mkdir": _made_folder,
    "os.rename": _on_two("renames"),
    "os.link": _linked,
    "os.symlink": _linked,
    "os.truncate": _on_any("cuts the file"),
    **dict.fromkeys(("os.chmod", "os.chown", "os.lchown"), _on_existing("changes who may use the file")),
    "os.chflags": _on_any("changes the file"),
    "os.utime": _on_existing("changes the time of the file"),
    **dict.fromkeys(("os.setxattr", "os.removexattr"), _on_any("changes attributes of the file")),
    "sqlite3.connect": _database,
}
_PROCESSES: dict[str, Judge] = {
    "subprocess.Popen": _popen,
    "os.system": _process("runs a shell command"),
    **dict.fromkeys(("os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn"), _process("runs a program")),
    **dict.fromkeys(("os.fork", "os.forkpty"), _process("starts a process")),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), _signalled),
}
_NETWORK: dict[str, Judge] = {
    "socket.connect": _network("opens a connection to", 1),
    "socket.bind": _network("opens a port,", 1),
    **dict.fromkeys(("socket.sendto", "socket.sendmsg"), _network("sends to", 1)),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), _looked_up),
    "socket.gethostbyaddr": _looked_up,
    "socket.sethostname": _other("renames the computer"),
    **dict.fromkeys(("http.client.connect", "http.client.send"), _network("sends a request over the network", 9)),
    **dict.fromkeys(("ftplib.connect", "smtplib.connect", "poplib.connect"), _network("connects to", 1)),
    **dict.fromkeys(("imaplib.open", "nntplib.connect", "telnetlib.Telnet.open"), _network("connects to", 1)),
    **dict.fromkeys(("ftplib.sendcmd", "smtplib.send", "imaplib.send"), _network("sends over the network", 9)),
    **dict.fromkeys(("poplib.putline", "nntplib.putline"), _network("sends over the network", 9)),
    "webbrowser.open": _network("opens the browser at", 0),
}
_OTHERS: dict[str, Judge] = {
    **dict.fromkeys(("syslog.openlog", "syslog.syslog"), _other("writes to the system's log")),
    **dict.fromkeys(("builtins.input", "builtins.breakpoint"), _other("waits for the user")),
    "sys.addaudithook": _other("adds an audit hook, which nothing can take out again"),
    # what such a library then does is seen by nobody; those that torch and others load for themselves are theirs
    **dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym"), _other("calls compiled code through ctypes", direct=True)),
    **dict.fromkeys(
        (f"winreg.{name}" for name in ("CreateKey", "DeleteKey", "DeleteValue", "SaveKey", "LoadKey", "SetValue")),
        _other("changes the registry"),
    ),
}
JUDGED: dict[str, Judge] = {**_FILES, **_PROCESSES, **_NETWORK, **_OTHERS}
