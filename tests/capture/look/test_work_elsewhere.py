"""When lines that no look has seen are worth one."""

from __future__ import annotations

from gpuprof.capture.look.places import LinePath
from gpuprof.capture.look.work_elsewhere import WorkElsewhere
from gpuprof.model.look import LookedPlace


def at(*lines: int, file: str = "") -> LinePath:
    return tuple(LookedPlace(file, line, "f") for line in lines)


def test_lines_that_no_look_has_seen_and_that_take_a_tenth_of_the_time() -> None:
    work = WorkElsewhere()
    work.seen([at(3)])
    assert not any(work.note(at(3), 0) for _ in range(180))
    told = [work.note(at(7), 0) for _ in range(40)]
    # 20 of 200 ticks are a tenth
    assert told.index(True) == 19 and all(told[19:])
    assert not work.note(at(3), 0) and work.note(at(7), 0)


def test_a_few_ticks_say_nothing() -> None:
    work = WorkElsewhere()
    assert [work.note(at(7), 0) for _ in range(20)].index(True) == 9


def test_a_line_that_another_loop_calls_is_another_one() -> None:
    work = WorkElsewhere()
    work.seen([at(3, 60)])
    assert not any(work.note(at(3, 60), 0) for _ in range(20))
    assert [work.note(at(3, 71), 0) for _ in range(20)][-1]


def test_what_was_looked_at_is_not_looked_at_again_even_without_operators() -> None:
    work = WorkElsewhere()
    assert [work.note(at(7), 0) for _ in range(20)][-1]
    work.looked()
    assert not any(work.note(at(7), 0) for _ in range(100))
    assert [work.note(at(9), 0) for _ in range(100)][-1]


def test_there_are_six_at_most() -> None:
    work = WorkElsewhere()
    for line in range(6):
        assert [work.note(at(line), 0) for _ in range(200)][-1]
        work.looked()
    assert not any(work.note(at(9), 0) for _ in range(2000))


def test_the_same_line_of_another_file_is_another_one() -> None:
    work = WorkElsewhere()
    work.seen([at(3, file="a.py")])
    assert work.is_new(at(3)) and not work.is_new(at(3, file="a.py"))


def test_after_how_many_steps_it_comes_again() -> None:
    work = WorkElsewhere()
    for steps, times in ((12, 4), (13, 1), (24, 5)):
        for _ in range(times):
            work.note(at(7), steps)
        # found there once, it had moved on before its steps were counted
        assert work.next_after(at(7), steps) == (36 if steps == 24 else None)
    # the answer may come when the next one is over
    assert [work.next_after(at(7), steps) for steps in (30, 35, 36, 47, 48)] == [36, 36, 48, 48, 60]
    assert work.next_after(at(8), 24) is None


def test_what_comes_with_nearly_each_step() -> None:
    work = WorkElsewhere()
    for steps in range(4):
        assert not work.comes_often(at(7))
        work.note(at(7), steps)
    assert work.comes_often(at(7))


def test_without_steps_a_look_begins_before_the_work_that_no_look_has_seen() -> None:
    work = WorkElsewhere()
    work.seen([at(3)])
    for _ in range(20):
        work.note(at(3), 0)
        work.note(at(7), 0)
    assert work.waits and work.comes_next(at(3)) and not work.comes_next(at(7))
    # the main thread is hardly ever elsewhere
    for _ in range(200):
        work.note(at(7), 0)
    assert work.comes_next(at(7))
    work.seen([at(7)])
    assert not work.waits and not work.comes_next(at(3))


def test_and_no_more_than_a_few_that_did_not_come_to_it() -> None:
    work = WorkElsewhere()
    work.seen([at(3)])
    for _ in range(20):
        work.note(at(7), 0)
    for _ in range(5):
        assert work.comes_next(at(3))
        work.looked_for()
    assert work.waits and not work.comes_next(at(3))
