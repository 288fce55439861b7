"""Cells that measure what they repeat, and cells that look at the clock for other reasons."""

from __future__ import annotations

import textwrap

import pytest

from gpuprof.rules.cell.timed_calls import times_its_calls


@pytest.mark.parametrize(
    "source",
    [
        """
        for _ in range(100):
            begin = time.perf_counter()
            model(x)
            times.append(time.perf_counter() - begin)
        """,
        """
        for _ in range(100):
            start.record()
            model(x)
            stop.record()
        """,
        """
        def latency(model, x):
            while len(times) < 50:
                t0 = perf_counter_ns()
                with torch.no_grad():
                    model(x)
                times.append(perf_counter_ns() - t0)
        """,
        "print(torch.utils.benchmark.Timer('f(x)').blocked_autorange())",
        "%timeit model(x)",
    ],
)
def test_a_loop_that_reads_the_clock_before_and_after_measures(source: str) -> None:
    assert times_its_calls(textwrap.dedent(source))


@pytest.mark.parametrize(
    "source",
    [
        """
        begin = time.time()
        for x in loader:
            model(x)
        print(time.time() - begin)
        """,
        """
        for epoch in range(3):
            begin = time.time()
            for x in loader:
                model(x)
        """,
        """
        for step in range(10):
            writer.add_scalar("loss", loss, step)
            history.append(time.time())
        """,
        "for x in (",
    ],
)
def test_a_clock_around_the_loop_or_read_once_does_not(source: str) -> None:
    assert not times_its_calls(textwrap.dedent(source))
