"""What the other tools say of a round's cells: PyPI's gpuprof and torch's own TorchTidy, each in a fresh process.

python -m benchmarks.rounds.others FOLDER [NAME ...] --site SITE -o FOLDER

SITE: the folder that PyPI's gpuprof was installed into (`pip install --target SITE gpuprof==0.7.1`). The cell with the
fault is asked about, of a healthy one the cell. What is there already is not repeated. A tool that takes longer than
its time says so.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.proving.fresh import in_fresh_process, write_json
from benchmarks.proving.others import pypi_gpuprof
from benchmarks.proving.pair import Pair, Variant

TIMEOUT_S = 60.0
TOOLS = ("torchtidy", "pypi_gpuprof")


def main(arguments: list[str]) -> int:
    """Print the table, as Markdown."""
    parser = argparse.ArgumentParser(description="what other tools say of a round of cells")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--site", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--device", default="cpu", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.within is not None:
        write_json(chosen.output, {"advice": torchtidy(source_of(chosen.within))})
        return 0
    said = {}
    for path in sorted(chosen.folder.glob("*.py")):
        if not chosen.names or path.stem in chosen.names:
            said[path.stem] = _said(path, chosen.site, chosen.output)
            print(path.stem, said[path.stem], file=sys.stderr, flush=True)
    print(table(said))
    return 0


def source_of(path: Path) -> str:
    """The cell that is asked about."""
    cell = runpy.run_path(str(path))
    return str(cell.get("FAULTY") or cell["GOOD"]).lstrip("\n")


def torchtidy(source: str) -> list[str]:
    """The patterns that TorchTidy matches in this cell, run here."""
    from torch.profiler import ProfilerActivity, _pattern_matcher, profile

    from benchmarks.proving.others.torchtidy import PATTERNS
    from benchmarks.proving.play import notebook

    options: dict[str, Any] = {"with_stack": True, "record_shapes": True, "profile_memory": True}
    with notebook() as cells, profile(activities=[ProfilerActivity.CPU], **options) as profiled:
        cells.run(source)
    return [each for each in PATTERNS if getattr(_pattern_matcher, each)(profiled).matched_events()]


def table(said: Mapping[str, Mapping[str, Any]]) -> str:
    """One row a cell: what each tool advises, or why it says nothing."""
    rows = ["| cell | TorchTidy (in torch) | gpuprof of PyPI (0.7.1) |", "|---|---|---|"]
    return "\n".join(
        [*rows, *(f"| {name} | {' | '.join(_words(each[tool]) for tool in TOOLS)} |" for name, each in said.items())]
    )


def _words(answer: Mapping[str, Any]) -> str:
    if "error" in answer:
        return f"not run: {str(answer['error'])[:60]}".replace("|", "/")
    names = (each if isinstance(each, str) else each["name"] for each in answer["advice"])
    return "; ".join(names).replace("|", "/") or "nothing"


def _said(path: Path, site: Path, output: Path) -> dict[str, Any]:
    kept = output / f"{path.stem}.json"
    if not kept.is_file():
        within = [str(path.parent), "--site", str(site), "--within", str(path.resolve())]
        tidy = in_fresh_process("benchmarks.rounds.others", within, device="cpu", timeout_s=TIMEOUT_S)
        write_json(kept, {"torchtidy": tidy, "pypi_gpuprof": _pypi(path, site)})
    return dict(json.loads(kept.read_text(encoding="utf-8")))


def _pypi(path: Path, site: Path) -> dict[str, Any]:
    variant = Variant("bad", source_of(path), (), ())
    cell = Pair(path.stem, "", path, 0, "rounds", (), "", "cpu", "", {"cpu": {}}, "", {"bad": variant})
    return pypi_gpuprof.advise(cell, "bad", "cpu", "cpu", site.resolve())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
