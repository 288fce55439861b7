"""One cell under `%%gpuprofile` in a fresh kernel, as a person runs it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

_ROOT = Path(__file__).resolve().parents[2]
_TIMEOUT_S = 300
_TELL = "import gpuprof, json; print(json.dumps({'json': gpuprof.last().to_dict(), 'text': gpuprof.last().text()}))"


def look(source: str, folder: Path) -> dict[str, Any]:
    """The JSON and the text of its report and `seconds` of the whole cell; or `error`, what the kernel raised."""
    client = NotebookClient(nbformat.v4.new_notebook(), km=KernelManager(), timeout=_TIMEOUT_S)
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1"}
    with client.setup_kernel(cwd=str(folder), env=environment):
        _run(client, "%load_ext gpuprof")
        began = time.monotonic()
        try:
            _run(client, "%%gpuprofile --display text\n" + source.lstrip("\n"))
        except CellExecutionError as error:
            return {"error": str(error)[-2000:]}
        seconds = time.monotonic() - began
        told = "".join(
            each.text for each in _run(client, _TELL) if each.output_type == "stream" and each.name == "stdout"
        )
    return {**json.loads(told), "seconds": seconds}


def _run(client: NotebookClient, source: str) -> list[Any]:
    cell = nbformat.v4.new_code_cell(source)
    client.nb.cells.append(cell)
    client.execute_cell(cell, len(client.nb.cells) - 1)
    return list(cell.outputs)
