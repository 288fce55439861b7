"""Which tests are asked about a fault, and in which order."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.record import FileRecord

FIRST = 40
"""Tests that are asked before all others: most faults are caught by one of them, without importing the other tests."""


class Choice:
    """From the records: the tests that run a line, quick ones and those of the same name first."""

    def __init__(self, records: list[FileRecord], root: Path) -> None:
        self.seconds: dict[str, float] = {}
        self._lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for record in records:
            self.seconds.update(record.seconds)
            for file, lines in record.lines.items():
                for line, tests in lines.items():
                    self._lines[file][line] |= tests
        self._importers = _importers(root)

    def of(self, mutant: Mutant) -> list[str]:
        """Empty where no test runs the line."""
        lines = self._lines.get(mutant.path, {})
        if mutant.body:
            last = mutant.line + mutant.old.count("\n")
            tests = _within(lines, mutant.line, last) or _within(lines, *mutant.statement)
        else:  # what an import runs is seen by whoever uses the module, or what it gives to others
            files = {mutant.path, *self._importers.get(mutant.path, ())}
            tests = {test for file in files for each in self._lines.get(file, {}).values() for test in each}
        stem = mutant.module.partition("/")[2]
        return sorted(tests, key=lambda test: (not _names(test, stem), self.seconds[test], test))

    def batches(self, mutant: Mutant) -> list[list[str]]:
        """The few that are likeliest to catch it, then the rest.

        What an import sets may be read without running a line of the module: then those of the package are asked, too.
        """
        tests = self.of(mutant)
        known = set(tests)
        readers = [] if mutant.body else [test for test in self.seconds if _is_of(test, mutant) and test not in known]
        return [batch for batch in (tests[:FIRST], tests[FIRST:], sorted(readers)) if batch]

    def most_s(self, tests: list[str]) -> float:
        """Longer than this they run only where the fault keeps them from ending."""
        return 30 + 8 * sum(self.seconds[test] for test in tests)


def _within(lines: dict[int, set[str]], first: int, last: int) -> set[str]:
    return {test for line in range(first, last + 1) for test in lines.get(line, ())}


def _is_of(test: str, mutant: Mutant) -> bool:
    return test.startswith(f"tests/{mutant.package}/")


def _names(test: str, stem: str) -> bool:
    file, _, rest = test.partition("::")
    return Path(file).stem == f"test_{stem}" or f"[{stem}" in rest


def _importers(root: Path) -> dict[str, set[str]]:
    """For each file of the package those that import it, by path."""
    paths = {path.relative_to(root).as_posix(): path for path in root.joinpath("gpuprof").rglob("*.py")}
    by_name = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in paths}
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in paths.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            else:
                continue
            for each in names:
                if each in by_name:
                    found[by_name[each]].add(name)
    return found
