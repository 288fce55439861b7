"""One cell under `%%gpuprofile` in a fresh kernel, as a person runs it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
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
run = gpuprof.last()
print(json.dumps({'json': run.to_dict(), 'text': run.text(), 'unplaced': unplaced(run.trace)}))
"""


def look(
    source: str, folder: Path, before: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The JSON and the text of its report, what it leaves `unplaced`, and `seconds` of the whole cell; or `error`,
    what the kernel raised. `before`: cells that run first; `environment`: more variables of the kernel.
    """
    client = NotebookClient(nbformat.v4.new_notebook(), km=KernelManager(), timeout=_TIMEOUT_S)
    variables = {**os.environ, "PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1", **(environment or {})}
    with client.setup_kernel(cwd=str(folder), env=variables):
        _run(client, "%load_ext gpuprof")
        began = time.monotonic()
        try:
            for each in before:
                _run(client, each)
            began = time.monotonic()
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
