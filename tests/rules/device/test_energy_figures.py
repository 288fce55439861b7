"""Energy in uneven figures, with and without steps and samples."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.device.energy_idle import EnergyIdle
from tests.rules.cases.device.energy_idle import run


def found(**facts: object) -> Finding:
    answer = EnergyIdle().check(Results(run(**facts)))  # type: ignore[arg-type]
    assert isinstance(answer, Finding)
    return answer


def test_joules_are_given_to_three_places() -> None:
    """33.333 W for steps of 0.1 s, of which 30 % are idle."""
    evidence = found(idle_ms=30, watts=33.333).evidence
    assert evidence["energy_j_per_step"] == 3.333
    assert evidence["idle_j_per_step"] == evidence["idle_least_j_per_step"] == 1.0
    assert evidence["idle_energy_share"] == 0.3
    odd = found(idle_ms=30.03, watts=33.333).evidence
    assert (odd["idle_j_per_step"], odd["idle_energy_share"]) == (1.001, 0.3003)


def test_a_sample_costs_its_part_of_a_batch() -> None:
    """10 J a step, for batches of 16."""
    answer = found(loaders=(Loader(workers=0, batch_size=16),))
    assert answer.evidence["energy_j_per_sample"] == pytest.approx(10 / 16)
    assert " A sample costs 625 mJ." in answer.explanation
    assert answer.title == "Idle time takes 20 % of the energy: 2.00 J of 10.0 J a step"
