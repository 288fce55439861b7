"""Lines of a diff know their role."""

from gpuprof.views.diff import diff_lines
from tests.support.reports import DIFF


def test_every_line_has_its_role_and_none_is_lost():
    lines = diff_lines(DIFF)
    assert [line.role for line in lines] == ["file", "file", "place", "kept", "removed", "added", "kept"]
    assert [line.text for line in lines] == DIFF.splitlines()
    assert diff_lines("") == ()


def test_a_removed_line_that_begins_with_dashes_is_not_taken_for_a_file_name():
    lines = diff_lines("--- cell\n+++ cell\n@@ -1 +1 @@\n--- a comment in SQL\n+++ counter\n")
    assert [line.role for line in lines] == ["file", "file", "place", "removed", "added"]
