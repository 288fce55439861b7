"""How much of the code the tests run, with the public recordings and without them.

Lines in functions of the packages that have tests which read recordings, by the records of the mutation check: each
test's lines, with caches emptied before it. Where no recording is here, both figures are the same.

python -m benchmarks.mutation.coverage
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType

from benchmarks.mutation.bench import Bench
from benchmarks.mutation.record import CO_OPTIMIZED, FileRecord
from benchmarks.mutation.recorded import ROOT, TESTS, recorded

_WORKERS = 2
_ROOMS = (*TESTS, "views")


def executable(source: str) -> set[int]:
    """The lines of functions that can run."""

    def lines(code: CodeType) -> Iterator[int]:
        if code.co_flags & CO_OPTIMIZED:
            yield from (line for _, _, line in code.co_lines() if line)
        for each in code.co_consts:
            if isinstance(each, CodeType):
                yield from lines(each)

    return set(lines(compile(source, "<code>", "exec")))


def lines_run(records: Iterable[FileRecord], without: Collection[str] = ()) -> dict[str, set[int]]:
    """By file, the lines that any test runs that is not among `without`."""
    left_out = set(without)
    found = defaultdict[str, set[int]](set)
    for record in records:
        for file, lines in record.lines.items():
            found[file].update(line for line, tests in lines.items() if not tests <= left_out)
    return found


def reading_recordings() -> set[str]:
    """The tests that read public recordings, by id."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "recordings"]
    done = subprocess.run(
        [*command, *(f"tests/{each}" for each in _ROOMS)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="gpuprof-coverage-") as folder, ThreadPoolExecutor(_WORKERS) as pool:
        places = [Path(folder) / str(number) for number in range(_WORKERS)]
        for each in places:
            each.mkdir()
        benches = [Bench(ROOT, each) for each in places]
        records = recorded(benches, pool, _ROOMS)
        for bench in benches:
            bench.__exit__()
    left_out = reading_recordings()
    every, own = lines_run(records), lines_run(records, left_out)
    print(f"{len(left_out)} tests read public recordings")
    all_lines, all_run, all_own = 0, 0, 0
    for package in _ROOMS:
        lines, run, alone = 0, 0, 0
        for path in sorted((ROOT / "gpuprof" / package).rglob("*.py")):
            file, can_run = str(path.relative_to(ROOT)), executable(path.read_text())
            lines, run, alone = lines + len(can_run), run + len(every[file] & can_run), alone + len(own[file] & can_run)
        print(f"{package}: {lines} lines, {run / lines:.2%} with the recordings, {alone / lines:.2%} without")
        all_lines, all_run, all_own = all_lines + lines, all_run + run, all_own + alone
    print(f"all: {all_lines} lines, {all_run / all_lines:.2%} with the recordings, {all_own / all_lines:.2%} without")


if __name__ == "__main__":
    main()
