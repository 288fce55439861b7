"""What to do where nothing was looked at."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Window
from gpuprof.model.look import Look
from gpuprof.rules.needless.looked import without_look
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(
    ("ended_by", "skipped", "how"),
    [
        ("cell", "the kernel recording lasted to the end of the cell", "--max-seconds 2"),
        ("steps", "a mode of the user's is on", "Profile the cell with `%%gpuprofile`:"),
        ("cell", None, "Profile the cell with `%%gpuprofile`:"),
    ],
)
def test_a_recording_of_the_whole_cell_leaves_nothing_to_look_at(ended_by: str, skipped: str | None, how: str) -> None:
    look = Look(skipped=skipped) if skipped else None
    trace = TraceBuilder().operator("aten::mm", 0, 1).context(look=look, window=Window(ended_by=ended_by)).build()
    answer = without_look("repeated_work", Results(trace))
    assert answer is not None and how in answer.how
