"""Work in a fresh process: what one pair leaves behind (compiled code, settings, memory) must not reach the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_LINES_KEPT = 3
# two threads on a machine that others use, too, wait for each other more than they compute
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def in_fresh_process(
    module: str,
    arguments: Sequence[str],
    *,
    device: str,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run `python -m module *arguments --device device -o FILE` and return the JSON object that it writes into FILE.

    On the CPU torch computes with one thread. Where it fails, or takes longer than `timeout_s`: `{"error": why}`.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", module, *arguments, "--device", device, "-o", str(answer)]
        variables = {
            **os.environ,
            **(_ONE_THREAD if device == "cpu" else {}),
            **(environment or {}),
            "PYTHONPATH": _path(),
        }
        try:
            ended = subprocess.run(
                command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"it took longer than {timeout_s:g} s"}
        if ended.returncode or not answer.is_file():
            said = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip()]
            return {"error": f"exit status {ended.returncode}: {' | '.join(said[-_LINES_KEPT:])}"}
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found


def write_json(path: Path, value: Any) -> None:
    """Write it whole or not at all: what is there counts as done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(value, indent=1, allow_nan=False), encoding="utf-8")
    beside.replace(path)


def _path() -> str:
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
