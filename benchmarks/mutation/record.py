"""Which test runs which lines: what decides which tests are asked about a fault.

One run of the tests without a fault, in which each test's lines are noted. Tests that fail or are skipped in it are not
asked later. The record of a test file is kept until it, the package, or what the tests share has changed.
"""

from __future__ import annotations

import ast
import hashlib
import pickle
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

CO_OPTIMIZED = 1  # functions; not modules and class bodies, which run on import, for whichever test comes first
CALLS = 300  # in one test; what a function has not run in its first calls it seldom runs later


@dataclass
class FileRecord:
    """Of one test file: the tests that passed, by id, with their seconds, and the lines that each ran.

    `lines` maps a file of the package to its lines, each with the tests that ran it. What ran while the file was
    imported counts for all of its tests.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)


class Recorder:
    """A plugin of pytest that fills a FileRecord for each test file."""

    def __init__(self, root: Path) -> None:
        self.records: dict[str, FileRecord] = {}
        self._root = root
        self._package = str(root / "gpuprof") + "/"
        self._files: dict[str, Callable[..., Any] | None] = {}
        self._calls: dict[str, Counter[int]] = {}
        self._seen: dict[str, set[int]] = {}
        self._imported: dict[str, dict[str, set[int]]] = {}
        self._failed: set[str] = set()

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        name = code.co_filename
        try:
            local = self._files[name]
        except KeyError:
            local = self._files[name] = self._of_file(name) if name.startswith(self._package) else None
        if local is None or not code.co_flags & CO_OPTIMIZED:
            return None
        return local(frame, event, argument)

    def _of_file(self, name: str) -> Callable[..., Any]:
        lines = self._seen[name] = set()
        calls = self._calls[name] = Counter()
        add = lines.add

        def called(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
            add(frame.f_lineno)
            calls[frame.f_lineno] += 1
            return local if calls[frame.f_lineno] < CALLS else None

        def local(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
            add(frame.f_lineno)
            return local

        return called

    def _take(self) -> dict[str, set[int]]:
        """What was seen since it was last asked."""
        taken = {name: set(lines) for name, lines in self._seen.items() if lines}
        for name, lines in self._seen.items():
            lines.clear()
            self._calls[name].clear()
        return taken

    def _start(self) -> None:
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def _stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        if not isinstance(collector, pytest.Module):
            return (yield)
        self._start()
        result = yield
        self._stop()
        self._imported[collector.nodeid] = self._take()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        forget_caches()
        self._start()
        result = yield
        self._stop()
        name = item.nodeid.partition("::")[0]
        record = self.records.setdefault(name, FileRecord())
        taken = self._take()
        if item.nodeid not in self._failed and item.nodeid in record.seconds:
            for seen in (taken, self._imported.get(name, {})):
                self._note(record, item.nodeid, seen)
        return result

    def _note(self, record: FileRecord, test: str, seen: dict[str, set[int]]) -> None:
        for file, lines in seen.items():
            known = record.lines.setdefault(str(Path(file).relative_to(self._root)), {})
            for line in lines:
                known.setdefault(line, set()).add(test)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self._failed.add(report.nodeid)
        elif report.when == "call":
            name = report.nodeid.partition("::")[0]
            self.records.setdefault(name, FileRecord()).seconds[report.nodeid] = report.duration


def forget_caches() -> None:
    """What an earlier test has left in a cache would run no line in this one."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("gpuprof", "tests"):
            for value in list(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if clear is not None and getattr(value, "__module__", "") == name:
                    clear()


class Shelf:
    """The records that are still true, in a folder."""

    def __init__(self, folder: Path, root: Path, files: list[Path]) -> None:
        self._folder, self._root, self.files = folder, root, files
        # cases are imported by their names, fixtures not at all; figures are read
        tests = root / "tests"
        shared = [
            *tests.rglob("conftest.py"),
            *tests.rglob("cases/*.py"),
            *tests.joinpath("data/figures").rglob("*.json"),
            *tests.joinpath("data/looks").glob("*.json.gz"),
        ]
        self._common = _digest([*root.joinpath("gpuprof").rglob("*.py"), *shared])

    def _place(self, file: Path) -> Path:
        helpers = _helpers(file, self._root)
        return self._folder / f"{self._common[:12]}-{_digest([file, *helpers])[:20]}-{file.stem}.pickle"

    def missing(self) -> list[Path]:
        """The test files that are to be recorded."""
        return [file for file in self.files if not self._place(file).exists()]

    def keep(self, records: dict[str, FileRecord], asked: list[Path]) -> None:
        """Keep what was recorded; a file without a test that passed has an empty record."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for file in asked:
            record = records.get(str(file.relative_to(self._root)), FileRecord())
            self._place(file).write_bytes(pickle.dumps(record))

    def all(self) -> list[FileRecord]:
        """Every test file's record."""
        return [pickle.loads(self._place(file).read_bytes()) for file in self.files]


def _helpers(file: Path, root: Path) -> set[Path]:
    """The modules of the tests that a test file imports, and those that these import."""
    found: set[Path] = set()
    asked = [file]
    while asked:
        for node in ast.walk(ast.parse(asked.pop().read_bytes())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
                module = root / str(node.module).replace(".", "/")
                paths = [module.with_suffix(".py"), *(module / f"{each.name}.py" for each in node.names)]
                new = {path for path in paths if path.exists()} - found
                found |= new
                asked += new
    return found


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()
