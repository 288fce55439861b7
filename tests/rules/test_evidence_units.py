"""The name of every figure that a rule gives as evidence carries its unit, and views know it."""

from __future__ import annotations

import pytest

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.cases import case_modules, case_of

# Counts that need not be whole: of one core, one step, or in the mean.
FRACTIONS = {
    "cores_wanted", "gradients_filled", "passes", "processors_used", "queue_depth", "rows", "rows_used", "waves",
    "weights", "worker_cores_used",
}  # fmt: skip
LEAST_LETTERS = 3  # what ends in fewer is taken for a unit: `_s`, `_gb`, `_hz`


@pytest.mark.parametrize("name", sorted(case_modules()))
def test_every_key_of_the_evidence_ends_in_a_known_unit_or_is_a_count(name: str) -> None:
    run = case_of(name).fires()
    found = rule(name).check(run if isinstance(run, Results) else Results(run))
    assert isinstance(found, Finding)
    for key, value in found.evidence.items():
        if isinstance(value, str) or units.unit_of(key) is not None:
            continue
        assert len(key.rpartition("_")[2]) >= LEAST_LETTERS, f"{key}: this looks like a unit that gpuprof.units lacks"
        counted = isinstance(value, int) or "_per_" in key or key in FRACTIONS
        assert counted, f"{key} = {value}: a fraction needs a unit at the end of its name (see gpuprof.units.UNITS)"
