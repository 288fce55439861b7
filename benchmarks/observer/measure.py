"""Runs every program in every way, each time in a fresh process, in turns; one JSON file a run, kept.

A run that is there already is not repeated, so that a second call goes on where the first one ended.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.observer.worker import PLAIN, PROFILED, STOPWATCH, TURNS
from benchmarks.proving.fresh import in_fresh_process, write_json

_TIMEOUT_S = 600.0
COLLATE, HOOKS = "collate", "hooks"
# program, variant: its runs
Runs = dict[tuple[str, str], list[dict[str, Any]]]


def measure(names: Sequence[str], rounds: int, programs: Path, kept: Path) -> None:
    """So many rounds of all programs, and the two that need none; says what it does."""
    for number in range(1, rounds + 1):
        for name in names:
            order = (PLAIN, PROFILED, STOPWATCH, TURNS) if number % 2 else (TURNS, PROFILED, STOPWATCH, PLAIN)
            for variant in order:
                arguments = [name, variant, "--programs", str(programs.resolve())]
                _once(kept, f"{name}.{variant}.{number}", "worker", arguments)
        for own in (COLLATE, HOOKS):
            _once(kept, f"own.{own}.{number}", own, [])


def _once(kept: Path, label: str, module: str, arguments: Sequence[str]) -> None:
    path = kept / f"{label}.json"
    if path.is_file():
        return
    load = os.getloadavg()[0]
    found = in_fresh_process(f"benchmarks.observer.{module}", arguments, device="cpu", timeout_s=_TIMEOUT_S)
    if "error" in found:
        print(f"{label}: {found['error']}", flush=True)
        return
    write_json(path, {**found, "load": load})
    print(f"{label}: {found.get('wall_s', 0.0):.1f} s, load {load:.1f}", flush=True)


def repeated(name: str, variant: str, rounds: int, programs: Path, *, timeout_s: float) -> list[dict[str, Any]]:
    """What so many runs of a program told, each in a fresh process; `error` where one failed."""
    given = [name, variant, "--programs", str(programs.resolve())]
    return [
        in_fresh_process("benchmarks.observer.worker", given, device="cpu", timeout_s=timeout_s) for _ in range(rounds)
    ]


def runs(kept: Path) -> Runs:
    """What was measured, in the order of the rounds."""
    found: Runs = defaultdict(list)
    for path in sorted(kept.glob("*.json"), key=lambda each: int(each.stem.rsplit(".", 1)[1])):
        name, variant, _ = path.stem.split(".")
        found[name, variant].append(json.loads(path.read_text(encoding="utf-8")))
    return found
