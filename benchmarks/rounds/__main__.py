"""Profiles every cell of a round once, in a kernel of its own, and writes what was said and how it scores.

python -m benchmarks.rounds FOLDER [NAME ...] [-o FOLDER]

FOLDER holds one Python file per cell, as benchmarks/rounds/README.md describes. What is there already is not repeated:
a round is scored once.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.rounds.score import score, table
from benchmarks.rounds.sight import look


def main(arguments: list[str]) -> int:
    """Print the table, as Markdown."""
    parser = argparse.ArgumentParser(description="first sight of a round of cells")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="where what was said is kept, one JSON per cell"
    )
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir(parents=True, exist_ok=True)
    scored = []
    for path in sorted(chosen.folder.glob("*.py")):
        if chosen.names and path.stem not in chosen.names:
            continue
        cell = runpy.run_path(str(path))
        scored.append(score(path.stem, cell, _said(path.stem, cell, chosen.output)))
        print(scored[-1], file=sys.stderr, flush=True)
    print(table(scored))
    return 0


def _said(name: str, cell: dict[str, Any], output: Path) -> dict[str, Any]:
    kept = output / f"{name}.json"
    if not kept.is_file():
        source = cell.get("FAULTY") or cell["GOOD"]
        with tempfile.TemporaryDirectory() as folder:
            kept.write_text(json.dumps(look(source, Path(folder)), indent=1, ensure_ascii=False), encoding="utf-8")
    return dict(json.loads(kept.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
