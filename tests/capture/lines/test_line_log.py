from __future__ import annotations

from gpuprof.capture.lines.line_log import ENTERED, LEFT, LineLog
from gpuprof.model.table import Table

CELL, OTHER = "cell.py", "other.py"


def logged(*entries: tuple[str, int]) -> list[tuple[int, int, int, bool]]:
    """(file, line, cell line, begins) of every row, for entries (place, line) a moment apart; places in `name:file`."""
    log, places = LineLog(CELL), dict[str, int]()
    for place, line in entries:
        if place not in places:
            places[place] = log.new_place(OTHER if place.startswith("other") else CELL)
        log.of_thread().add(places[place] + line)
    return rows(log.table())


def rows(table: Table) -> list[tuple[int, int, int, bool]]:
    names = ("source_file", "line", "cell_line", "begins")
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def test_a_return_goes_on_with_the_callers_line() -> None:
    seen = logged(("cell", ENTERED), ("cell", 3), ("other", ENTERED), ("other", 9), ("other", LEFT), ("cell", LEFT))

    assert seen == [(0, 3, 3, True), (1, 9, 3, True), (0, 3, 3, False), (-1, -1, -1, False)]


def test_recursion_goes_back_level_by_level() -> None:
    entries = [("cell", ENTERED), ("cell", 1)]
    entries += [("other", ENTERED), ("other", 5), ("other", ENTERED), ("other", 6), ("other", LEFT), ("other", LEFT)]

    assert [line for _, line, _, _ in logged(*entries)] == [1, 5, 6, 5, 1]


def test_functions_left_by_an_exception_end_with_the_next_line_outside() -> None:
    entries = [("cell", ENTERED), ("cell", 1), ("other a", ENTERED), ("other a", 5), ("other b", ENTERED)]
    entries += [("other b", 7), ("cell", 2), ("cell", LEFT)]

    assert [line for _, line, _, _ in logged(*entries)] == [1, 5, 7, 2, -1]


def test_a_function_first_seen_in_its_middle_is_taken_as_it_is() -> None:
    assert logged(("other", 4), ("other", LEFT)) == [(1, 4, -1, True), (-1, -1, -1, False)]


def test_a_log_without_entries_is_an_empty_table() -> None:
    assert len(LineLog(None).table()) == 0
