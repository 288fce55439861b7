"""Time of every analysis on one trace, in ms: the best of several runs, each with fresh Results.

    python benchmarks/analysis_speed.py [TRACE] [RUNS]

Without TRACE the largest public recording is read (`make traces` brings it). An analysis that asks for others is timed
with those already computed, so the rows add up to the whole.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time
from pathlib import Path

import gpuprof.analyses
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace

RECORDINGS = Path(__file__).resolve().parents[1] / "tests" / "recordings" / "traces"
LARGEST = RECORDINGS / "gpu" / "v100-ddp-memory-nccl.json.gz"


def analyses() -> list[type[Result]]:
    found: set[type[Result]] = set()
    for module in pkgutil.walk_packages(gpuprof.analyses.__path__, "gpuprof.analyses."):
        members = vars(importlib.import_module(module.name)).values()
        found |= {
            each for each in members if isinstance(each, type) and issubclass(each, Result) and each is not Result
        }
    return sorted(found, key=lambda each: each.__name__)


class TimedResults(Results):
    """Results that keep the time each analysis took without those it asked for."""

    def __init__(self, trace: Trace):
        super().__init__(trace)
        self.own_ns: dict[str, int] = {}
        self._inner = [0]

    def get(self, kind):  # type: ignore[no-untyped-def]
        if kind in self._known:
            return super().get(kind)
        start = time.perf_counter_ns()
        self._inner.append(0)
        result = super().get(kind)
        taken = time.perf_counter_ns() - start
        self.own_ns[kind.__name__] = taken - self._inner.pop()
        self._inner[-1] += taken
        return result


def measure(trace: Trace, runs: int) -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(runs):
        timed = TimedResults(trace)
        for kind in analyses():
            timed.get(kind)
        whole = timed.own_ns | {"all": sum(timed.own_ns.values())}
        best = {name: min(best.get(name, float("inf")), ns / 1e6) for name, ns in whole.items()}
    return best


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    trace = load_trace(path)
    events = sum(len(trace.tables[name]) for name in ("operators", "calls", "device_events", "memory", "frames"))
    print(f"{path.name}: {events:,} rows of operators, calls, device events, memory and frames")
    for name, ms in sorted(measure(trace, runs).items(), key=lambda item: -item[1]):
        print(f"{name:18} {ms:8.1f} ms")


if __name__ == "__main__":
    main()
