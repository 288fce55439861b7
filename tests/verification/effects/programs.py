"""The folder, the server and the variables in which the programs of `stopped` and `let_run` run."""

from __future__ import annotations

import hashlib
import socket
import threading
from pathlib import Path
from typing import Any

STEPS = """
import torch as _torch
_weight = _torch.nn.Parameter(_torch.ones(1))
_sgd = _torch.optim.SGD([_weight], lr=0.1)
def step():
    _weight.grad = _torch.ones(1)
    _sgd.step()
"""


class Server:
    """Counts who calls it."""

    def __init__(self) -> None:
        self.calls = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            caller.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def fill(folder: Path) -> None:
    (folder / "kept").mkdir()
    (folder / "empty").mkdir()
    for name in ("kept.txt", "kept/inner.txt", "kept.db", "kept.bin"):
        (folder / name).write_bytes(b"" if name == "kept.db" else b"kept" * 16)


def tree(folder: Path) -> list[tuple[Any, ...]]:
    found = [(each, each.lstat()) for each in sorted(folder.rglob("*"))]
    return [(str(each), stat.st_mode, stat.st_mtime_ns, _content(each)) for each, stat in found]


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def prepared(code: str, port: int) -> tuple[dict[str, Any], str]:
    """The variables as an earlier cell has left them, and the cell."""
    names: dict[str, Any] = {"__name__": "__main__", "PORT": port}
    earlier, _, cell = code.rpartition("# ---\n")
    exec(STEPS + earlier, names)
    return names, cell
