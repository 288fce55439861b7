"""A real cell is tuned in this process: what differs or raises is dropped, and all is put back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from gpuprof.errors import VariantError, VerificationError
from gpuprof.rules.base.guard import Guard
from gpuprof.verification.tuning.setting import Candidates, Setting
from gpuprof.verification.tuning.tune import tune_cell
from gpuprof.verification.tuning.tuning import Tuning

SETUP = """
import time
import torch
torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(640, 8), torch.randn(640, 1))
pause_s = 0.004
kept = []
"""
CELL = """
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
model = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    time.sleep(pause_s)
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    kept.append(loss.item())
"""


def replacing(name: str, old: str, new: str, **options: Any) -> Setting:
    def edit(source: str) -> str | None:
        return source.replace(old, new) if old in source else None

    return Setting(name, options.pop("group", name), edit, **options)


FASTER = replacing("shorter pause", "sleep(pause_s)", "sleep(0.0005)")
OTHER_RATE = replacing("other rate", "lr=0.1", "lr=0.2")
OTHER_ORDER = replacing("other order", "shuffle=True", "shuffle=False")
FEWER = replacing("fewer", "    kept.append", "    if len(kept) > 30: break\n    kept.append")
RAISING = replacing("raising", "opt.zero_grad()", "raise ValueError('not  so')")
LATER = replacing("later", "sleep(0.0005)", "sleep(0.0001)")


@pytest.fixture
def namespace() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(SETUP, names)
    exec(CELL, names)
    return names


def tuned(names: dict[str, Any], *settings: Setting, cell: str = CELL, **options: Any) -> Tuning:
    return tune_cell(Candidates(cell, list(settings)), names, **({"seconds": 60.0, "seed": 1} | options))


def state_of(names: dict[str, Any]) -> tuple[Any, ...]:
    weights = [p.detach().numpy().tobytes() for p in names["model"].parameters()]
    return (
        *weights,
        torch.get_rng_state().numpy().tobytes(),
        *(id(value) for value in names.values()),
        len(names["kept"]),
    )


def test_the_best_is_found_and_what_differs_or_raises_is_dropped(namespace: dict[str, Any]) -> None:
    before = state_of(namespace)
    said = list[str]()
    found = tuned(namespace, FASTER, OTHER_RATE, OTHER_ORDER, RAISING, LATER, on_progress=said.append)
    assert state_of(namespace) == before
    assert found.settings[0] == "shorter pause" and found.ratio is not None and found.ratio > 1.2 and found.proven
    assert found.same_results == "loss identical over 20 steps" and "sleep(0.000" in found.after
    fates = {row.settings: row.fate for row in found.tried}
    assert fates[("other rate",)].startswith("results differ: losses differ by up to")
    assert fates[("other order",)].startswith("results differ: ")
    assert fates[("raising",)] == "raised ValueError: not so"
    assert said[0].endswith("looking at the unchanged cell") and any("turn " in text for text in said)


def test_what_ends_earlier_than_the_cell_is_not_proposed(namespace: dict[str, Any]) -> None:
    namespace["kept"].clear()
    both = replacing("fewer", "time.sleep(pause_s)", "\n    if len(kept) > 30: break")
    found = tuned(namespace, both)
    assert found.settings == ()
    (row,) = found.tried
    assert row.fate.startswith("does not compute the same: the change makes ") or row.fate.startswith("results differ")


def test_nothing_faster_is_said(namespace: dict[str, Any]) -> None:
    slower = replacing("slower", "sleep(pause_s)", "sleep(3 * pause_s)")
    found = tuned(namespace, slower)
    assert found.settings == () and str(found) == "no setting was measured to be faster than the unchanged cell"
    assert found.after == CELL and found.tried[0].fate in (
        "slower than the unchanged cell",
        "undecided: its time was up",
    )


def test_an_interrupt_ends_it_and_puts_all_back(namespace: dict[str, Any]) -> None:
    before = state_of(namespace)

    def interrupt(text: str) -> None:
        if "turn 2" in text:
            raise KeyboardInterrupt

    found = tuned(namespace, FASTER, on_progress=interrupt)
    assert found.interrupted and not found.proven and found.settings == ()
    assert any(line.startswith("interrupted after ") for line in found.lines())
    assert state_of(namespace) == before


def test_a_cell_that_raises_or_acts_on_the_world_is_refused(namespace: dict[str, Any], tmp_path: Path) -> None:
    before = state_of(namespace)
    with pytest.raises(VariantError, match="the cell raised ValueError"):
        tuned(namespace, FASTER, cell=CELL.replace("opt.zero_grad()", "raise ValueError('mine')"))
    path = tmp_path / "new.txt"
    with pytest.raises(VerificationError, match="line 12 of the cell opens a file to write"):
        tuned(namespace, FASTER, cell=f"{CELL}open({str(path)!r}, 'w')\n")
    writing = replacing("writing", "opt.zero_grad()", f"opt.zero_grad(); open({str(path)!r}, 'w')")
    with pytest.raises(VerificationError, match="of the changed cell opens a file to write"):
        tuned(namespace, writing)
    assert not path.exists() and state_of(namespace) == before


def test_too_slow_a_cell_says_how_many_seconds_it_takes(namespace: dict[str, Any]) -> None:
    namespace["pause_s"] = 0.05
    with pytest.raises(VerificationError, match=r"a block of the cell takes .*; give more time \(--seconds \d+\)"):
        tuned(namespace, FASTER, seconds=5.0)


def test_what_changes_results_is_marked(namespace: dict[str, Any]) -> None:
    half = replacing("half", "model(x) - y", "(model(x) - y).bfloat16().float()", group="autocast", guard=Guard.NUMERIC)

    def interrupt(text: str) -> None:
        if "turn 1" in text:
            raise KeyboardInterrupt

    (row,) = tuned(namespace, half, on_progress=interrupt).tried
    assert row.changes_results and row.name == "half (changes results)" and row.turns == 1
