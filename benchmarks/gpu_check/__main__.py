"""The command: `python -m benchmarks.gpu_check --output DIR`."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.gpu_check import wheels
from benchmarks.gpu_check.plan import make_plan
from benchmarks.gpu_check.runner import run_plan
from benchmarks.gpu_check.store import Store


def main(arguments: list[str]) -> int:
    chosen = _parser().parse_args(arguments)
    size = chosen.size or ("full" if chosen.device == "cuda" else "small")
    plan = [item for item in make_plan(size) if not chosen.only or item.module in chosen.only]
    if chosen.list:
        for item in plan:
            print(f"{item.name}  (at most {item.limit_s:.0f} s)")
        return 0
    if chosen.output is None:
        raise SystemExit("--output DIR is needed: where results.json and the archives go")
    store = Store(chosen.output)
    if store.results and store.about.get("device_kind") != chosen.device:
        raise SystemExit(f"{chosen.output}: holds results of --device {store.about.get('device_kind')}")
    today = datetime.now(UTC).date().isoformat()
    store.describe(
        device_kind=chosen.device,
        size=size,
        date=today,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
    )
    if chosen.again:
        store.forget(chosen.again if chosen.again != ["all"] else list(store.results))
    with tempfile.TemporaryDirectory(prefix="gpu-check-site-", ignore_cleanup_errors=True) as site:
        environment = _environment(chosen.wheels, Path(site))
        if chosen.device == "cuda" and not _device_there(environment):
            raise SystemExit("torch sees no CUDA device here; --device cpu rehearses without one")
        whole = run_plan(
            store, plan, device=chosen.device, size=size, budget_s=chosen.budget_s, environment=environment
        )
    _summarise(store, whole)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_check")
    parser.add_argument("--output", type=Path, metavar="DIR", help="results; the next command goes on from there")
    parser.add_argument("--budget-s", type=float, default=540.0, help="seconds that this command may take")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: a rehearsal")
    parser.add_argument("--size", choices=("full", "small"), help="of the workloads; small by default on the CPU")
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="unpack the missing ones of these for the checks")
    parser.add_argument("--only", action="append", metavar="CHECK", help="only this one (by its file), repeatable")
    parser.add_argument("--again", action="append", metavar="NAME", help="run this finished one again; all: every one")
    parser.add_argument("--list", action="store_true", help="show the plan and end")
    return parser


def _environment(carried: Path | None, site: Path) -> dict[str, str]:
    """Of the checks' processes: this folder first, then what was carried, then what was there."""
    if carried is not None and (taken := wheels.unpack_missing(carried, site)):
        print(f"carried: {', '.join(taken)}")
    paths = [str(Path.cwd()), str(site), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def _device_there(environment: dict[str, str]) -> bool:
    """Asked in another process: this one needs only the standard library."""
    asked = [sys.executable, "-c", "import sys, torch; sys.exit(not torch.cuda.is_available())"]
    return subprocess.run(asked, env={**os.environ, **environment}, capture_output=True, check=False).returncode == 0


def _summarise(store: Store, whole: bool) -> None:
    states = Counter(str(result["status"]) for result in store.results.values())
    print("\n" + ", ".join(f"{number} {state}" for state, number in states.most_common()))
    for name, result in store.results.items():
        for what, holds in result.get("expectations", {}).items():
            if not holds:
                print(f"  {name}: does not hold: {what}")
        if result["status"] == "crashed":
            trace = str(result.get("traceback") or result.get("log") or "").strip().splitlines()
            print(f"  {name}: crashed: {trace[-1] if trace else 'without a word'}")
    print("all done" if whole else "not all done: run the same command again to go on")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
