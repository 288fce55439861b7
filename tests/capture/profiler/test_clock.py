from __future__ import annotations

from gpuprof.capture.profiler.clock import ClockMarks

MS = 1_000_000


def marks(*brackets: tuple[int, int], drift: tuple[int, ...] = (0, 0)) -> ClockMarks:
    return ClockMarks(list(brackets), list(drift))


def test_inside_the_brackets() -> None:
    assert marks((100, 200), (300, 400)).check([150, 300]) == (0, None)


def test_a_shift_is_told() -> None:
    offset, said = marks((0, 10), (MS, MS + 10)).check([5, 6 * MS + 10])
    assert offset == 5 * MS
    assert said is not None and "disagree by 5.0 ms" in said


def test_marks_of_a_dropped_recording_do_not_count() -> None:
    assert marks((0, 10), (500 * MS, 500 * MS + 10), (900 * MS, 900 * MS + 10)).check([500 * MS + 5, 900 * MS + 5]) == (
        0,
        None,
    )


def test_a_mark_that_torch_did_not_record_shifts_nothing() -> None:
    # GIVEN an end between two bytecodes, where torch records no range
    for seen in (5, 3400 * MS + 5):
        assert marks((0, 10), (3400 * MS, 3400 * MS + 10)).check([seen]) == (0, None)


def test_a_clock_that_was_set_is_told() -> None:
    offset, said = marks((0, 10), drift=(0, 40 * MS)).check([5])
    assert offset == 0
    assert said is not None and "was set by 40.0 ms" in said


def test_no_marks_no_offset() -> None:
    assert marks().check([]) == (None, None)
