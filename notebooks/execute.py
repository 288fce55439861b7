"""Execute notebooks in a real Jupyter kernel, keep each as `<name>.executed.ipynb`, and print what its profiled cells say.

python notebooks/execute.py            every notebook
python notebooks/execute.py quickstart only that one
python notebooks/execute.py --save     and put what they show into the notebooks themselves, for readers
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from saving import as_saved

FOLDER = Path(__file__).resolve().parent
SECONDS_A_CELL = 240
MAGIC = "%%gpuprofile"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="names in this folder, or paths")
    parser.add_argument("--save", action="store_true", help="keep the outputs in the notebook, where nothing failed")
    options = parser.parse_args(arguments)
    sources = [_path(name) for name in options.notebooks] or sorted(
        path for path in FOLDER.glob("*.ipynb") if not path.name.endswith(".executed.ipynb")
    )
    return max(execute(path, save=options.save) for path in sources)


def _path(name: str) -> Path:
    return Path(name).resolve() if name.endswith(".ipynb") else FOLDER / f"{name}.ipynb"


def execute(path: Path, *, save: bool = False) -> int:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=SECONDS_A_CELL, resources={"metadata": {"path": str(path.parent)}})
    client.extra_arguments = ["--log-level=ERROR"]  # else the kernel says that loopback is not encrypted
    began = time.monotonic()
    failure = ""
    with tempfile.TemporaryDirectory(prefix="gpuprof-notebook-") as runs:  # no run of another day to be compared with
        try:
            client.execute(env=os.environ | {"GPUPROF_FOLDER": runs})
        except CellExecutionError as error:
            failure = str(error)
    kept = path.with_suffix(".executed.ipynb")
    nbformat.write(notebook, kept)
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith(MAGIC):
            say(text for output in cell.outputs if (text := verdict_of(output)))
    say([f"{path.name}: executed in {time.monotonic() - began:.0f} s, kept as {kept.name}", failure])
    if save and not failure:
        nbformat.write(as_saved(notebook), path)
        say([f"{path.name}: saved with its outputs, {path.stat().st_size / 1000:.0f} kB"])
    return 1 if failure else 0


def verdict_of(output: nbformat.NotebookNode) -> str:
    return str(output.get("data", {}).get("text/plain", "")) if "text/html" in output.get("data", {}) else ""


def say(lines: object) -> None:
    for line in lines:  # type: ignore[attr-defined]
        if line:
            sys.stdout.write(f"{line}\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
