"""Profiles the cells of the labelled pairs, each in a kernel of its own, and keeps what is said of them.

python -m benchmarks.rounds.of_pairs [NAME ...] [--variants bad good] -o FOLDER

One JSON file a cell; what is there already is not repeated. Cells run on the CPU, at the size that is meant for it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.proving.pair import Pair, named_pairs
from benchmarks.rounds.sight import look


def cells_of(pair: Pair, variants: list[str]) -> Iterator[tuple[str, list[str], str]]:
    """Of each of these variants that it has: its name, the cells that run before, and the profiled one."""
    size = pair.sizes[pair.sizes_on("cpu")[0]]
    values = f"from types import SimpleNamespace\nsize, device = SimpleNamespace(**{dict(size)!r}), 'cpu'"
    for each in variants:
        if each in pair.variants:
            yield f"{pair.name} {each}", [values, pair.setup], pair.variants[each].source


def main(arguments: list[str]) -> int:
    """Keep one JSON file per cell."""
    parser = argparse.ArgumentParser(description="what is said of the labelled pairs")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--variants", nargs="+", default=["bad", "good"])
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir(parents=True, exist_ok=True)
    for pair in named_pairs(tuple(chosen.names)):
        for name, before, source in cells_of(pair, chosen.variants):
            _keep(chosen.output / f"{name}.json", before, source)
    return 0


def _keep(path: Path, before: list[str], source: str) -> None:
    if path.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        said: dict[str, Any] = look(source, Path(folder), before)
    path.write_text(json.dumps(said, indent=1, ensure_ascii=False), encoding="utf-8")
    print(path.stem, "error" if "error" in said else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
