"""A cell without a profiler, in a process of its own: `python -m benchmarks.rounds.plain FILE VARIANT` prints JSON.

FILE is a cell of a round, VARIANT `FAULTY`, `CURED` or `GOOD`. `wall_s`: seconds of the cell until the device is done;
`device_peak_bytes`: most that tensors held on the device at once, None without a device; `process_peak_bytes`: most
memory of the process. Importing torch and starting the device are not in the time.
"""

from __future__ import annotations

import json
import os
import resource
import runpy
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]


def measure(path: Path, variant: str, timeout_s: float) -> dict[str, Any]:
    """What that process prints; `error` where it fails or takes longer."""
    command = [sys.executable, "-m", "benchmarks.rounds.plain", str(path.resolve()), variant]
    try:
        done = subprocess.run(
            command, cwd=_ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
            timeout=timeout_s, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {timeout_s:.0f} s"}
    if done.returncode != 0:
        return {"error": done.stderr[-2000:]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def main(path: str, variant: str) -> None:
    """Run that variant of that cell here."""
    import torch

    source = runpy.run_path(path)[variant]
    device = torch.cuda.is_available()
    if device:
        torch.zeros(1, device="cuda")
    code = compile(source, "<cell>", "exec")
    began = time.perf_counter()
    exec(code, {"__name__": "__main__"})
    if device:
        torch.cuda.synchronize()
    wall_s = time.perf_counter() - began
    peak = torch.cuda.max_memory_allocated() if device else None
    process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"wall_s": wall_s, "device_peak_bytes": peak, "process_peak_bytes": process}))


if __name__ == "__main__":
    main(*sys.argv[1:3])
