"""One cell of a round that was written for a GPU: what is said of it in a real kernel, the first time.

Arguments: the round's folder in benchmarks/rounds, and the cell. The report and the recording are kept.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.gpu_check.check import AbsentError, Check
from benchmarks.gpu_check.trim import trim

ROUNDS = Path(__file__).resolve().parents[2] / "rounds"
# twelve recordings have to fit into the archives
_MOST_BYTES = 3_500_000


def run(check: Check) -> None:
    try:
        from benchmarks.rounds.score import score
        from benchmarks.rounds.sight import look
    except ImportError as error:
        raise AbsentError(f"cells run in a kernel: {error}") from error
    folder, name = check.arguments
    cell = runpy.run_path(str(ROUNDS / folder / f"{name}.py"))
    with TemporaryDirectory() as scratch:
        said = look(_source(check, cell), Path(scratch))
    (check.folder / "said.json").write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    check.note(kind=cell.get("KIND") or "healthy", fault=cell.get("FAULT"), score=asdict(score(name, cell, said)))
    check.expect("the cell runs through", "error" not in said)
    if "error" in said:
        check.note(error=said["error"])
        return
    check.note(seconds=said["seconds"], **_brief(said["json"]))
    check.say(f"{name}: {said['json']['verdict']['headline']}")
    check.only_on_device("the device is known", bool(said["json"]["devices"]))
    _keep(check)


def _source(check: Check, cell: dict[str, Any]) -> str:
    """The cell, made small for a rehearsal by its writer's replacements."""
    source = str(cell.get("FAULTY") or cell["GOOD"])
    for long, short in () if check.on_device else cell.get("SMALL", {}).items():
        source = source.replace(long, short)
    return source


def _brief(told: dict[str, Any]) -> dict[str, Any]:
    findings = [
        {key: each.get(key) for key in ("rule", "severity", "title", "saving")} | {"lines": each["where"]["lines"]}
        for each in told["findings"]
    ]
    return {"verdict": told["verdict"], "validity": told["validity"], "findings": findings}


def _keep(check: Check) -> None:
    """The recording, whole where it is small."""
    for manifest in sorted(Path(os.environ.get("GPUPROF_FOLDER", ".gpuprof")).rglob("recording.json")):
        recording, target = manifest.parent, check.folder / "recording"
        if sum(path.stat().st_size for path in recording.rglob("*") if path.is_file()) <= _MOST_BYTES:
            shutil.copytree(recording, target)
        else:
            trim(recording, target, most_bytes=_MOST_BYTES)
        return
