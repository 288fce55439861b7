from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import traceback
import warnings
import weakref
from collections.abc import Iterator

import pytest
import torch

from gpuprof.capture.profiler.optimizers import OptimizerWatch
from gpuprof.model.recording import CLOSURE
from tests.capture.cells import model


@pytest.fixture
def watch() -> Iterator[OptimizerWatch]:
    watch = OptimizerWatch(__file__, lambda *_: None)
    watch.install()
    yield watch
    watch.remove()


def step(optimizer: torch.optim.Optimizer, times: int = 1) -> int:
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones_like(parameter)
    for _ in range(times):
        optimizer.step()
    return inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]


def test_facts(watch: OptimizerWatch) -> None:
    net = model()
    line = step(torch.optim.AdamW(net.parameters(), foreach=False), times=3)
    (found,) = watch.facts()
    elements = 8 * 8 + 8 + 8 * 2 + 2
    assert (found.name, found.parameters, found.elements, found.steps) == ("AdamW", 4, elements, 3)
    # two moments in float32 and one float32 step counter a parameter
    assert found.state_bytes == 2 * 4 * elements + 4 * 4
    assert (found.fused, found.foreach, found.device, found.line) == (None, False, "cpu", line)


def test_each_optimizer_counts_for_itself(watch: OptimizerWatch) -> None:
    first = torch.optim.SGD(model().parameters(), lr=0.1)
    second = torch.optim.Adam(model().parameters(), fused=True)
    step(first, 2)
    step(second, 3)
    assert [(found.name, found.steps, found.fused) for found in watch.facts()] == [("SGD", 2, None), ("Adam", 3, True)]


def test_a_group_that_is_added_later_counts(watch: OptimizerWatch) -> None:
    first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 3)
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    optimizer.step()
    optimizer.add_param_group({"params": second.parameters()})
    optimizer.step()
    (facts,) = watch.facts()
    assert (facts.steps, facts.parameters, facts.elements) == (2, 4, 6 + 9)


def test_complex_parameters_are_told(watch: OptimizerWatch) -> None:
    numbers, pairs = (torch.nn.Parameter(torch.ones(2, dtype=kind)) for kind in (torch.float64, torch.complex64))
    step(torch.optim.Adam([numbers]))
    step(torch.optim.SGD([numbers, pairs], lr=0.1))
    later = torch.optim.SGD([numbers], lr=0.1)
    step(later)
    later.add_param_group({"params": [pairs]})
    assert [found.floating for found in watch.facts()] == [True, False, False]


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "SGD", "Adagrad"])
def test_no_fused_step_of_torch_takes_complex_parameters(kind: str) -> None:
    """Which is why `unfused_optimizer` asks; where this fails, it need no longer."""
    pairs = torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))
    step(getattr(torch.optim, kind)([pairs], lr=0.1, foreach=True))
    with pytest.raises(RuntimeError, match="floating point"):
        step(getattr(torch.optim, kind)([pairs], lr=0.1, fused=True))


def test_a_dropped_model_is_not_kept_alive(watch: OptimizerWatch) -> None:
    optimizer = torch.optim.SGD(model().parameters(), lr=0.1)
    step(optimizer)
    alive = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert alive() is None
    assert watch.facts()[0].steps == 1


def test_a_failure_of_ours_does_not_reach_the_step() -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    watch = OptimizerWatch(None, fail)
    watch.install()
    optimizer = torch.optim.SGD(model().parameters(), lr=0.1)
    before = [each.detach().clone() for group in optimizer.param_groups for each in group["params"]]
    step(optimizer, 2)
    watch.remove()
    after = [each for group in optimizer.param_groups for each in group["params"]]
    assert not any(torch.equal(was, now) for was, now in zip(before, after, strict=True))
    # it has removed itself at the first failure
    assert watch.facts()[0].steps == 1


def test_nothing_is_counted_after_removal(watch: OptimizerWatch) -> None:
    watch.remove()
    step(torch.optim.SGD(model().parameters(), lr=0.1))
    assert watch.facts() == ()


def test_a_compiled_step_is_counted_and_none_of_our_code_is_traced() -> None:
    import torch._dynamo

    watch = OptimizerWatch(__file__, lambda *_: None)
    watch.install()
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    compiled = torch.compile(optimizer.step, backend="eager")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Dynamo does not know")
        for _ in range(3):
            net(torch.randn(4, 8)).sum().backward()
            compiled()
    watch.remove()
    assert [found.steps for found in watch.facts()] == [3]


def test_a_closure_has_its_own_range(watch: OptimizerWatch) -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = net(torch.ones(2, 8)).sum()
        loss.backward()
        return loss

    with torch.autograd.profiler.profile() as profiler:
        given = [optimizer.step(closure), optimizer.step(closure=closure), optimizer.step()]
    assert [loss is None for loss in given] == [False, False, True]
    assert [event.name for event in profiler.function_events].count(CLOSURE) == 2
    optimizer.step(closure)
    assert watch.facts()[0].steps == 4


def test_what_a_closure_raises_has_none_of_our_frames(watch: OptimizerWatch) -> None:
    optimizer = torch.optim.SGD(model().parameters(), lr=0.1)

    def closure() -> float:
        raise ValueError("the user's")

    with pytest.raises(ValueError, match="the user's") as raised:
        optimizer.step(closure)
    files = [entry.filename for entry in traceback.extract_tb(raised.value.__traceback__)]
    assert files[-1] == __file__
    assert not any("gpuprof/capture/" in name and "tests" not in name for name in files)


def test_whether_an_optimizer_was_made_in_the_process() -> None:
    asks = "from gpuprof.capture.profiler.optimizers import optimizer_made; print(optimizer_made(), end=' ')"
    makes = "import torch; torch.optim.{}([torch.zeros(2, requires_grad=True)], lr=0.1)"
    for name in ("SGD", "AdamW"):
        text = f"{asks}\n{makes.format(name)}\nprint(optimizer_made())"
        found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        assert found.stdout.split() == ["False", "True"]


def test_a_step_that_calls_that_of_its_base_counts_once(watch: OptimizerWatch) -> None:
    class Mine(torch.optim.Adam):
        def step(self, closure: object = None) -> object:  # type: ignore[override]
            return super().step(closure)  # type: ignore[arg-type]

    torch.optim.Adam(model().parameters())  # from now on torch tells of each step of its class, too
    step(Mine(model().parameters()), times=2)
    assert [(found.name, found.steps) for found in watch.facts()] == [("Mine", 2)]


def test_a_step_that_has_failed_is_no_base_of_the_next(watch: OptimizerWatch) -> None:
    class Failing(torch.optim.SGD):
        fails = True

        def step(self, closure: object = None) -> object:  # type: ignore[override]
            if self.fails:
                raise ZeroDivisionError
            return super().step(closure)  # type: ignore[arg-type]

    torch.optim.SGD(model().parameters(), lr=0.1)
    optimizer = Failing(model().parameters(), lr=0.1)
    with pytest.raises(ZeroDivisionError):
        step(optimizer)
    optimizer.fails = False
    step(optimizer, times=3)
    assert [found.steps for found in watch.facts()] == [3]
