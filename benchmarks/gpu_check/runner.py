"""Runs the plan: one process a check, in order, as long as the budget lasts; what is done is never done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.gpu_check.check import SAID
from benchmarks.gpu_check.item import Item
from benchmarks.gpu_check.store import Store

MOST_ATTEMPTS = 2
_LOG_CHARACTERS = 4000
_GRACE_S = 5.0


def run_plan(
    store: Store,
    plan: Iterable[Item],
    *,
    device: str,
    size: str,
    budget_s: float,
    environment: Mapping[str, str],
) -> bool:
    """Run what is not done; whether all of it is done now. A check killed from outside is tried once more at most."""
    ends_at = time.monotonic() + budget_s
    whole = True
    for item in plan:
        if store.done(item.name):
            continue
        left_s = ends_at - time.monotonic() - _GRACE_S
        if left_s < item.least_s:
            whole = False
            continue
        attempts = store.attempts(item.name) + 1
        if attempts > MOST_ATTEMPTS:
            store.put(item.name, {**store.results[item.name], "status": "timed out"})
            continue
        store.put(item.name, {"status": "begun", "attempts": attempts})
        print(f"{item.name} ({left_s:.0f} s left)", flush=True)
        result = _run(store, item, device, size, min(item.limit_s, left_s), environment)
        if result["status"] == "timed out" and left_s < item.limit_s:
            result["status"] = "cut short"  # by the budget: it may have more next time
            whole = False
        store.put(item.name, {**result, "attempts": attempts})
        print(f"  {result['status']} in {result['seconds']:.1f} s", flush=True)
    return whole


def _run(
    store: Store, item: Item, device: str, size: str, limit_s: float, environment: Mapping[str, str]
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="gpu-check-", ignore_cleanup_errors=True) as scratch:
        files, record, log = Path(scratch) / "files", Path(scratch) / "record.json", Path(scratch) / "log"
        files.mkdir()
        command = [sys.executable, "-u", "-m", "benchmarks.gpu_check.single", item.module, *item.arguments]
        command += ["--device", device, "--size", size, "--limit-s", f"{limit_s:.1f}"]
        command += ["--files", str(files), "--record", str(record)]
        began = time.monotonic()
        code = _watch(command, limit_s, log, {**os.environ, **environment, "GPUPROF_FOLDER": f"{scratch}/runs"})
        result: dict[str, Any] = {"status": "crashed", "seconds": round(time.monotonic() - began, 2)}
        if record.exists():
            result |= json.loads(record.read_text(encoding="utf-8"))
        if not result.pop("finished", False):
            result["status"] = {None: "timed out", 0: result["status"]}.get(code, "crashed")
        if code != 0:  # a process may also fail while it ends, after a device assertion for one
            result |= {"exit_code": code, "log": log.read_text(encoding="utf-8", errors="replace")[-_LOG_CHARACTERS:]}
        if stored := store.add_files(item.name, files):
            result["files"] = stored
        return result


def _watch(command: list[str], limit_s: float, log: Path, environment: Mapping[str, str]) -> int | None:
    """The exit code; None where it was ended for taking too long. Its lines of progress are passed on."""
    with log.open("w", encoding="utf-8") as out, log.open(encoding="utf-8", errors="replace") as read:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=dict(environment), start_new_session=True
        )
        ends_at = time.monotonic() + limit_s
        try:
            while process.poll() is None and time.monotonic() < ends_at:
                time.sleep(0.05)
                _pass_on(read.read())
            return process.returncode
        finally:
            _end(process)
            _pass_on(read.read())


def _pass_on(text: str) -> None:
    for line in text.splitlines():
        if line.startswith(SAID):
            print(line, flush=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    """The check and whatever it started: its own process group, never another's."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except (ProcessLookupError, PermissionError):
            break
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
