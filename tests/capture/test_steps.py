from __future__ import annotations

from gpuprof.capture.steps import StepCount, StepSource


def test_optimizers_count_before_batches() -> None:
    steps = StepCount()
    assert (steps.seen, steps.source) == (0, StepSource.NOTHING)
    steps.batches_used(7)
    assert (steps.seen, steps.source) == (7, StepSource.LOADER)
    steps.optimizer_stepped(1)
    assert (steps.seen, steps.source) == (1, StepSource.OPTIMIZER)
    steps.batches_used(8)
    assert steps.seen == 1


def test_the_busiest_counts() -> None:
    steps = StepCount()
    for times in (1, 1, 2, 2, 3):
        steps.optimizer_stepped(times)
    assert steps.seen == 3
