"""What every rule says of its case where that is the recorded part of a longer cell."""

from __future__ import annotations

import pytest

from tests.rules.cases import case_modules
from tests.support.altering import longer_cells
from tests.support.altering.altered import marked


@pytest.mark.parametrize("name", sorted(case_modules()))
def test_a_case_in_a_longer_cell_is_judged_as_it_was(name: str) -> None:
    kept = longer_cells.kept()[name]
    told = longer_cells.told(name, list(map(int, kept)))
    others = {seed: said for seed, said in told.items() if marked(said) != kept[str(seed)]}
    assert not others, f"{len(others)} of {len(kept)} (meant to be? {longer_cells.WRITE}):\n{others}"
