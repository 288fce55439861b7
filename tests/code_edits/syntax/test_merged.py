"""Several changes of one text, made together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.code_edits.syntax.merged import merged

CELL = "import torch\nloader = DataLoader(rows)\nopt = Adam(p)\nfor x in loader:\n    step(x)\n"


def test_changes_of_different_lines_are_made_together() -> None:
    workers = CELL.replace("rows)", "rows, num_workers=2)")
    fused = CELL.replace("Adam(p)", "Adam(p, fused=True)")
    assert merged(CELL, [workers, fused]) == merged(CELL, [fused, workers])
    assert merged(CELL, [workers, fused]) == workers.replace("Adam(p)", "Adam(p, fused=True)")


def test_what_both_change_alike_is_made_once() -> None:
    imported = "import os\n" + CELL
    other = imported.replace("Adam(p)", "Adam(p, fused=True)")
    assert merged(CELL, [imported, other]) == other


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (CELL.replace("rows)", "rows, num_workers=2)"), CELL.replace("rows)", "rows, pin_memory=True)")),
        ("import os\n" + CELL, "import sys\n" + CELL),
        (CELL.replace("loader = DataLoader(rows)\nopt = Adam(p)\n", ""), CELL.replace("Adam(p)", "SGD(p)")),
    ],
)
def test_changes_of_the_same_lines_are_not(first: str, second: str) -> None:
    assert merged(CELL, [first, second]) is None


def test_a_line_may_come_before_one_that_changes() -> None:
    before, after = CELL.replace("opt =", "x = 1\nopt ="), CELL.replace("Adam(p)", "SGD(p)")
    assert merged(CELL, [before, after]) == CELL.replace("opt = Adam(p)", "x = 1\nopt = SGD(p)")


def test_no_change_leaves_the_text() -> None:
    assert merged(CELL, []) == merged(CELL, [CELL, CELL]) == CELL
    assert merged("", [""]) == ""


_lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8)


@given(_lines, _lines)
def test_one_change_alone_is_that_change(before: list[str], after: list[str]) -> None:
    assert merged("".join(before), ["".join(after)]) == "".join(after)


@given(st.integers(2, 8), st.data())
def test_changes_of_lines_of_their_own_are_all_made(count: int, data: st.DataObject) -> None:
    before = [f"line {number}\n" for number in range(count)]
    chosen = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    each = [[f"new {at}\n" if at == row else line for at, line in enumerate(before)] for row in sorted(chosen)]
    expected = [f"new {at}\n" if at in chosen else line for at, line in enumerate(before)]
    assert merged("".join(before), ["".join(lines) for lines in each]) == "".join(expected)
