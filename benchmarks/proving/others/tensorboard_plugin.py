"""The recommendations of torch's TensorBoard plugin (torch-tb-profiler 0.4.3, no longer maintained), by its own code.

`SITE` is the folder that it was installed into (`pip install --target SITE --no-deps torch-tb-profiler`); it reads the
same recordings as we do. Its rules, as its `profiler/data.py` has them: loading above 5 % of the step where device and
runtime do nothing; a device used for less than half of the time; no tensor core kernel on a device that has them;
memory above 90 % of the device; communication above 10 % of the step; DataParallel on several devices.
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

TIMEOUT_S = 180.0
# what its recommendations hold → our labels that they are right about
COVERS: dict[str, tuple[str, ...]] = {
    "data loading": LOADING,
    "low utilization": ("small_batch", "launch_bound"),
    "Tensor Cores": ("fp32_matmul",),
    "memory capacity": ("memory_near_limit", "activations_dominate_peak", "logits_dominate_peak"),
    "on communication": ("exposed_collective",),
    "DataParallel": ("data_parallel_module",),
}
_RUNNER = """
import json, sys
from torch_tb_profiler.profiler.data import RunProfileData
found = RunProfileData.parse("worker", None, sys.argv[1], sys.argv[2])
found = found[0] if isinstance(found, tuple) else found
json.dump(found.recommendations, open(sys.argv[3], "w"))
"""


def advise(trace: Path, site: Path) -> dict[str, Any]:
    """`{"advice": [...]}` for a Kineto file, or `{"error": why}`."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        ended = subprocess.run(
            [sys.executable, "-c", _RUNNER, str(trace.absolute()), folder, str(answer)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if not answer.is_file():
            said = [line for line in ended.stderr.splitlines() if line.strip()]
            return {"error": said[-1] if said else f"exit status {ended.returncode}"}
        recommended = json.loads(answer.read_text(encoding="utf-8"))
    return {"advice": [each.as_dict() for text in recommended if (each := advice_of(text))]}


def advice_of(text: str) -> Advice | None:
    """A recommendation as an advice, by what it is about; None where it is about nothing of ours."""
    return next((Advice(part, covers) for part, covers in COVERS.items() if part in text), None)
