"""Which samples of several DataLoaders are made again."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.cases.loading.samples_made_again import epochs, loader

OTHERS = "Leave the other DataLoaders as they are: their samples differ from pass to pass, or were not compared."


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (loader(line=4, samples_same=20), True),
        (loader(line=4, samples_compared=0, samples_same=0), True),
        (loader(line=4), False),
        (loader(line=4, dataset="Noise", samples_same=20, wait_ns=(1_000_000,) * 40), False),
    ],
)
def test_of_one_data_set_in_two_loaders_that_is_named_whose_samples_are_the_same(other: Loader, named: bool) -> None:
    """Validation reads the middle of each recording, training another part each time."""
    found = rule("samples_made_again").check(Results(epochs(5, loader(), other)))
    assert isinstance(found, Finding)
    name = "`Calls` of the DataLoader at line 6" if named else "`Calls`"
    assert found.title == f"{name} makes the same samples again in every pass"
    assert found.change.startswith(f"Make the samples of {name} once") and found.change.endswith(OTHERS) is named
