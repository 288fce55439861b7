from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.samples_made import SamplesMade
from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import cell, line
from tests.rules.cases.loading.samples_made_again import FETCH, abstains, epochs, fires, loader
from tests.support.trace_builder import TraceBuilder


def made(trace: Trace) -> SamplesMade:
    return Results(trace).get(SamplesMade)


def test_the_time_in_items_of_the_dataset() -> None:
    found = made(fires())
    assert (found.making_ns, found.total_ns, found.share) == (200_000_000, 400_000_000, 0.5)
    assert found.lines == ((3, 200_000_000),)
    assert found.repeated_share == pytest.approx(0.9)
    assert found.repeated == (loader(),)


def test_collating_and_items_that_no_loader_reads_are_no_making() -> None:
    builder = TraceBuilder()
    builder.stack(0, 1000, line(6), FETCH, line(2, "stacked"))
    builder.stack(1000, 2000, line(6), FETCH, ("/site/torch/utils/data/_utils/collate.py", "default_collate", 9))
    builder.stack(3000, 4000, line(5), line(3, "Calls.__getitem__"))
    builder.stack(7000, 8000, line(6), FETCH, line(3, "Calls.__getitem__"), ("/site/scipy/signal.py", "resample", 1))
    assert made(cell(builder, ends_ms=(0.0, 15.0))).making_ns == 8_000_000


def test_without_samples_of_the_stack() -> None:
    found = made(abstains())
    assert (found.making_ns, found.share, found.lines) == (0, 0.0, ())
    assert found.repeated_share == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("loaders", "share"),
    [
        ((loader(samples_same=63),), None),
        ((loader(samples_compared=0, samples_same=0),), None),
        ((loader(workers=2),), None),
        ((loader(iterable=True),), None),
        # half of the waits are for another loader, whose samples differ
        ((loader(), loader(dataset="Others", samples_same=0)), 0.45),
        # one pass alone makes nothing again
        ((loader(batches_read=4),), 0.0),
        # a new loader for each of two passes
        ((loader(batches_read=4), loader(batches_read=4)), 0.5),
        # not one whole pass
        ((loader(batches_read=2),), 0.0),
        ((loader(batches=None),), 0.0),
    ],
)
def test_the_part_that_was_made_before(loaders: tuple[Loader, ...], share: float | None) -> None:
    found = made(epochs(5, *loaders)).repeated_share
    assert found == (None if share is None else pytest.approx(share))
