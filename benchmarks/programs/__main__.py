"""Profiles each program once, in a kernel of its own, keeps what was said, and prints how that scores.

python -m benchmarks.programs FOLDER_WITH_SOURCES [NAME ...] [-o FOLDER] [--fetch]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.observer.programs import Program, ProgramError, fetch, programs, source
from benchmarks.programs.notebook import cells_of
from benchmarks.programs.packages import install
from benchmarks.programs.recipes import RECIPES
from benchmarks.programs.score import Score, score, table
from benchmarks.rounds.sight import look
from benchmarks.rounds.unplaced import table as unplaced_table

_KEPT = Path(".gpuprof/programs_said")


def main(arguments: list[str]) -> int:
    """1 where a source is not to be had."""
    parser = argparse.ArgumentParser(description="what is said of real programs")
    parser.add_argument("sources", type=Path, help="a folder with the sources: OWNER/REPOSITORY/PATH")
    parser.add_argument("names", nargs="*", choices=[[], *RECIPES], metavar="NAME")
    parser.add_argument("-o", "--output", type=Path, default=_KEPT, help="where what was said is kept")
    parser.add_argument("--fetch", action="store_true", help="download the sources that are not there")
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir(parents=True, exist_ok=True)
    published, scored, left = all_programs(), list[Score](), dict[str, dict[str, Any]]()
    for name in chosen.names or RECIPES:
        try:
            if chosen.fetch:
                print(f"{name}: {fetch(published[name], chosen.sources)}", file=sys.stderr)
            cells = cells_of(source(published[name], chosen.sources), RECIPES[name])
        except ProgramError as error:
            print(error, file=sys.stderr)
            return 1
        told = _said(name, cells, chosen.output)
        scored.append(score(name, cells, RECIPES[name], told))
        print(scored[-1], file=sys.stderr, flush=True)
        left |= {name: told["unplaced"]} if "unplaced" in told else {}
    print(table(scored), unplaced_table(left), sep="\n\n")
    return 0


def all_programs() -> dict[str, Program]:
    """Those of the observer's manifest and those of this folder's."""
    return {**programs(), **programs(Path(__file__).with_name("manifest.toml"))}


def _said(name: str, cells: list[str], output: Path) -> dict[str, Any]:
    kept = output / f"{name}.json"
    if not kept.is_file():
        recipe = RECIPES[name]
        with tempfile.TemporaryDirectory() as made:
            # below site-packages: the kernel takes them for installed packages, as the real ones would be
            packages = Path(made) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
            working = Path(made) / "notebooks" / "here"
            working.mkdir(parents=True)
            install(packages)
            recipe.prepare(working)
            begin = (
                f"import sys\nsys.argv = ['main.py', *{list(recipe.arguments)!r}]\n"
                f"sys.path.insert(0, {str(packages)!r})\n"
                f"import torchvision.datasets\ntorchvision.datasets.MNIST.sizes = {recipe.images!r}"
            )
            told = look(cells[-1], working, [begin, *cells[:-1]], {"PYTHONUSERBASE": made})
        kept.write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return dict(json.loads(kept.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
