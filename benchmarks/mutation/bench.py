"""Private copies of the repository with a worker in each, and what is asked of it."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.record import FileRecord

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".wheels", "*_cache", ".hypothesis", "__pycache__", ".gpuprof", "build", "dist", "site"
)
CAUGHT_CODES = {1, 2}  # a test failed; a test file could not be imported
SURVIVED_CODES = {0, 5}  # all passed; with the fault there were none of these tests
LONG_S = 3600.0


class Bench:
    """A copy below `folder`, and its worker. The shared traces stay where they are: a link leads there."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "repository"
        shutil.copytree(root, self.root, ignore=LEFT_OUT)
        if (root.parent / "shared").is_dir():
            (folder / "shared").symlink_to((root.parent / "shared").resolve())
        self._out = folder / "out"
        self._worker = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.mutation.worker"],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        assert self._worker.stdin is not None
        self._worker.stdin.close()
        self._worker.wait()

    def _ask(self, **task: Any) -> dict[str, Any]:
        assert self._worker.stdin is not None and self._worker.stdout is not None
        print(json.dumps({"most_s": LONG_S, **task}), file=self._worker.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._worker.stdout.readline())
        return answer

    def warm_up(self, files: list[str]) -> None:
        """Have all compiled, and all imported that is not of this repository."""
        answer = self._ask(do="collect", files=files, out=str(self._out))
        if answer["code"] != 0:
            raise RuntimeError(f"the tests cannot be collected:\n{self._log()}")
        ours = self._ask(do="warm", modules=json.loads(self._out.read_text()))["ours"]
        if ours:
            raise RuntimeError(f"the worker has imported {', '.join(ours)}: a fault would not be seen")

    def record(self, files: list[str]) -> dict[str, FileRecord]:
        """The lines that each test of those files runs."""
        answer = self._ask(do="record", files=files, out=str(self._out))
        if answer["code"] not in (0, 1):
            raise RuntimeError(f"the tests cannot be recorded:\n{self._log()}")
        records: dict[str, FileRecord] = pickle.loads(self._out.read_bytes())
        return records

    def try_on(self, mutant: Mutant, tests: list[str], most_s: float) -> tuple[bool, str]:
        """Whether one of those tests catches it, and which."""
        answer = self._ask(do="tests", path=mutant.path, span=mutant.span, new=mutant.new, tests=tests, most_s=most_s)
        code = answer["code"]
        if code is None:
            return True, f"ran longer than {most_s:.0f} s"
        if code in SURVIVED_CODES:
            return False, ""
        if code in CAUGHT_CODES or code < 0:
            return True, answer["failed"] or ("killed by a signal" if code < 0 else "could not be imported")
        raise RuntimeError(f"pytest gave {code} for {mutant.path}:{mutant.line} {mutant.change}\n{self._log()}")

    def _log(self) -> str:
        return (self.root / ".log").read_text()[-3000:]
