from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.code_edits.syntax.diff import as_typed, changed, compared_with_last, unified_diff

LINES = st.lists(st.sampled_from(["a", "b", "", " x", "@@ -1 +1 @@", "-y", "+z", "--- a", "é\u2028"]), max_size=30)


@given(LINES, LINES, st.sampled_from(["", "\n"]))
def test_a_diff_gives_back_what_it_was_made_of(old: list[str], new: list[str], end: str) -> None:
    before, after = "\n".join(["#", *old, "#"]) + end, "\n".join(["#", *new, "#"]) + end
    diff = unified_diff(before, after)
    assert (changed(before, diff) == after) if diff else (before == after)


def test_a_diff_reads_as_usual() -> None:
    assert unified_diff("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nfive\n6\n").split("\n") == [
        "--- a/cell", "+++ b/cell", "@@ -2,5 +2,5 @@", " 2", " 3", " 4", "-5", "+five", " 6",
    ]  # fmt: skip


def test_a_diff_of_another_text_is_refused() -> None:
    diff = unified_diff("a\nb\nc", "a\nB\nc")
    assert changed("a\nx\nc", diff) is None
    assert changed("a", diff) is None


@pytest.mark.parametrize(
    ("recorded", "typed"),
    [
        ("# %%gpuprofile --steps 3\nx = 1\n", "%%gpuprofile --steps 3\nx = 1\n"),
        ("\n# note\n# %%gpuprofile\nx = 1", "\n# note\n%%gpuprofile\nx = 1"),
        ("x = 1\n# %%gpuprofile\n", "x = 1\n# %%gpuprofile\n"),
        ("x = 1", "x = 1"),
    ],
)
def test_the_magic_line_as_it_was_typed(recorded: str, typed: str) -> None:
    assert as_typed(recorded) == typed


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("%%gpuprofile", "%%gpuprofile --compare last"),
        ("%%gpuprofile --name 'my run' --steps 3 ", "%%gpuprofile --name 'my run' --steps 3 --compare last"),
        ("%%gpuprofile --compare 'my run' --quiet", "%%gpuprofile --quiet --compare last"),
        ("%%gpuprofile --compare=first", "%%gpuprofile --compare last"),
        ("%%gpuprofile --try --try-seconds 30 --steps 3", "%%gpuprofile --steps 3 --compare last"),
        ("%%gpuprofile --name --trying", "%%gpuprofile --name --trying --compare last"),
        ("x = 1", "x = 1"),
    ],
)
def test_the_changed_cell_is_compared_with_the_last_run(line: str, becomes: str) -> None:
    assert compared_with_last(f"{line}\nbody") == f"{becomes}\nbody"
