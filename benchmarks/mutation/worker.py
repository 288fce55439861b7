"""A process that runs tests in children of its own: `python -m benchmarks.mutation.worker` in a copy of the checkout.

It has imported what the tests need from elsewhere, but nothing of the repository: a child begins with that, imports the
package with the fault in it, and ends. Requests and answers are lines of JSON.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from benchmarks.mutation.record import Recorder

ALWAYS = ("numpy", "msgspec", "libcst", "torch", "torch.utils.data", "psutil")
OURS = {"gpuprof", "tests", "benchmarks", "__main__", "__mp_main__", "conftest"}
MEMORY_BYTES = 12 << 30
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutation"]
CRASHED = 70


class Chosen:
    """A plugin of pytest: these tests alone, in this order; which one failed is written to a file."""

    def __init__(self, tests: list[str], failed: Path) -> None:
        self._order = {test: at for at, test in enumerate(tests)}
        self._failed = failed

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.write_text(report.nodeid)


def run_tests(task: dict[str, Any], root: Path) -> int:
    """In a child: those tests."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in task["tests"]))
    failed = root / ".failed"
    failed.unlink(missing_ok=True)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return int(pytest.main([*OPTIONS, *files], plugins=[Chosen(task["tests"], failed)]))


def collect(task: dict[str, Any], root: Path) -> int:
    """In a child: import every test file once, so that its compiled form is on disk; say what else was imported."""
    code = int(pytest.main([*OPTIONS, "--collect-only", *task["files"]]))
    others = [name for name in sys.modules if name.partition(".")[0] not in OURS]
    Path(task["out"]).write_text(json.dumps(others))
    return code


def record(task: dict[str, Any], root: Path) -> int:
    """In a child: all tests of those files, with the lines that each runs."""
    recorder = Recorder(root)
    options = [option for option in OPTIONS if option != "-x"]
    code = int(pytest.main([*options, *task["files"]], plugins=[recorder]))
    Path(task["out"]).write_bytes(pickle.dumps(recorder.records))
    return code


WORK: dict[str, Callable[[dict[str, Any], Path], int]] = {"tests": run_tests, "collect": collect, "record": record}


def in_child(task: dict[str, Any], root: Path) -> dict[str, Any]:
    """Do it in a child; its exit code, or None where it took too long. Nothing of it outlives this."""
    began = time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        log = os.open(root / ".log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        code = CRASHED
        try:
            code = WORK[task["do"]](task, root)
        finally:
            sys.stdout.flush()
            os._exit(code)
    code, ended = None, 0
    while not ended and time.monotonic() - began < task["most_s"]:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
        else:
            time.sleep(0.02)
    kill_group(child)
    if not ended:
        os.waitpid(child, 0)
    failed = root / ".failed"
    return {
        "code": code,
        "seconds": round(time.monotonic() - began, 2),
        "failed": failed.read_text() if failed.exists() and task["do"] == "tests" else "",
    }


def kill_group(child: int) -> None:
    """The child and all that it has started."""
    with contextlib.suppress(ProcessLookupError):  # it has ended, and so have they
        os.killpg(child, signal.SIGKILL)


def mutated(task: dict[str, Any], root: Path) -> dict[str, Any]:
    """With the fault in the file; afterwards the file is as it was, down to its time, which compiled files go by."""
    path = root / task["path"]
    text, times = path.read_bytes(), path.stat()
    start, end = task["span"]
    try:
        path.write_bytes(text[:start] + task["new"].encode() + text[end:])
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10_000_000_000))
        return in_child(task, root)
    finally:
        path.write_bytes(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def main() -> None:
    """Answer requests until there are none left."""
    root = Path.cwd()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an import prints is no answer
    hypothesis.settings.register_profile(
        "mutation",
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=20,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    for line in sys.stdin:
        task = json.loads(line)
        if task["do"] == "warm":
            for name in (*ALWAYS, *task["modules"]):
                _import(name)
            ours = OURS & set(sys.modules) - {"__main__", "__mp_main__", "benchmarks"}
            answer: dict[str, Any] = {"code": 0, "ours": sorted(ours)}
        else:
            answer = mutated(task, root) if "path" in task else in_child(task, root)
        print(json.dumps(answer), file=answers, flush=True)


def _import(name: str) -> None:
    """Some can only be imported by others; those are left out."""
    try:
        importlib.import_module(name)
    except (ImportError, AttributeError):
        sys.modules.pop(name, None)


if __name__ == "__main__":
    main()
