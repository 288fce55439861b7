"""What is said of looks that begin in the middle of the programs stays what it is."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with
from tests.support.looks.cut import cut
from tests.support.looks.program import looked, recorded


@pytest.mark.parametrize("run", runs_with("cuts"))
def test_the_figures_of_cut_looks_stay_what_they_are(run: str) -> None:
    check(run, "cuts")


@pytest.mark.parametrize("name", recorded())
def test_a_cut_look_names_nothing_that_is_not_there(name: str) -> None:
    whole = looked(name)
    assert (
        cut(whole, 0).tables["looked_operators"]["start_ns"].tolist()
        == whole.tables["looked_operators"]["start_ns"].tolist()
    )
    tables = cut(whole, 5).tables
    operators, values = len(tables["looked_operators"]), len(tables["looked_values"])
    assert operators == len(whole.tables["looked_operators"]) - 5
    for side in ("looked_reads", "looked_results"):
        assert (tables[side]["operator"] < operators).all() and (tables[side]["operator"] >= 0).all()
        assert (tables[side]["value"] < values).all()
    assert (tables["looked_values"]["made_by"] < operators).all()
    used = {*tables["looked_reads"]["value"].tolist(), *tables["looked_results"]["value"].tolist()}
    assert used - {-1} == set(range(values))
