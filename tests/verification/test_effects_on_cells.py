"""Changes as users make them, in cells: a real gain is found, an edit without effect is not called one."""

from __future__ import annotations

import ctypes
import types
from typing import Any

import pytest

from gpuprof.verification import Outcome, Status, measure_cells, record
from gpuprof.verification.timing import blocks

LOADER = """
import time, torch
class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 10_000
    def __getitem__(self, at):
        time.sleep(0.005)
        return torch.full((4,), float(at))
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=1e-9)
"""
CELL = """
loader = torch.utils.data.DataLoader(Slow(), batch_size=4, num_workers=0)
for x in loader:
    loss = model(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.fixture
def namespace() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(LOADER, names)
    return names


def test_workers_for_a_slow_dataset_are_found_faster(namespace: dict[str, Any]) -> None:
    verdict = measure_cells(CELL, CELL.replace("num_workers=0", "num_workers=2"), namespace, budget_s=60, seed=1)
    assert verdict.outcome is Outcome.FASTER and verdict.low > 1.2, str(verdict)
    assert verdict.guard.status is Status.PASSED and verdict.guard.loss_difference == 0
    assert verdict.after.step_ns < verdict.before.step_ns and not verdict.whole_cell


STEPS = """
for at in range(500):
    loss = model(torch.ones(1, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    clock.value += 20_000_000 + clock.value // 1000 * 7919 % 2_000_000
"""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, namespace: dict[str, Any]) -> None:
    """Time passes where the cell says so, unevenly; a ctypes number is nothing that is put back."""
    namespace["clock"] = now = ctypes.c_int64(0)
    for module in (blocks, record):
        monkeypatch.setattr(module, "time", types.SimpleNamespace(perf_counter_ns=lambda: now.value))


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("step_ns", "outcome", "low", "high"),
    [
        ("20_000_000", Outcome.NO_EFFECT, 0.99, 1.01),
        ("19_000_000", Outcome.FASTER, 1.03, 1.07),
        ("22_000_000", Outcome.SLOWER, 0.89, 0.93),
    ],
)
def test_the_effect_is_what_it_is(
    namespace: dict[str, Any], step_ns: str, outcome: Outcome, low: float, high: float
) -> None:
    verdict = measure_cells(STEPS, STEPS.replace("20_000_000", step_ns), namespace, seed=1)
    assert verdict.outcome is outcome and low < verdict.low <= verdict.ratio <= verdict.high < high, str(verdict)
    assert verdict.before.p50_ns == pytest.approx(21e6, rel=0.05) and verdict.guard.loss_difference == 0
