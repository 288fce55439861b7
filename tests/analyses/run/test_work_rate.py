"""The iterations that ran without the recording."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.work_rate import WorkRate
from gpuprof.model.context import Loader, Window
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def plain(loader: Loader | None, window: Window | None) -> WorkRate:
    built = TraceBuilder().context(loaders=(loader,) if loader else (), window=window)
    return Results(built.build()).get(WorkRate)


def epochs(*lengths: int, end: int) -> tuple[Loader, Window]:
    """Epochs of so many batches, 30 ms each while recorded (to `end` ms), 10 ms after it, 500 ms between epochs."""
    at, starts, begins = 0, [], []
    for length in lengths:
        begins.append(at * MS)
        for _ in range(length):
            at += 30 if at < end else 10
            starts.append(at * MS)
        at += 500
    read = sum(lengths)
    loader = Loader(
        workers=0,
        batch_size=32,
        batches=lengths[0],
        samples=lengths[0] * 32 - 5,
        batches_read=read,
        wait_start_ns=tuple(starts),
        wait_ns=(MS,) * read,
        iteration_start_ns=tuple(begins),
    )
    return loader, Window(end_ns=end * MS, cell_end_ns=at * MS, ended_by="steps")


def test_iterations_after_the_recording_count_and_those_between_epochs_do_not() -> None:
    found = plain(*epochs(40, 40, end=600))
    assert found.median_ns == 10 * MS and found.error_share == 0
    assert found.sample_ns == 10 * MS / 32 and found.sample_error_share == 0
    assert found.batch_size == 32 and found.samples == 2 * (40 * 32 - 5)


def test_tokens_of_a_sample_come_from_those_of_a_batch() -> None:
    loader, window = epochs(40, 40, end=600)
    assert plain(loader, window).sample_tokens is None
    assert plain(msgspec.structs.replace(loader, tokens_a_batch=4000.0), window).sample_tokens == 125.0
    assert plain(msgspec.structs.replace(loader, tokens_a_batch=4000.0, batch_size=None), window).sample_tokens is None


def test_too_few_are_none() -> None:
    assert plain(*epochs(30, end=600)).median_ns == 10 * MS
    few = plain(*epochs(28, end=600))
    assert few.median_ns is None and few.error_share is None and few.samples == 28 * 32 - 5


def test_an_epoch_that_was_left_early_has_whole_batches() -> None:
    loader, window = epochs(40, 10, end=600)
    assert plain(loader, window).samples == 50 * 32


def test_without_a_loader_the_window_knows() -> None:
    found = plain(None, Window(plain_step_ns=7.0, plain_error_share=0.1, steps_seen=9))
    assert found == WorkRate(median_ns=7.0, error_share=0.1)
    assert plain(None, None).median_ns is None


@pytest.mark.parametrize("batch_size", [None, 8])
def test_a_batch_of_unknown_size_has_no_samples(batch_size: int | None) -> None:
    found = plain(Loader(workers=0, batch_size=batch_size, batches_read=5), Window())
    assert found.samples == (None if batch_size is None else 40)


def test_samples_per_second_count_the_interruptions_that_a_median_leaves_out() -> None:
    times = [10, 10, 10, 50] * 5
    starts = np.cumsum([700, *times]) * MS
    loader = Loader(workers=0, batch_size=2, batches_read=21, wait_start_ns=tuple(starts.tolist()))
    found = plain(loader, Window(end_ns=600 * MS))
    assert found.median_ns == 10 * MS and found.sample_ns == 10 * MS
    assert found.sample_error_share == pytest.approx(np.std(times) / np.sqrt(20) / 20)
