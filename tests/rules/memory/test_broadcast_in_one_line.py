"""A broadcast that is made and reduced in one line."""

from __future__ import annotations

from dataclasses import replace

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.transient_memory import TransientMemory
from gpuprof.rules.memory.broadcast_then_reduced import _change
from tests.rules.cases.memory.broadcast_then_reduced import fires


def test_one_line_is_named_once() -> None:
    found = Results(fires()).get(TransientMemory).found
    assert found is not None
    assert "in place of lines 2 to 3; or" in _change(found)
    assert "in place of line 2; or" in _change(replace(found, broadcast=replace(found.broadcast, reduced=2)))
