"""One cell under `%%gpuprofile` in a fresh kernel, as a person runs it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

_ROOT = Path(__file__).resolve().parents[2]
_TIMEOUT_S = 300
_TELL = """
import gpuprof, json
from benchmarks.rounds.unplaced import unplaced
_run = gpuprof.last()
print(json.dumps({'json': _run.to_dict(), 'text': _run.text(), 'unplaced': unplaced(_run.trace)}))
"""


def look(
    source: str, folder: Path, before: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The JSON and the text of its report, what it leaves `unplaced`, and `seconds` of the whole cell; or `error`,
    what the kernel raised. `before`: cells that run first; `environment`: more variables of the kernel.
    """
    with kernel(folder, environment) as client:
        run(client, "%load_ext gpuprof")
        began = time.monotonic()
        try:
            for each in before:
                run(client, each)
            began = time.monotonic()
            run(client, "%%gpuprofile --display text\n" + source.lstrip("\n"))
        except CellExecutionError as error:
            return {"error": str(error)[-2000:]}
        seconds = time.monotonic() - began
        return {**told(client), "seconds": seconds}


@contextmanager
def kernel(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[NotebookClient]:
    """A fresh kernel that runs in `folder`."""
    client = NotebookClient(nbformat.v4.new_notebook(), km=KernelManager(), timeout=_TIMEOUT_S)
    paths = os.pathsep.join(each for each in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if each)
    variables = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **(environment or {})}
    with client.setup_kernel(cwd=str(folder), env=variables):
        try:
            yield client
        finally:
            # nbclient leaves a kernel of somebody else's manager alone
            client.km.shutdown_kernel(now=True)


def told(client: NotebookClient) -> dict[str, Any]:
    """What is said of the last profiled cell: `json`, `text`, `unplaced`."""
    outputs = run(client, _TELL)
    return dict(json.loads("".join(each.text for each in outputs if each.get("name") == "stdout")))


def run(client: NotebookClient, source: str) -> list[Any]:
    """The cell's outputs. CellExecutionError where it raises."""
    cell = nbformat.v4.new_code_cell(source)
    client.nb.cells.append(cell)
    client.execute_cell(cell, len(client.nb.cells) - 1)
    return list(cell.outputs)
