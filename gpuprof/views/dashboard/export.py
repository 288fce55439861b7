"""Writes a run's report beside the notebook, over nothing that is there."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from gpuprof.model.run_store import DEFAULT_FOLDER


def export(page: str, number: int | None, folder: Path | None) -> Path:
    """Write `gpuprof-report-<run number>.html`, with one more where that is taken; OSError where it cannot be.

    `number` is the run's. `folder`: that of the saved run; its notebook's folder is where the file goes, else the
    working directory.
    """
    stem = "gpuprof-report" if number is None else f"gpuprof-report-{number}"
    where = notebook_folder(folder)
    for more in count(1):
        path = where / (f"{stem}.html" if more == 1 else f"{stem}-{more}.html")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(page)
        except FileExistsError:
            continue
        return path
    raise AssertionError


def notebook_folder(folder: Path | None) -> Path:
    """The folder that holds `.gpuprof`, where the run was saved in one; else the working directory."""
    if folder is not None and folder.parent.name == DEFAULT_FOLDER:
        return folder.parent.parent
    return Path.cwd()
