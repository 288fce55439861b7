"""When the lines between the steps of a cell are worth a look."""

from __future__ import annotations

from gpuprof.capture.look.work_elsewhere import WorkElsewhere
from gpuprof.model.look import LookedPlace


def at(line: int, file: str = "") -> LookedPlace:
    return LookedPlace(file, line, "f")


def test_lines_that_no_look_has_seen_and_that_take_a_quarter_of_the_time() -> None:
    work = WorkElsewhere()
    work.seen([at(3)])
    assert not any(work.note(at(3)) for _ in range(100))
    told = [work.note(at(7)) for _ in range(40)]
    # 34 of 134 looks are a quarter and more
    assert told.index(True) == 33 and all(told[33:])
    assert not work.note(at(3)) and work.note(at(7))


def test_a_few_looks_say_nothing() -> None:
    work = WorkElsewhere()
    assert [work.note(at(7)) for _ in range(20)].index(True) == 14


def test_what_was_looked_at_is_not_looked_at_again_even_without_operators() -> None:
    work = WorkElsewhere()
    assert [work.note(at(7)) for _ in range(20)][-1]
    work.looked()
    assert not any(work.note(at(7)) for _ in range(100))
    assert [work.note(at(9)) for _ in range(100)][-1]


def test_there_are_three_at_most() -> None:
    work = WorkElsewhere()
    for line in range(3):
        assert [work.note(at(line)) for _ in range(200)][-1]
        work.looked()
    assert not any(work.note(at(9)) for _ in range(2000))


def test_the_same_line_of_another_file_is_another_one() -> None:
    work = WorkElsewhere()
    work.seen([at(3, "a.py")])
    assert work.is_new(at(3)) and not work.is_new(at(3, "a.py"))
