"""A JupyterLab, or a Notebook 7, of our own on the loopback, for browser tests."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.kernel import ANY_LOAD

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Server:
    """Where it listens, and the folder it serves."""

    port: int
    token: str
    folder: Path

    def url(self, path: str = "") -> str:
        """The address of a page in it."""
        return f"http://127.0.0.1:{self.port}/{path}?token={self.token}&reset"

    def kernels(self) -> list[dict[str, Any]]:
        """Those that run, with their `execution_state` and how many `connections` each has."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/kernels?token={self.token}", timeout=10) as said:
            return json.load(said)


@contextlib.contextmanager
def jupyterlab(folder: Path, *, subshells: bool = True) -> Iterator[Server]:
    """Serve `folder/work`; settings, runtime files and the log lie beside it in `folder`.

    Without `subshells` a widget's message always waits for the running cell; with them it does so now and then only.
    """
    options = "--LabApp.news_url=None", "--LabApp.collaborative=False"
    with _serving(folder, "jupyterlab", "LabApp", *options, subshells=subshells) as server:
        yield server


@contextlib.contextmanager
def notebook7(folder: Path) -> Iterator[Server]:
    """The same by Notebook 7."""
    with _serving(folder, "notebook", "JupyterNotebookApp") as server:
        yield server


@contextlib.contextmanager
def _serving(folder: Path, module: str, application: str, *options: str, subshells: bool = True) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token, work = secrets.token_hex(16), folder / "work"
    work.mkdir()
    _at_any_load(folder / "ipython")
    places = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    overrides = folder / "settings"
    _override(overrides, subshells)
    command = [
        *(sys.executable, "-m", module, "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1"),
        *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={work}"),
        *(f"--{application}.app_settings_dir={overrides}", *options),
    ]
    environment = os.environ | places | {"PYTHONPATH": str(REPOSITORY), "IPYTHONDIR": str(folder / "ipython")}
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=work)
        try:
            _await(port, token, process)
            yield Server(port, token, work)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def _at_any_load(ipython: Path) -> None:
    """Kernels here share their cores with other tests; findings would rightly be withheld for that."""
    startup = ipython / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "any_load.py").write_text(ANY_LOAD)


def _override(folder: Path, subshells: bool) -> None:
    """No question about news, no update check: both would ask the network."""
    folder.mkdir()
    overrides = {
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        "@jupyterlab/apputils-extension:kernels-settings": {
            "commsOverSubshells": "perCommTarget" if subshells else "disabled"
        },
    }
    (folder / "overrides.json").write_text(json.dumps(overrides))


def _await(port: int, token: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status?token={token}", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise RuntimeError(f"Jupyter did not start (exit status {process.poll()})")
