"""One labelled pair at one size: what gpuprof says of every variant, or what the cure really gives.

Arguments: `record` or `measure`, the pair, the size. Runs benchmarks.proving, which starts its own processes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.gpu_check.check import AbsentError, Check
from benchmarks.gpu_check.trim import trim
from gpuprof.errors import GpuprofError
from gpuprof.model.recording import is_recording

_LONGEST_JSON = 200_000


def run(check: Check) -> None:
    what, name, size = check.arguments
    if find_spec(f"benchmarks.proving.{what}") is None:
        raise AbsentError(f"benchmarks/proving/{what}.py is not there")
    with TemporaryDirectory() as folder:
        output = Path(folder) / "out"
        command = [sys.executable, "-m", f"benchmarks.proving.{what}", name, "--size", size, "--device", check.device]
        if what == "measure":
            command += ["--budget", f"{max(5.0, min(60.0, check.left_s / 2)):.0f}"]
        target = output if what == "record" else output / "measured.json"
        output.mkdir()
        done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True, check=False)
        check.note(exit_code=done.returncode, output=done.stdout[-2000:], errors=done.stderr[-2000:])
        _collect(check, output)
    check.expect("the pair ran", done.returncode == 0)


def _collect(check: Check, output: Path) -> None:
    """Small JSON into the results, recordings into the archive, trimmed."""
    found = {}
    for path in sorted(output.rglob("*.json")):
        if not is_recording(path.parent) and path.stat().st_size <= _LONGEST_JSON:
            found[str(path.relative_to(output))] = json.loads(path.read_text(encoding="utf-8"))
    check.note(files=found)
    for folder in sorted(path for path in output.rglob("*") if path.is_dir() and is_recording(path)):
        target = check.folder / folder.relative_to(output)
        try:
            trim(folder, target, most_bytes=150_000)
        except (GpuprofError, ValueError, OSError) as error:
            shutil.rmtree(target, ignore_errors=True)
            check.note(**{f"not_kept_{folder.name}": f"{type(error).__name__}: {error}"})
