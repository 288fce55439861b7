"""Runs notebooks and keeps what is said of each of their profiled cells.

python -m benchmarks.rounds.of_notebooks NOTEBOOK ... -o FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from benchmarks.rounds.sight import kernel, run, told


def look_at(path: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """What is said of each profiled cell, by the notebook's name and the cell's number from 1; it runs in `folder`."""
    found = dict[str, dict[str, Any]]()
    codes = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    with kernel(folder) as client:
        for number, cell in enumerate(codes, 1):
            run(client, cell.source)
            if cell.source.startswith("%%gpuprofile"):
                found[f"{path.stem} {number}"] = told(client)
    return found


def main(arguments: list[str]) -> int:
    """Keep one JSON file per profiled cell."""
    parser = argparse.ArgumentParser(description="what is said of the cells of notebooks")
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir(parents=True, exist_ok=True)
    for path in chosen.notebooks:
        with tempfile.TemporaryDirectory() as folder:
            for name, said in look_at(path, Path(folder)).items():
                text = json.dumps(said, indent=1, ensure_ascii=False)
                (chosen.output / f"{name}.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
