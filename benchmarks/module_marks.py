"""What it costs to know which module runs when: one call of an empty module, and steps of a small transformer.

    python benchmarks/module_marks.py [rounds]

Ways to be told of each call, in turns in one process, the quickest of the rounds: gpuprof's marks, torch's global
hooks, another `Module.__call__`, and a range of the profiler for each call. Then steps under the profiler with marks
and without, in turns, by processor time, and the share that gpuprof itself says.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.profiler import profile, record_function
from torch.nn.modules import module as modules

from gpuprof.capture.modules.module_watch import ModuleWatch

CALLS = 1_000
STEPS = 3


@contextmanager
def plain() -> Iterator[None]:
    yield


@contextmanager
def marks() -> Iterator[None]:
    watch = ModuleWatch()
    watch.install()
    watch.begin()
    yield
    watch.pause()
    watch.remove()


@contextmanager
def hooks() -> Iterator[None]:
    log: list[int] = []
    append, now, numbers = log.append, time.time_ns, dict[int, int]()

    def before(module: Any, _args: Any) -> None:
        append(numbers.setdefault(id(module), len(numbers)))
        append(now())

    def after(_module: Any, _args: Any, _output: Any) -> None:
        append(-1)
        append(now())

    handles = [
        modules.register_module_forward_pre_hook(before),
        modules.register_module_forward_hook(after, always_call=True),
    ]
    yield
    for handle in handles:
        handle.remove()


@contextmanager
def another_call() -> Iterator[None]:
    original: Any = torch.nn.Module.__call__
    log: list[int] = []
    append, now, numbers = log.append, time.time_ns, dict[int, int]()

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        append(numbers.setdefault(id(self), len(numbers)))
        append(now())
        try:
            return original(self, *args, **kwargs)
        finally:
            append(-1)
            append(now())

    torch.nn.Module.__call__ = call  # type: ignore[method-assign]
    yield
    torch.nn.Module.__call__ = original  # type: ignore[method-assign]


@contextmanager
def ranges() -> Iterator[None]:
    """Only ever begun while the profiler records, as here."""
    original: Any = torch.nn.Module.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with record_function("module"):
            return original(self, *args, **kwargs)

    torch.nn.Module.__call__ = call  # type: ignore[method-assign]
    with profile(use_kineto=True):
        yield
    torch.nn.Module.__call__ = original  # type: ignore[method-assign]


WAYS: tuple[Callable[[], Any], ...] = (plain, marks, hooks, another_call, ranges)


def calls_ns() -> float:
    module = torch.nn.Identity()
    began = time.thread_time_ns()
    for _ in range(CALLS):
        module(0)
    return (time.thread_time_ns() - began) / CALLS


def step_ns(step: Callable[[], None], way: Callable[[], Any]) -> float:
    with way():
        began = time.thread_time_ns()
        for _ in range(STEPS):
            step()
        return (time.thread_time_ns() - began) / STEPS


def transformer() -> tuple[Callable[[], None], int]:
    """A step of training, and how many modules it calls."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    optimizer, batch = torch.optim.SGD(model.parameters(), lr=0.01), torch.randn(16, 32, 64)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    watch = ModuleWatch()
    watch.install()
    watch.begin()
    step()
    return step, len(watch.finish()[1])


def main(rounds: int) -> None:
    torch.set_num_threads(1)
    took: dict[str, list[float]] = {way.__name__: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            with way():
                took[way.__name__].append(calls_ns())
    base = min(took["plain"])
    marked = min(took["marks"]) - base
    print(
        f"torch {torch.__version__}, {rounds} rounds of {CALLS} calls; a plain call of an empty module: {base:.0f} ns"
    )
    for name, values in took.items():
        if name != "plain":
            more = min(values) - base
            print(f"  {name:<13} +{more:6.0f} ns a call, {more / marked:.1f} × the marks")
    step, calls = transformer()
    with profile(use_kineto=True):
        ratios = []
        for _ in range(rounds):
            without = step_ns(step, plain)
            ratios.append(step_ns(step, marks) / without)
        median_ns = step_ns(step, plain)
    watch = ModuleWatch()
    watch.install()
    with profile(use_kineto=True):
        watch.begin()
        for _ in range(STEPS):
            step()
        found, _ = watch.finish()
    print(f"a step of {calls} module calls under the profiler: {median_ns / 1e6:.1f} ms of processor time")
    print(f"  with marks over without: median {statistics.median(ratios):.4f} ({min(ratios):.3f} to {max(ratios):.3f})")
    print(f"  {calls} calls of {marked:.0f} ns over the step: {calls * marked / median_ns:.3%}")
    print(f"  as the recording says: {found.cost_share if found else 0:.3%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
