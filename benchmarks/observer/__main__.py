"""Brings the programs, measures, and writes the page.

python -m benchmarks.observer fetch [--from FOLDER]
python -m benchmarks.observer measure [NAME ...] [--rounds 3]
python -m benchmarks.observer page --machine "2 cores, …"
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
from pathlib import Path

from benchmarks.observer.measure import measure, runs
from benchmarks.observer.page import page
from benchmarks.observer.programs import BASE_URL, ProgramError, default_folder, fetch, programs
from benchmarks.proving.fresh import ROOT

KEPT = ROOT / ".gpuprof" / "observer"
PAGE = ROOT / "benchmarks" / "observer.md"


def main(arguments: list[str]) -> int:
    """1 where a program could not be brought."""
    parser = argparse.ArgumentParser(description="what gpuprof does to real programs")
    parser.add_argument("--programs", type=Path, default=default_folder(), help="a folder of programs")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where runs are kept")
    works = parser.add_subparsers(dest="work", required=True)
    brings = works.add_parser("fetch", help="bring the programs")
    brings.add_argument("--from", dest="local", type=Path, help="a folder that has some; the others are downloaded")
    brings.add_argument("--base-url", default=BASE_URL)
    measures = works.add_parser("measure", help="run what has not been run")
    measures.add_argument("names", nargs="*", choices=[[], *programs()], metavar="NAME")
    measures.add_argument("--rounds", type=int, default=3)
    writes = works.add_parser("page", help="write the page")
    writes.add_argument("--machine", required=True, help="the machine, in words")
    writes.add_argument("-o", "--output", type=Path, default=PAGE)
    chosen = parser.parse_args(arguments)
    if chosen.work == "fetch":
        return bring_all(chosen.programs, chosen.local, chosen.base_url)
    if chosen.work == "measure":
        measure(chosen.names or list(programs()), chosen.rounds, chosen.programs, chosen.kept)
        return 0
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    written = page(runs(chosen.kept), list(programs()), date=today, commit=_commit(), machine=chosen.machine)
    chosen.output.write_text(written, encoding="utf-8")
    return 0


def bring_all(target: Path, local: Path | None, base: str) -> int:
    """Every program of the manifest; says of each what was done."""
    missing = 0
    for program in programs().values():
        try:
            said = fetch(program, target, local, base)
        except ProgramError as error:
            said, missing = str(error), missing + 1
        print(f"{program.name}: {said}", flush=True)
    return 1 if missing else 0


def _commit() -> str:
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
