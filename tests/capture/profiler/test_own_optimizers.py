"""A step of an optimizer that is not torch's is counted, timed and marked like one that is."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gpuprof.capture.profiler import own_optimizers
from gpuprof.capture.profiler.optimizers import OptimizerWatch
from gpuprof.frameworks import Framework, OwnOptimizer


class Variable:
    def __init__(self) -> None:
        self.value = torch.ones(3)


class Descent:
    def __init__(self) -> None:
        self.groups = [[torch.ones(2, 2)], [Variable()]]
        self.moments = {0: {"sum": torch.zeros(4)}}
        self.fails = False

    def update(self, rate: float) -> str:
        if self.fails:
            raise ZeroDivisionError
        return f"stepped by {rate}"

    def both(self) -> None:
        self.update(1.0)
        self.update(2.0)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    module = types.ModuleType("keras.fake")
    module.Descent = Descent  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keras", types.ModuleType("keras"))
    monkeypatch.setitem(sys.modules, "keras.fake", module)
    known = Framework(
        "keras", "Keras", optimizers=(OwnOptimizer("keras.fake", "Descent", "update", "groups", "moments"),)
    )
    monkeypatch.setattr(own_optimizers, "framework", lambda package: known if package == "keras" else None)
    yield []


def watch_of(told: list[int]) -> OptimizerWatch:
    return OptimizerWatch(__file__, lambda _, times: told.append(times))


def test_its_steps_are_counted_and_its_tensors_found(told: list[int]) -> None:
    watch, optimizer = watch_of(told), Descent()
    watch.install()
    assert optimizer.update(0.5) == "stepped by 0.5" and optimizer.update(1.0) == "stepped by 1.0"
    watch.remove()
    optimizer.update(2.0)
    (found,) = watch.facts()
    assert told == [1, 2]
    assert (found.name, found.steps, found.parameters, found.elements, found.state_bytes) == ("Descent", 2, 2, 7, 16)


def test_its_step_is_a_range_of_the_recording(told: list[int]) -> None:
    watch = watch_of(told)
    watch.install()
    with torch.autograd.profiler.profile() as recorded:
        Descent().update(0.5)
    watch.remove()
    events: Any = recorded.function_events
    assert "Optimizer.step#Descent.step" in {each.name for each in events}


def test_one_that_fails_raises_what_it_raised(told: list[int]) -> None:
    watch, optimizer = watch_of(told), Descent()
    watch.install()
    optimizer.fails = True
    with pytest.raises(ZeroDivisionError) as failed:
        optimizer.update(0.5)
    optimizer.fails = False
    optimizer.update(0.5)
    watch.remove()
    assert told == [1]
    assert not [each for each in failed.traceback if "gpuprof/capture" in str(each.path)]


def test_one_that_is_loaded_later_is_found(told: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    later = sys.modules.pop("keras")
    watch = watch_of(told)
    watch.install()
    monkeypatch.setitem(sys.modules, "keras", later)
    watch.batch_asked()
    Descent().update(0.5)
    watch.remove()
    assert told == [1]
    watch.batch_asked()
    Descent().update(0.5)
    assert told == [1]


def test_what_was_wrapped_around_ours_stays(told: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Descent, "update", Descent.update)
    watch = watch_of(told)
    watch.install()
    ours = Descent.update
    theirs = lambda self, rate: ours(self, rate)  # noqa: E731
    Descent.update = theirs  # type: ignore[method-assign]
    watch.remove()
    assert Descent.update is theirs
