"""Which lines can run, and which do with some of the tests."""

from __future__ import annotations

import sys

import pytest

from benchmarks.mutation.coverage import executable, lines_run
from benchmarks.mutation.record import FileRecord

TEXT = """import os

SIZE = 3


def double(x):
    # a comment
    if x:
        return 2 * x

    return 0


class Pair:
    first = 1

    def sum(self):
        return self.first + sum(each
                                for each in (1, 2))
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from there on other lines stand for a comprehension")
def test_lines_of_functions_count_and_what_an_import_runs_does_not() -> None:
    assert executable(TEXT) == {6, 8, 9, 11, 17, 18, 19}


def test_what_only_some_tests_run() -> None:
    one = FileRecord({}, {"a.py": {1: {"t1"}, 2: {"t1", "t2"}}})
    other = FileRecord({}, {"a.py": {3: {"t3"}}, "b.py": {1: {"t3"}}})
    assert lines_run([one, other]) == {"a.py": {1, 2, 3}, "b.py": {1}}
    assert lines_run([one, other], ["t1", "t3"]) == {"a.py": {2}, "b.py": set()}
