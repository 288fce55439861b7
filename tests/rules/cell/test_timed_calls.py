"""Cells that measure what they repeat, and cells that look at the clock for other reasons."""

from __future__ import annotations

import ast
import textwrap

import pytest

from gpuprof.rules.cell.timed_calls import only_repeats, times_its_calls


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


@pytest.mark.parametrize(
    ("source", "repeats"),
    [
        ("for _ in range(200):\n    y = f(x)", True),
        ("with torch.no_grad():\n    for i in range(9):\n        f(x)", True),
        # each iteration has something of its own, or goes on from the one before, or does something else
        ("for i in range(9):\n    y = f(x, i)", False),
        ("for _ in range(9):\n    x = f(x)", False),
        ("for _ in range(9):\n    y = f(x)\n    total += y", False),
        ("for row in rows:\n    y = f(x)", False),
    ],
)
def test_a_loop_that_does_one_and_the_same(source: str, repeats: bool) -> None:
    tree = ast.parse(source)
    last = max(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert only_repeats(tree, last) is repeats
