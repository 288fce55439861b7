"""How much the same cell differs from run to run: the faulty cells of the pairs, plain, each in fresh processes.

    python benchmarks/between_runs.py [PAIR ...] [--repeats 5]

Prints, for each cell, its shortest, median and longest time and the longest deviation from the median, as a Markdown
table, and the median and largest of those: what
`gpuprof/rules/saving/run_variation.py` allows for. Measure on a quiet machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.proving.fresh import in_fresh_process, write_json
from benchmarks.proving.pair import named_pairs
from benchmarks.proving.play import play
from benchmarks.proving.tables import markdown

TIMEOUT_S = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(description="how much the same cell differs from run to run")
    parser.add_argument("pairs", nargs="*", help="default: those whose time is scored on a CPU")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--here", action="store_true", help="play once in this process")
    parser.add_argument("--device", default="cpu", choices=("cpu",))
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    pairs = named_pairs(tuple(chosen.pairs))
    if chosen.here:
        write_json(chosen.output, {"seconds": play(pairs[0], "bad", pairs[0].sizes_on("cpu")[0], "cpu").seconds})
        return
    rows, deviations = [], []
    for pair in pairs:
        if not pair.scored_at("cpu") or pair.gain != "time":
            continue
        runs = [
            in_fresh_process("benchmarks.between_runs", [pair.name, "--here"], device="cpu", timeout_s=TIMEOUT_S)
            for _ in range(chosen.repeats)
        ]
        seconds = sorted(float(run["seconds"]) for run in runs)
        median = statistics.median(seconds)
        deviations.append(max(median - seconds[0], seconds[-1] - median) / median)
        times = (f"{each:.2f}" for each in (seconds[0], median, seconds[-1]))
        rows.append((pair.name, *times, f"{deviations[-1]:.0%}"))
    print(markdown(("pair", "shortest, s", "median, s", "longest, s", "deviation"), rows))
    print(f"\nmedian deviation {statistics.median(deviations):.0%}, largest {max(deviations):.0%}")


if __name__ == "__main__":
    main()
