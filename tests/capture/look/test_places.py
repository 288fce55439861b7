"""Which lines of the user's code led to an operator."""

from __future__ import annotations

import sys

from gpuprof.capture.look.places import LinePath, Places


def forward(places: Places) -> LinePath:
    return places.path_of(sys._getframe())


def recursive(places: Places, depth: int) -> LinePath:
    return recursive(places, depth - 1) if depth else forward(places)


def test_one_line_that_two_lines_call_is_two_paths() -> None:
    places = Places(__file__)
    first = forward(places)
    second = forward(places)
    assert first != second and first[0] == second[0]
    assert [each.function for each in first[:2]] == ["forward", "test_one_line_that_two_lines_call_is_two_paths"]
    assert first[1].line + 1 == second[1].line
    assert places.paths == {first, second}


def test_the_cell_is_the_end_and_deep_recursion_is_cut() -> None:
    namespace = {"forward": forward, "places": Places("<cell>")}
    exec(compile("found = forward(places)", "<cell>", "exec"), namespace)
    found = namespace["found"]
    assert isinstance(found, tuple)
    assert [(each.file, each.line) for each in found[1:]] == [("", 1)]
    assert len(recursive(Places(__file__), 200)) == 32
