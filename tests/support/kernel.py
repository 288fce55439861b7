"""A real ipykernel, driven through nbclient one cell at a time."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

REPOSITORY = Path(__file__).resolve().parents[2]
# in a traceback; the checkout may be named gpuprof, too, and hold torch
OWN_FRAMES = f"{REPOSITORY.name}/gpuprof/"
SECONDS_A_CELL = 120
# Beside other tests a cell may hardly get a core; its findings would rightly be withheld.
ANY_LOAD = (
    "from gpuprof.capture.process import host_sampler; assert host_sampler.times_told; "
    "host_sampler.times_told = lambda _: None; del host_sampler"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Ran:
    """What one cell left behind. `failed` is the kernel's reply: where it is set, Run All stops.

    `next_input` is the cell that it asks the front end to put below.
    """

    outputs: list[Any] = field(default_factory=list)
    failed: bool = False
    count: int | None = None
    next_input: str | None = None

    def stream(self, name: str) -> str:
        return "".join(o.text for o in self.outputs if o.output_type == "stream" and o.name == name)

    @property
    def values(self) -> list[str]:
        return [o.data["text/plain"] for o in self.outputs if o.output_type == "execute_result"]

    @property
    def errors(self) -> list[Any]:
        return [o for o in self.outputs if o.output_type == "error"]

    @property
    def traceback(self) -> str:
        return "\n".join(_COLOUR.sub("", line) for error in self.errors for line in error.traceback)

    @property
    def displays(self) -> list[dict[str, Any]]:
        return [dict(o.data) for o in self.outputs if o.output_type == "display_data"]

    @property
    def reports(self) -> list[dict[str, Any]]:
        """Bundles that a profiled cell left (figures hold an image, widgets a view)."""
        return [d for d in self.displays if not any(m.startswith("image/") or "widget-view" in m for m in d)]


class LiveKernel:
    """One kernel; `run` executes a cell in it."""

    def __init__(self, client: NotebookClient):
        self.client = client

    def run(self, source: str, *, store_history: bool = True, live: bool = False) -> Ran:
        """Execute a cell. `live` says that a person could answer, as JupyterLab does and nbclient does not."""
        self.client.kc.allow_stdin = live
        cell = nbformat.v4.new_code_cell(source)
        self.client.nb.cells.append(cell)
        failed, replies = False, list[dict[str, Any]]()
        self.client.on_cell_executed = lambda **event: replies.append(event["execute_reply"]["content"])
        try:
            self.client.execute_cell(cell, len(self.client.nb.cells) - 1, store_history=store_history)
        except CellExecutionError:
            failed = True
        texts = [each["text"] for reply in replies for each in reply.get("payload", ()) if "text" in each]
        return Ran(_joined(cell.outputs), failed, cell.execution_count, texts[-1] if texts else None)

    def value(self, expression: str) -> str:
        """The repr of an expression; fails the test where it raises."""
        ran = self.run(f"print(repr({expression}))")
        assert not ran.failed, ran.traceback
        return ran.stream("stdout").rstrip("\n")

    def interrupt_when(self, flag: Path) -> threading.Thread:
        """Interrupt the kernel, as the stop button does, as soon as a cell has made the file `flag`."""

        def wait() -> None:
            for _ in range(600):
                if flag.exists():
                    break
                threading.Event().wait(0.05)
            self.client.km.interrupt_kernel()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread


def _joined(outputs: list[Any]) -> list[Any]:
    """The outputs, with what a kernel under load sent of one stream in several pieces put together."""
    joined: list[Any] = []
    for output in outputs:
        before = joined[-1] if joined else None
        if before is not None and output.output_type == before.output_type == "stream" and output.name == before.name:
            before.text += output.text
        else:
            joined.append(output)
    return joined


@contextmanager
def live_kernel(folder: Path) -> Iterator[LiveKernel]:
    """A fresh kernel working in `folder`, with this checkout importable and gpuprof loaded."""
    client = NotebookClient(nbformat.v4.new_notebook(), km=KernelManager(), timeout=SECONDS_A_CELL)
    with client.setup_kernel(cwd=str(folder), env=kernel_environment()):
        kernel = LiveKernel(client)
        assert not kernel.run("%load_ext gpuprof").outputs
        assert not kernel.run(ANY_LOAD, store_history=False).outputs
        yield kernel


def kernel_environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def notebook_of(*sources: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
