"""What the cure of a pair really gives: bad against good, in one fresh process, by gpuprof's own measurement.

python -m benchmarks.proving.measure NAME [--size mini] [--device cpu] [--budget 60] -o FILE
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from benchmarks.proving.fresh import in_fresh_process, write_json
from benchmarks.proving.memory import HostMemory, device_peak_bytes
from benchmarks.proving.pair import SMALLEST, Pair, named_pairs
from benchmarks.proving.play import globals_of, notebook

BUDGET_S = 60.0
# setting up, warming up and the last block come on top of the budget
GRACE_S = 180.0
MEMORY_REPEATS = 3
# of the loss, relative: docs/design/pairs.md, "Correctness guard"
EXACT_TOLERANCE, FUSED_TOLERANCE = 1e-5, 1e-4
_FUSED_RULES = {"unfused_optimizer"}


def measure_pair(pair: Pair, size: str, device: str, *, budget_s: float = BUDGET_S) -> dict[str, Any]:
    """Bad against good in a fresh process: the Verdict as a dict, or `{"error": why}`."""
    chosen = [pair.name, "--size", size, f"--budget={budget_s}", "--here"]
    return in_fresh_process("benchmarks.proving.measure", chosen, device=device, timeout_s=budget_s + GRACE_S)


def measure_here(pair: Pair, size: str, device: str, budget_s: float) -> dict[str, Any]:
    """Bad against good in this process."""
    from gpuprof.verification import Guard, VerificationError, measure_cells

    guards = {"exact": Guard.EXACT, "numerics": Guard.NUMERIC, "training": Guard.SEMANTIC}
    with notebook() as cells:
        cells.namespace.update(globals_of(pair, size, device))
        cells.run(pair.setup)
        try:
            verdict = measure_cells(
                pair.bad.source,
                pair.good.source,
                cells.namespace,
                guard=guards[pair.guard],
                tolerance=FUSED_TOLERANCE if _FUSED_RULES & set(pair.rules) else EXACT_TOLERANCE,
                budget_s=budget_s,
                whole_cell=pair.whole_cell,
            )
        except VerificationError as error:
            return {"error": str(error)}
        return verdict.to_dict()


def measure_memory(pair: Pair, size: str, device: str) -> dict[str, Any]:
    """What bad and good take above what set-up left, in bytes: each in fresh processes, in turn, the medians.

    `saved_share` is the difference over the peak of `bad`; `certain` says that every reading of `bad` lies above every
    one of `good`.
    """
    readings: dict[str, list[dict[str, Any]]] = {"bad": [], "good": []}
    for repeat in range(MEMORY_REPEATS):
        for variant in ("bad", "good") if repeat % 2 == 0 else ("good", "bad"):
            chosen = [pair.name, "--size", size, "--memory", variant, "--here"]
            found = in_fresh_process("benchmarks.proving.measure", chosen, device=device, timeout_s=GRACE_S)
            if "error" in found:
                return found
            readings[variant].append(found)
    grown = {name: [int(each["grown_bytes"]) for each in found] for name, found in readings.items()}
    peak = statistics.median(int(each["peak_bytes"]) for each in readings["bad"])
    saved = statistics.median(grown["bad"]) - statistics.median(grown["good"])
    return {
        "where": "device" if device == "cuda" else "host",
        "bad_bytes": statistics.median(grown["bad"]),
        "good_bytes": statistics.median(grown["good"]),
        "saved_bytes": saved,
        "saved_share": saved / peak if peak else 0.0,
        "certain": min(grown["bad"]) > max(grown["good"]),
        "repeats": MEMORY_REPEATS,
    }


def memory_here(pair: Pair, variant: str, size: str, device: str) -> dict[str, Any]:
    """The memory that one variant takes in this process, plain."""
    with notebook() as cells:
        cells.namespace.update(globals_of(pair, size, device))
        cells.run(pair.setup)
        source = pair.variants[variant].source
        if device == "cuda":
            grown = device_peak_bytes(lambda: cells.run(source))
            return {"grown_bytes": grown, "peak_bytes": grown}
        with HostMemory() as memory:
            cells.run(source)
        return {"grown_bytes": memory.grown_bytes, "peak_bytes": memory.peak_bytes}


def main() -> None:
    parser = argparse.ArgumentParser(description="what the cure of a pair really gives")
    parser.add_argument("name")
    parser.add_argument("--size", default=SMALLEST)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds (default 60)")
    parser.add_argument("--memory", default=None, metavar="VARIANT", help="the memory of this variant instead")
    parser.add_argument("--here", action="store_true", help="in this process")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    (pair,) = named_pairs((chosen.name,))
    if not chosen.here:
        found = measure_pair(pair, chosen.size, chosen.device, budget_s=chosen.budget)
    elif chosen.memory is not None:
        found = memory_here(pair, chosen.memory, chosen.size, chosen.device)
    else:
        found = measure_here(pair, chosen.size, chosen.device, chosen.budget)
    write_json(chosen.output, found)
    print(found)


if __name__ == "__main__":
    main()
