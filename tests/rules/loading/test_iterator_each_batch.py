"""What is said where an iterator is started for every batch."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.model.context import Loader
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.loading.input_stall import InputStall, _iterators
from tests.rules.cases.loading.input_stall import _loop


def stalled(started: int) -> Finding | None:
    trace = _loop(30_000).build()
    loader = Loader(workers=0, line=3, batches=1000, iterations_started=started, batches_read=20)
    context = msgspec.structs.replace(trace.context, loaders=(loader,))
    found = InputStall().check(Results(dataclasses.replace(trace, context=context)))
    assert found is None or isinstance(found, Finding)
    return found


def test_an_iterator_for_every_batch_is_said_with_its_cure() -> None:
    found = stalled(20)
    assert found is not None and found.where.lines == (3,) and found.diff is None
    assert "An iterator is started for every batch: 20 for 20 batches." in found.explanation
    assert found.change.startswith("Start the iterator once") and "num_workers" not in found.change
    assert (found.evidence["iterators_started"], found.evidence["batches_in_epoch"]) == (20, 1000)
    assert found.saving is not None and "simulated without these waits" in found.saving.basis


def test_one_iterator_for_each_epoch_is_not_said() -> None:
    found = stalled(2)
    assert found is not None and "iterators_started" not in found.evidence and "num_workers=1" in found.change


def test_workers_that_are_started_for_every_batch_are_named() -> None:
    words = "starts its worker processes"
    assert words in words_of(Loader(workers=2)) and words not in words_of(Loader(workers=2, persistent_workers=True))


def words_of(loader: Loader) -> str:
    known = msgspec.structs.replace(loader, iterations_started=20, batches_read=20, batches=100)
    return _iterators(StallingLoader(known, np.zeros(0, np.int64), None))
