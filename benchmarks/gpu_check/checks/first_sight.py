"""One cell of a round that was written for a GPU: what is said of it in a real kernel, and what its cure really gives.

Arguments: the round's folder in benchmarks/rounds, and the cell. What is said is frozen with the code that says it; the
plain runs say whether the fault costs what its writer expected.
"""

from __future__ import annotations

import json
import runpy
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.gpu_check.check import AbsentError, Check

ROUNDS = Path(__file__).resolve().parents[2] / "rounds"


def run(check: Check) -> None:
    try:
        from benchmarks.rounds.score import score
        from benchmarks.rounds.sight import look
    except ImportError as error:
        raise AbsentError(f"cells run in a kernel: {error}") from error
    folder, name = check.arguments
    path = ROUNDS / folder / f"{name}.py"
    cell = runpy.run_path(str(path))
    with TemporaryDirectory() as scratch:
        said = look(cell.get("FAULTY") or cell["GOOD"], Path(scratch))
    (check.folder / "said.json").write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    check.note(kind=cell.get("KIND") or "healthy", fault=cell.get("FAULT"), score=asdict(score(name, cell, said)))
    check.expect("the cell runs through", "error" not in said)
    if "error" in said:
        check.note(error=said["error"])
    else:
        check.note(seconds=said["seconds"], **_brief(said["json"]))
    check.note(plain=_plain(check, path, cell))
    check.only_on_device("the device is known", bool(said.get("json", {}).get("devices")))


def _brief(told: dict[str, Any]) -> dict[str, Any]:
    findings = [
        {key: each.get(key) for key in ("rule", "severity", "title", "saving")} | {"lines": each["where"]["lines"]}
        for each in told["findings"]
    ]
    return {"verdict": told["verdict"], "validity": told["validity"], "findings": findings}


def _plain(check: Check, path: Path, cell: dict[str, Any]) -> dict[str, Any]:
    """Both variants in turn, as often as there is time."""
    from benchmarks.rounds.plain import measure

    found: dict[str, Any] = {}
    for variant in ("FAULTY", "CURED", "GOOD"):
        if cell.get(variant) and check.left_s > 10:
            found[variant.lower()] = measure(path, variant, check.left_s - 3)
    return found
