"""Which samples of several DataLoaders are made again."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Loader
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


@pytest.mark.parametrize(("memory_of_samples", "fit"), [(4.0, True), (3.99, False)])
def test_samples_that_take_more_than_a_quarter_of_the_memory_go_to_a_file(memory_of_samples: float, fit: bool) -> None:
    trace = epochs(5, loader())
    first = rule("samples_made_again").check(Results(trace))
    assert isinstance(first, Finding)
    environment = Environment(host_memory_bytes=int(memory_of_samples * int(first.evidence["samples_bytes"])))
    context = msgspec.structs.replace(trace.context, environment=environment)
    found = rule("samples_made_again").check(Results(replace(trace, context=context)))
    assert isinstance(found, Finding) and ("numpy.memmap" not in found.change) is fit
