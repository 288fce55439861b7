"""From a trace file to findings, against a bare `json.loads` of the same file in the same run.

python benchmarks/file_to_findings.py TRACE.json.gz [REPEATS]

Prints, per stage, the median milliseconds and the ratio to json.loads. Medians of interleaved repeats.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from gpuprof.analyses.basics.result import Results
from gpuprof.ingest.load import load_trace
from gpuprof.report import Report
from gpuprof.rules.registry import judge


def once(path: Path, taken: dict[str, list[float]]) -> None:
    def stage(name: str, began: float) -> float:
        now = time.perf_counter()
        taken[name].append((now - began) * 1000)
        return now

    now = time.perf_counter()
    json.loads(gzip.decompress(path.read_bytes()))
    now = whole = stage("json.loads of the file, nothing more", now)
    trace = load_trace(path)
    now = stage("file to Trace", now)
    results = Results(trace)
    judge(results)
    now = stage("analyses and rules", now)
    Report.of(trace)
    taken["file to findings"].append((now - whole) * 1000)


def main() -> None:
    path = Path(sys.argv[1])
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeats + 1):
        once(path, taken)
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}
    base = next(iter(medians.values()))
    print(f"{path.name}, median of {repeats}\n\n| stage | ms | ratio |\n|---|---|---|")
    for name, median in medians.items():
        print(f"| {name} | {median:.0f} | {median / base:.2f} |")


if __name__ == "__main__":
    main()
