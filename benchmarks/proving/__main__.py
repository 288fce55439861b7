"""One command: `python -m benchmarks.proving score`. It records and measures what is missing, and prints the scores.

`python -m benchmarks.proving others` asks other tools about what has been recorded.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.proving import tables
from benchmarks.proving.collect import collect, measure_open, results_in
from benchmarks.proving.fresh import ROOT
from benchmarks.proving.measure import BUDGET_S
from benchmarks.proving.others.ask import ask_all
from benchmarks.proving.pair import named_pairs
from benchmarks.proving.score import Judged, judge

FOLDER = ROOT / ".gpuprof" / "proving"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proving", description="score the rules on the pairs")
    parser.add_argument("command", choices=("score", "others"))
    parser.add_argument("--size", nargs="*", default=[], help="default: the longer one on the CPU, three on a GPU")
    parser.add_argument("--pairs", nargs="*", default=[], help="default: all")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds to measure one pair (default 60)")
    parser.add_argument("--open", action="store_true", help="measure anew what has no interval, with this budget")
    parser.add_argument("--gpuprof-at", type=Path, help="where PyPI’s gpuprof was installed to (pip install --target)")
    parser.add_argument("--plugin-at", type=Path, help="where torch-tb-profiler was installed to")
    parser.add_argument("--record-again", action="store_true", help="record anew, and keep what was measured")
    parser.add_argument("--again", action="store_true", help="record and measure anew what is there")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER, help="default: .gpuprof/proving")
    chosen = parser.parse_args()
    pairs = named_pairs(tuple(chosen.pairs))
    if chosen.command == "others":
        ask_all(chosen.output, pairs, site=chosen.gpuprof_at, plugin=chosen.plugin_at, again=chosen.again)
        return
    if chosen.open:
        measure_open(pairs, chosen.output, budget_s=chosen.budget)
    collect(
        pairs,
        chosen.size,
        chosen.device,
        chosen.output,
        again=chosen.again,
        record_again=chosen.record_again,
        budget_s=chosen.budget,
    )
    print(text_of(judge(results_in(chosen.output))))


def text_of(judged: Judged) -> str:
    """All tables."""
    parts = (
        tables.counted(judged),
        tables.summary(judged),
        tables.by_rule(judged),
        tables.by_family(judged),
        tables.faults(judged),
        tables.predictions(judged),
        tables.wrong(judged),
        "\n".join(f"failed: {line}" for line in judged.failed),
    )
    return "\n\n".join(part for part in parts if part)


if __name__ == "__main__":
    main()
