"""What an analysis says does not depend on how names, threads, functions, lines and values are numbered."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from tests.rules.cases import case_modules
from tests.support.altering.altered import case
from tests.support.altering.reordered import LOOK_ROOMS, renumbered_runs, told, with_first_name, with_first_value
from tests.support.built_runs import BUILT
from tests.support.figure_runs import FILES, differences

TIED = {"looks/cancels_out": {"RepeatedWork"}}
"""Of chains that take equally long, the one whose names come first is told first."""
IN_LOOKS = tuple(f"{room}." for room in LOOK_ROOMS)
OF_VALUES = ("dataflow.", "demand.", "rows.", "turns.")
MOST_VALUES = 60
RUNS = [
    *(f"built/{name}" for name in BUILT),
    *[name for name in FILES if name.startswith(("mixed/", "cells/"))][::3],
    *(f"cases/{name}" for name in sorted(case_modules())),
]
LOOKS = [name for name in FILES if name.startswith("looks/")]


def assert_the_same(name: str, most: int, rooms: tuple[str, ...]) -> None:
    made = next(iter(FILES[name].values()))[0]()
    results = made if isinstance(made, Results) else Results(made)
    expected = told(Results(results.trace, tuple(other.trace for other in results.others)), rooms)
    for run in renumbered_runs(results, most):
        got = told(run, rooms)
        found = [each for each in differences(expected, got) if each.split(".")[0] not in TIED.get(name, ())]
        assert not found, "\n".join(found[:10])


@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_the_same_however_it_is_numbered(name: str) -> None:
    assert_the_same(name, 1, ("",))


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_gives_the_same_however_it_is_numbered(name: str) -> None:
    assert_the_same(name, 2, IN_LOOKS)


SMALL = sorted(name for name in case_modules() if 0 < len(case(name).trace.looked_values) <= MOST_VALUES)


@pytest.mark.parametrize("name", SMALL)
def test_any_value_and_any_name_of_a_look_may_be_the_first(name: str) -> None:
    results = case(name)
    expected = told(Results(results.trace), OF_VALUES)
    runs = [with_first_value(results.trace, each) for each in range(1, len(results.trace.looked_values))]
    runs += [with_first_name(results.trace, each) for each in range(1, len(results.trace.names))]
    for run in runs:
        found = list(differences(expected, told(Results(run), OF_VALUES)))
        assert not found, "\n".join(found[:10])
