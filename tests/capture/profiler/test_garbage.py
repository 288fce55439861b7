from __future__ import annotations

import gc
from collections.abc import Callable

from gpuprof.analyses.basics.gc_pauses import CollectorPauses
from gpuprof.analyses.basics.result import Results
from gpuprof.capture.profiler.garbage import GarbageWatch
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_trace
from tests.capture.cells import train


def test_a_full_collection_is_noted_with_its_time() -> None:
    kept = [[] for _ in range(200_000)]
    watch = GarbageWatch()
    watch.begin()
    gc.collect()
    watch.end()
    gc.collect()
    facts = watch.facts()
    assert 2 in facts.generation
    assert len(facts.start_ns) == len(facts.duration_ns) == len(facts.generation) <= facts.collections
    assert sum(facts.duration_ns) <= facts.total_ns
    assert len(kept) == 200_000 and watch._called not in gc.callbacks
    watch.end()


def test_collections_in_the_steps_of_a_cell_are_found(new_session: Callable[..., Session]) -> None:
    """GIVEN a loop that collects in every step."""
    gc.freeze()  # what other tests have left would make each collection a second long
    visited: list[list[int]] = [[] for _ in range(50_000)]  # and without any it would be too short to be listed
    session = new_session()
    session.start()
    for _ in range(6):
        train(1)
        gc.collect()
    captured = session.stop()
    visited.clear()
    gc.unfreeze()
    assert captured.folder is not None and captured.context.garbage is not None
    assert captured.context.garbage.generation.count(2) >= 6
    found = Results(load_trace(captured.folder)).get(CollectorPauses)
    # those before the first step is known and after the last one lie outside
    assert found.known and found.full >= 3
    assert found.pauses.total_ns > 0
