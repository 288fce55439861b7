"""The house keeps its own rules: sizes, words, public names."""

from __future__ import annotations

import ast
import statistics
from collections import Counter
from pathlib import Path

import pytest

import gpuprof
from gpuprof.model.schema import TABLES

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "gpuprof").rglob("*.py"))
RULES = sorted((ROOT / "gpuprof" / "rules").rglob("*.py"))
# of a Trace alone; tables whose names Results use as well are found by their columns
RAW = {"device_events", "device_readings", "host_readings", "line_events", "name_mask", "names_of", "trace"}
READ = {*TABLES, "tables"}
LONGEST_FILE, LONGEST_FUNCTION, MEDIAN_FILE, MOST_MODULES = 400, 60, 120, 25


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_short(path):
    text = path.read_text()
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, f"{path.name}: {node.name}"


def test_the_median_file_is_short():
    assert statistics.median(path.read_text().count("\n") for path in SOURCES) <= MEDIAN_FILE


def test_no_drawer_for_odds_and_ends():
    assert not [path for path in SOURCES if path.stem in {"utils", "helpers", "misc", "common"}]


def test_costly_profiler_calls_are_not_made():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr != "key_averages", path
                if node.func.attr == "events":
                    # kineto_results.events() is the cheap one
                    assert ast.unparse(node.func.value).endswith("_results"), path


def _raw_reads(source: str) -> list[str]:
    """What of a text reads the recording's tables instead of Results."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in RAW:
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Name | ast.arg) and (node.id if isinstance(node, ast.Name) else node.arg) == "trace":
            found.append("trace")
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr in READ:
            column = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            found += [ast.unparse(node)] if column else []
    return found


@pytest.mark.parametrize("path", RULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rules_read_results_only(path):
    assert not _raw_reads(path.read_text())


@pytest.mark.parametrize(
    "line", ["results.trace.span_ns", "def f(trace): pass", "x.operators['name']", "found.name_mask(rows, 'aten::')"]
)
def test_a_raw_read_is_seen(line):
    assert _raw_reads(line)


def test_public_names_are_sorted_and_there():
    assert gpuprof.__all__ == sorted(gpuprof.__all__)
    for name in gpuprof.__all__:
        assert getattr(gpuprof, name) is not None


def test_no_folder_is_crowded():
    modules = [path for folder in ("gpuprof", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    # the cells of a round are data: at least twenty by their meaning
    modules = [path for path in modules if path.parent.parent != ROOT / "benchmarks" / "rounds"]
    crowded = {
        folder: count for folder, count in Counter(path.parent for path in modules).items() if count > MOST_MODULES
    }
    assert not crowded


def test_no_two_classes_share_a_name():
    found = [
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert not {name for name, count in Counter(found).items() if count > 1}
