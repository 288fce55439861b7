"""Whether the first iterations of a cell are like its others: could they stand for the cell without the recording?

python -m benchmarks.observer.first_iterations [NAME ...] [--rounds 3] [--programs FOLDER]

Plain runs, in fresh processes. A recording that left plain iterations before it would leave the first ones of the cell.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.observer.measure import repeated
from benchmarks.observer.programs import default_folder, programs
from benchmarks.observer.worker import PLAIN

_TIMEOUT_S = 300.0
FIRST = (2, 5, 10)


def ratios(iterations_s: Sequence[float]) -> list[float]:
    """The mean of the first 2, 5 and 10 iterations over the median of the second half, all in one unit."""
    usual = statistics.median(iterations_s[len(iterations_s) // 2 :])
    return [statistics.fmean(iterations_s[:count]) / usual for count in FIRST]


def main(arguments: Sequence[str]) -> int:
    """1 where a program could not be run."""
    parser = argparse.ArgumentParser(description="the first iterations of a cell over its usual one")
    parser.add_argument("names", nargs="*", choices=[[], *programs()], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--programs", type=Path, default=default_folder())
    chosen = parser.parse_args(arguments)
    failed = 0
    for name in chosen.names or programs():
        done = repeated(name, PLAIN, chosen.rounds, chosen.programs, timeout_s=_TIMEOUT_S)
        rounds = [ratios(each["iterations"]["cpu_s"]) for each in done if "iterations" in each]
        if not rounds:
            failed += 1
            print(f"{name}: {done[0]['error']}", flush=True)
            continue
        columns = zip(FIRST, zip(*rounds, strict=True), strict=True)
        told = "; ".join(f"first {count} {min(found):.2f} to {max(found):.2f}" for count, found in columns)
        print(f"{name}: {told} × the usual one, processor time, {len(rounds)} runs", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
