"""Two cells or two functions are compared, and nothing that belongs to the user is changed by it."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from gpuprof.errors import UsageError, VariantError, VerificationError
from gpuprof.verification import Guard, Measurement, Outcome, Status, measure_cells, verify

SETUP = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
history = []
"""
CELL = """
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
for epoch in range(3):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
    print(loss.item())
"""


@pytest.fixture
def namespace() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(SETUP, names)
    exec(CELL, names)
    return names


def measured(before: str, after: str, names: dict[str, Any], **options: Any) -> Measurement:
    return measure_cells(before, after, names, **{"budget_s": 6.0, "most_pairs": 1, "seed": 1} | options)


def state_of(names: dict[str, Any]) -> tuple[Any, ...]:
    tensors = [p.detach().clone() for p in names["model"].parameters()]
    tensors += [each.clone() for kept in names["opt"].state.values() for each in kept.values()]
    return (
        *(tensor.numpy().tobytes() for tensor in (*tensors, torch.get_rng_state())),
        *(id(value) for value in names.values()),
        *names["history"],
        *names,
    )


def test_the_namespace_and_all_it_reaches_is_as_it_was(namespace: dict[str, Any], capsys: Any) -> None:
    before, said = state_of(namespace), list[str]()
    measurement = measured(CELL, CELL + "\nnew_name = 1", namespace, on_progress=said.append)
    assert said[0] == "0 s of 6 s: looking at what both compute" and any("warming up the cell" in each for each in said)
    assert state_of(namespace) == before and capsys.readouterr().out == ""
    assert measurement.guard.status is Status.PASSED and measurement.guard.loss_difference == 0
    assert "loss identical over" in str(measurement) and measurement.pairs >= 1


@pytest.mark.parametrize("error", ["ValueError('mine')", "SystemExit(3)"])
def test_an_arm_that_raises_is_said_and_changes_nothing(namespace: dict[str, Any], error: str) -> None:
    before = state_of(namespace)
    with pytest.raises(VariantError, match="the changed cell raised") as caught:
        measured(CELL, CELL.replace("opt.step()", f"opt.step(); raise {error}"), namespace)
    assert caught.value.__cause__ is not None and state_of(namespace) == before


def test_a_function_that_raises_is_told_from_the_other() -> None:
    with pytest.raises(VariantError, match=r"^the second function raised ZeroDivisionError"):
        verify(lambda: 1.0, lambda: 1 / 0, budget_s=1)


def test_an_interrupt_passes_on_and_changes_nothing(namespace: dict[str, Any]) -> None:
    before = state_of(namespace)
    interrupted = CELL.replace("history.append", "history.clear(); raise KeyboardInterrupt; history.append")
    with pytest.raises(KeyboardInterrupt):
        measured(CELL, interrupted, namespace)
    assert state_of(namespace) == before
    assert torch.autograd.backward.__module__ == "torch.autograd"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("opt.step()", "opt.step() if epoch else None"), "the original"),
        (("opt.zero_grad()", "pass"), "losses differ"),
        (("loss.backward()", "(loss * 0.5).backward()"), "losses differ"),
        (("batch_size=4", "batch_size=8"), "other shapes"),
        (("loss.backward()", "(loss * float('nan')).backward()"), "not finite"),
        (("        loss.backward()\n        opt.step()\n", ""), "in another way"),
    ],
)
def test_a_change_that_does_less_or_other_work_is_caught(namespace: dict[str, Any], change: Any, text: str) -> None:
    measurement = measured(CELL, CELL.replace(*change), namespace)
    assert measurement.guard.status is Status.FAILED and text in measurement.guard.text
    assert "the change does not compute the same" in measurement.lines()[0]


@pytest.mark.parametrize(("epochs", "steps"), [(2, 32), (9, 50)])
def test_a_change_that_ends_elsewhere_is_caught_after_the_steps_compared(
    namespace: dict[str, Any], epochs: int, steps: int
) -> None:
    measurement = measured(CELL, CELL.replace("range(3)", f"range({epochs})"), namespace, budget_s=40.0)
    text = f"the change makes {steps} steps where the original makes 48"
    assert measurement.guard.status is Status.FAILED and text in measurement.guard.text


def test_other_numerics_may_round_but_not_wander(namespace: dict[str, Any]) -> None:
    rounded = CELL.replace("model(x)", "model(x * (1 + 1e-4))")
    measurement = measured(CELL, rounded, namespace, guard=Guard.NUMERIC)
    assert measurement.guard.status is Status.PASSED and measurement.guard.loss_difference
    assert measured(CELL, rounded, namespace).guard.status is Status.FAILED
    wandering = CELL.replace("model(x)", "model(x * 1.1)")
    assert measured(CELL, wandering, namespace, guard=Guard.NUMERIC).guard.status is Status.FAILED
    broken = CELL.replace(".mean()", ".mean() * float('nan')")
    assert "not finite" in measured(CELL, broken, namespace, guard=Guard.NUMERIC).guard.text


def test_another_training_is_labelled_and_compared_by_sample(namespace: dict[str, Any]) -> None:
    measurement = measured(CELL, CELL.replace("batch_size=4", "batch_size=16"), namespace, guard=Guard.SEMANTIC)
    assert measurement.guard.status is Status.NOT_COMPARABLE and str(measurement).startswith("training dynamics change")
    assert "compared by sample: a step takes 4 of them before and 16 after" in measurement.notes
    assert measurement.ratio == pytest.approx(measurement.before.step_ns * 4 / measurement.after.step_ns)


def test_a_graph_of_an_earlier_cell_is_not_used_up(namespace: dict[str, Any]) -> None:
    namespace["earlier"] = (namespace["model"](torch.ones(1, 8))).sum()
    cell = "opt.zero_grad()\nearlier.backward()\nopt.step()"
    with pytest.raises(VerificationError, match="a graph that an earlier cell made"):
        measured(cell, cell + "\n", namespace)
    namespace["earlier"].backward()


@pytest.mark.parametrize(
    ("cell", "reason", "runs"),
    [
        ("time.sleep(0.3)\nran.value += 1", r"a run of the cell, which makes no steps .* and 8 pairs", 1),
        (
            "for at in range(9):\n    opt.step(); time.sleep(0.3)\n    ran.value += at == 1",
            "a block of 5 steps takes",
            1,
        ),
        ("time.sleep(0.5)\nran.value += 1\nfor at in range(30): opt.step()", r"budget is 2\.00 s: give more", 5),
    ],
)
def test_what_the_budget_cannot_decide_is_not_begun(
    namespace: dict[str, Any], cell: str, reason: str, runs: int
) -> None:
    namespace |= {"time": time, "ran": ctypes.c_int64(0)}  # a ctypes number is nothing that is put back
    with pytest.raises(VerificationError, match=reason):
        measured(cell, cell + "\n", namespace, budget_s=2.0, most_pairs=60)
    assert namespace["ran"].value <= runs


def test_a_faster_cell_is_called_that() -> None:
    names: dict[str, Any] = {"time": time}
    measurement = measure_cells("time.sleep(0.02)", "time.sleep(0.004)", names, budget_s=30, predicted=(2, 4, 6))
    assert (
        measurement.outcome is Outcome.FASTER
        and measurement.whole_cell
        and 1.5 < measurement.low < measurement.high < 12
    )
    assert str(measurement).startswith("predicted 4.00× (2.00–6.00), measured ")
    assert measurement.to_dict()["guard"]["status"] == "not comparable"


def test_functions_are_measured_call_by_call() -> None:
    weight = torch.ones(3, requires_grad=True)
    calls = []

    def slow() -> torch.Tensor:
        time.sleep(0.02)
        return quick()

    def quick() -> torch.Tensor:
        calls.append(1)
        loss = weight.square().sum()
        loss.backward()
        with torch.no_grad():
            weight.sub_(0.1 * weight.grad)
        weight.grad = None
        return loss

    measurement = verify(slow, quick, budget_s=20)
    assert measurement.outcome is Outcome.FASTER and measurement.low > 2 and measurement.guard.loss_difference == 0
    assert calls == [] and weight.tolist() == [1.0, 1.0, 1.0] and weight.grad is None


def test_wrong_arguments_are_one_line() -> None:
    with pytest.raises(UsageError, match="expected one of exact, numeric, semantic"):
        verify(int, int, guard="E")
    with pytest.raises(UsageError, match="two functions"):
        verify(1, int)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("await later()", "line 1 of the cell awaits"),
        ("[x async for x in y]", "not plain Python"),
        ("return", "not plain"),
    ],
)
def test_what_runs_in_a_notebook_only_is_refused(namespace: dict[str, Any], line: str, reason: str) -> None:
    with pytest.raises(VerificationError, match=reason):
        measured(f"{line}\n{CELL}", CELL, namespace)


def test_what_acts_on_the_world_is_stopped_where_it_happens(namespace: dict[str, Any], tmp_path: Path) -> None:
    namespace["path"] = tmp_path / "model.pt"
    before = state_of(namespace)
    saving = CELL + "    if epoch == 1:\n        torch.save(model.state_dict(), path)\n"
    with pytest.raises(VerificationError, match=r"line 12 of the changed cell writes the file '.*model\.pt'") as caught:
        measured(CELL, saving, namespace)
    assert not isinstance(caught.value, VariantError)
    assert state_of(namespace) == before and not namespace["path"].exists()


def test_effects_can_be_allowed(namespace: dict[str, Any], tmp_path: Path) -> None:
    namespace["path"] = tmp_path / "model.pt"
    saving = CELL + "torch.save(model.state_dict(), path)\n"
    assert measured(saving, saving + "\n", namespace, allow_effects=True).pairs == 1
    assert namespace["path"].exists()


def test_functions_are_stopped_too(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    with pytest.raises(VerificationError, match=r"<lambda>\(\), line \d+, opens a file to write"):
        verify(lambda: 1.0, lambda: path.write_text("x"), budget_s=1)
    assert not path.exists()
    assert verify(lambda: 1.0, lambda: path.write_text("x"), budget_s=1, pairs=1, allow_effects=True).pairs == 1
    assert path.read_text() == "x"
