"""The diffs of the host's rules, on a cell that runs."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.code_edits.syntax.diff import as_typed, changed
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.code_edits.executed import run
from tests.rules.cases import case_of

CELL = """\
import gc
# the loader is made once
loader = DataLoader(data, batch_size=16, num_workers=2)
for x, y in loader:
    seen = x.sum()
    torch.cuda.empty_cache()
    gc.collect()
    torch.cuda.synchronize()
"""


def diff_of(name: str, cell: str = CELL) -> str | None:
    trace = case_of(name).fires()
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, cell=Cell(source=cell)))
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding)
    return found.diff


@pytest.mark.parametrize(
    ("name", "gone", "come"),
    [
        ("empty_cache_in_step", "    torch.cuda.empty_cache()", None),
        ("gc_pauses", "    gc.collect()", None),
        ("explicit_synchronize", "    torch.cuda.synchronize()", None),
        (
            "workers_restarted",
            "loader = DataLoader(data, batch_size=16, num_workers=2)",
            "loader = DataLoader(data, batch_size=16, num_workers=2, persistent_workers=True)",
        ),
    ],
)
def test_one_line_changes(name: str, gone: str, come: str | None) -> None:
    diff = diff_of(name)
    assert diff is not None
    after = changed(as_typed(CELL), diff)
    assert after == CELL.replace(gone + "\n", "" if come is None else come + "\n")


def test_the_changed_loader_runs() -> None:
    diff = diff_of("workers_restarted", CELL.replace("    torch.cuda.synchronize()\n", ""))
    assert diff is not None
    after = changed(as_typed(CELL.replace("    torch.cuda.synchronize()\n", "")), diff)
    assert after is not None
    assert run(after)["loader"].persistent_workers


@pytest.mark.parametrize("name", ["empty_cache_in_step", "gc_pauses", "explicit_synchronize", "workers_restarted"])
def test_no_diff_without_such_a_line(name: str) -> None:
    assert diff_of(name, "train(loader)\n" * 4) is None
