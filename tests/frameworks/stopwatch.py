"""What the tests of all frameworks share: small models and data with a fault on request, and stopwatches.

A stopwatch here wraps a method and adds up what its calls took: the truth that a report is held against.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import judge
from gpuprof.run import Run
from gpuprof.units import NS_PER_S

CPU_PARTS_OF_TORCHVISION = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
FEATURES, CLASSES = 64, 10
# how far a share may be off: points of the whole, and standard errors of what was sampled of it
_POINTS, _ERRORS = 0.05, 2.0
# where other programs hold the cores, and the report says that the run cannot be judged
_POINTS_IF_STARVED = 0.15


def network(width: int = 256, depth: int = 3) -> nn.Module:
    """A few products of a fair size."""
    hidden = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU(), *hidden, nn.Linear(width, CLASSES))


def many_parameters() -> nn.Module:
    """62 small tensors: an optimizer that updates them one by one takes a good part of a step."""
    return network(32, 30)


def samples(count: int) -> TensorDataset:
    """Random ones."""
    torch.manual_seed(0)
    return TensorDataset(torch.randn(count, FEATURES), torch.randint(0, CLASSES, (count,)))


class SlowSamples(Dataset[tuple[torch.Tensor, int]]):
    """Each takes so long to make, in Python."""

    def __init__(self, count: int, seconds: float = 0.0004):
        self.count, self.seconds = count, seconds

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        if index >= self.count:
            raise IndexError(index)
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return torch.randn(FEATURES), index % CLASSES


class Stopwatch:
    """`ns` and `calls` so far."""

    def __init__(self) -> None:
        self.ns = self.calls = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, timed. A closure that it is given is not part of its time."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            inner = Stopwatch()
            args = tuple(inner.around(each) if isinstance(each, FunctionType) else each for each in args)
            if callable(kwargs.get("closure")):
                kwargs["closure"] = inner.around(kwargs["closure"])
            began = time.perf_counter_ns()
            try:
                return function(*args, **kwargs)
            finally:
                self.ns += time.perf_counter_ns() - began - inner.ns
                self.calls += 1

        return timed

    @contextmanager
    def on(self, owner: type, method: str) -> Iterator[None]:
        """Of a class, while the context lasts. For `step` of an optimizer of torch: before one is made."""
        own, original = method in vars(owner), getattr(owner, method)
        plain = original.__wrapped__ if getattr(original, "hooked", False) else original
        setattr(owner, method, self.around(plain))
        try:
            yield
        finally:
            if own:
                setattr(owner, method, original)
            else:
                delattr(owner, method)


def steps(run: Run) -> int:
    """As gpuprof counts them."""
    window = run.trace.context.window
    assert window is not None
    return window.steps_seen


def cell_ns(run: Run) -> int:
    """The whole block."""
    window = run.trace.context.window
    assert window is not None
    return window.cell_end_ns - window.cell_start_ns


def is_near(run: Run, watch: Stopwatch, *phases: Phase) -> bool:
    """Whether the share of these phases is within five points of the stopwatch, and what sampling leaves open."""
    known = run.report_data.results.get(CellPhases)
    assert known.sampled
    error = max((each.error or 0.0 for each in known.phases if each.phase in phases), default=0.0)
    points = _POINTS_IF_STARVED if run.report_data.gate.cannot_judge else _POINTS
    return abs(known.share(*phases) - watch.ns / cell_ns(run)) <= points + _ERRORS * error


def optimizer_is_exact(run: Run, watch: Stopwatch) -> bool:
    """Whether the time of all optimizer steps is the stopwatch's, within a tenth or a millisecond for each step: the
    first step is no iteration."""
    counted = run.trace.iterations["optimizer_ns"].sum() / NS_PER_S
    measured = watch.ns / NS_PER_S * (watch.calls - 1) / watch.calls
    return bool(abs(counted - measured) <= max(0.1 * measured, 0.001 * watch.calls))


def finding(run: Run, rule: str) -> Finding:
    """What that rule finds, however busy the machine was: a report would withhold it then."""
    found = {each.rule: each for each in judge(run.report_data.results).findings}
    assert rule in found, sorted(found)
    return found[rule]


def names_slow_samples(run: Run) -> bool:
    """Whether the wait for data is found, with what makes it: the dataset, or the line of its code."""
    found = finding(run, "input_stall")
    return float(found.evidence["stall_share"]) > 0.3 and any(
        each in found.change for each in ("SlowSamples", "stopwatch.py")
    )


def makers(run: Run) -> set[str | None]:
    """The frameworks of all loaders and optimizers."""
    context = run.trace.context
    return {each.maker for each in (*context.loaders, *context.optimizers)}


def above_low(run: Run) -> list[str]:
    """The findings that a reader would act on."""
    return [f"{each.rule}: {each.title}" for each in run.findings if each.severity > Severity.LOW]
