"""What a run's context says of itself."""

from __future__ import annotations

import pytest

from gpuprof.model.context import Cell, RunContext, SampledFile

CELL = Cell(source="train()\n", execution_count=7, filename="/tmp/7.py")


@pytest.mark.parametrize("kind", ["notebook", "module", "library"])
def test_a_file_that_is_not_the_profiled_cell_is_described_as_it_was_seen(kind: str) -> None:
    file = SampledFile(filename="/tmp/3.py", kind=kind, source="def train(): ...\n", execution_count=3)
    assert RunContext(cell=CELL).described(file) == file


def test_the_profiled_cell_has_its_own_text_and_number() -> None:
    found = RunContext(cell=CELL).described(SampledFile(filename="/tmp/7.py", kind="cell"))
    assert (found.source, found.execution_count, found.filename) == ("train()\n", 7, "/tmp/7.py")


def test_of_a_cell_that_is_not_known_there_is_only_what_was_seen() -> None:
    file = SampledFile(filename="/tmp/7.py", kind="cell")
    assert RunContext().described(file) == file
