"""The package that holds the name `gpuprof` on PyPI: its insights on the same cells, by its own automatic hooks.

It is also imported as `gpuprof`, so it runs in a process that never sees ours: `SITE` is the folder that it was
installed into (`pip install --target SITE gpuprof`). Without NVML it reads a mock device; what rests on that is left
out, and so are its notes that are no advice (cost, "nothing found").
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.proving.others.advice import LOADING, Advice
from benchmarks.proving.pair import Pair

TIMEOUT_S = 180.0
# what its titles hold (version 0.7.1) → our labels that the advice is right about
_START = ("cold_start_dominates", "recompiles_in_steady_state")
COVERS: dict[str, tuple[str, ...]] = {
    "CPU pegged": ("slow_transform", "input_stall", "workers_oversubscribed"),
    "disk hot": ("per_sample_fetch", "input_stall"),
    "waiting on the loader": LOADING,
    "queue starved": LOADING,
    "worker imbalance": ("workers_oversubscribed",),
    "unaccounted": ("launch_bound", "python_loop_over_batch", "host_cpu_bound"),
    "steady-state": _START,
    "Step 0": _START,
    "p99/p50": ("gc_pauses", "recompiles_in_steady_state"),
    "backward/forward": ("activations_dominate_peak",),
}
_RUNNER = """
import json, sys, types
import torch
import gpuprof
from gpuprof.insights import analyze
task = json.load(open(sys.argv[1]))
main = types.ModuleType("__main__")
sys.modules["__main__"] = main
space = vars(main)
space.update(device=task["device"], size=types.SimpleNamespace(**task["size"]))
exec(compile(task["setup"], "<setup>", "exec"), space)
with gpuprof.profile(task["name"], db_path=task["db"]):
    exec(compile(task["cell"], "<cell>", "exec"), space)
json.dump(analyze(task["db"], 1), open(task["answer"], "w"), default=str)
"""


def advise(pair: Pair, variant: str, size: str, device: str, site: Path) -> dict[str, Any]:
    """`{"advice": [...], "said": [titles]}` of one variant, or `{"error": why}`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answer, task, runner = folder / "answer.json", folder / "task.json", folder / "runner.py"
        runner.write_text(_RUNNER, encoding="utf-8")
        work = {
            "name": pair.name,
            "device": device,
            "size": dict(pair.sizes[size]),
            "setup": pair.setup,
            "cell": pair.variants[variant].source,
            "db": str(folder / "runs.db"),
            "answer": str(answer),
        }
        task.write_text(json.dumps(work), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}
        try:
            ended = subprocess.run(
                [sys.executable, str(runner), str(task)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"it took longer than {TIMEOUT_S:g} s"}
        if not answer.is_file():
            said = [line for line in ended.stderr.splitlines() if line.strip()]
            return {"error": said[-1] if said else f"exit status {ended.returncode}"}
        insights = json.loads(answer.read_text(encoding="utf-8"))["insights"]
    told = [(insight, covers) for insight in insights if (covers := _covers(insight["title"]))]
    advice = [Advice(insight["title"], covers, insight["severity"]).as_dict() for insight, covers in told]
    return {"advice": advice, "said": [insight["title"] for insight in insights]}


def _covers(title: str) -> tuple[str, ...]:
    return next((covers for part, covers in COVERS.items() if part in title), ())
