"""Results in one file per machine, small enough to be kept with the code: what scoring needs and nothing else.

No path, no source of a user, no host name: the cells are those of benchmarks/pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.proving.collect import SCHEMA, results_in
from benchmarks.proving.gains import OUTSIDE_STEPS

_FINDING = ("rule", "severity", "title", "saving")
_MACHINE = (
    "python",
    "torch",
    "gpuprof",
    "system",
    "cuda_build",
    "hip_build",
    "driver",
    "processor",
    "cores_allowed",
    "torch_threads",
)
_MEASURED = ("error", "outcome", "ratio", "low", "high", "pairs", "seconds", "guard", "whole_cell", "text", "notes")
_PATH = re.compile(r"(?:/[\w.+-]+){2,}/")


def pack(folder: Path) -> list[dict[str, Any]]:
    """The results below `folder`, one object for each device they come from, with what other tools said of them."""
    results = results_in(folder)
    others = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("others/*.json"))]
    return [
        {
            "schema": SCHEMA,
            "machine": next(filter(None, map(machine_of, some)), {}),
            "made": sorted(result["made"] for result in some if result.get("made"))[-1:],
            "results": [compact(result) for result in some],
            "others": [said for said in others if said["device"] == device],
        }
        for device in ("cpu", "cuda")
        if (some := [result for result in results if result["device"] == device])
    ]


def machine_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The machine of a result: versions, processor or device; empty where no variant was recorded."""
    for recorded in result["variants"].values():
        if environment := recorded.get("environment"):
            facts = {name: environment.get(name) for name in _MACHINE if environment.get(name) is not None}
            devices = [device.get("name") for device in environment.get("devices", ()) if device.get("name")]
            return {**facts, "device": devices[0] if result["device"] == "cuda" and devices else "CPU"}
    return {}


def file_name(machine: Mapping[str, Any]) -> str:
    """`cpu.json`, `nvidia-h200.json`."""
    words = re.findall(r"[a-z0-9]+", str(machine.get("device", "unknown")).lower())
    return "-".join(words) + ".json"


def compact(result: Mapping[str, Any]) -> dict[str, Any]:
    """One result with what scoring needs."""
    measured = result.get("measured")
    return {
        **{name: result.get(name) for name in ("pair", "size", "device", "made", "label", "memory")},
        "variants": {
            name: _variant(recorded, set(result["label"]["rules"])) for name, recorded in result["variants"].items()
        },
        "measured": None
        if measured is None
        else {name: _clean(measured[name]) for name in _MEASURED if measured.get(name) is not None},
    }


def _variant(recorded: Mapping[str, Any], rules: set[str]) -> dict[str, Any]:
    if "error" in recorded:
        return {"error": _clean(recorded["error"])}
    report = recorded["report"]
    return {
        "arguments": recorded["arguments"],
        "lines_above": recorded["lines_above"],
        "cell_seconds": round(recorded["cell_seconds"], 3),
        "report": {
            "source": {name: report["source"][name] for name in ("span_ms", "steps", "step_ms")},
            "time_budget": [entry for entry in report["time_budget"] if entry["category"] in OUTSIDE_STEPS],
            "findings": [_finding(finding) for finding in report["findings"]],
            "abstained": [{"rule": entry["rule"]} for entry in report["abstained"] if entry["rule"] in rules],
        },
    }


def _finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: finding[name] for name in _FINDING}
    return {**kept, "where": {"lines": finding["where"]["lines"]}}


def _clean(value: Any) -> Any:
    """Without the folders that an error or a note may name."""
    if isinstance(value, str):
        return _PATH.sub("…/", value)
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _clean(each) for name, each in value.items()}
    return value


def read_packed(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The packed files, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(paths)]
