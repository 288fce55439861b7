"""Replay of fresh recordings, and three simple changes: the predicted saving against the measured one.

The argument is the size. A change is predicted from a recording of the bad loop; then both loops run in turn, plain,
and both are recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from benchmarks.gpu_check import cells, clocks, recorded, training
from benchmarks.gpu_check.check import Check
from gpuprof.run import Run

_COPIES = """\
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(size.width, size.width), torch.nn.ReLU(),
                            torch.nn.Linear(size.width, size.width)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
batch = torch.randn(size.batch * size.length, size.width)
pinned = batch.pin_memory() if device == "cuda" else batch
losses = []

def train_on(x):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()
"""
_ONE_BY_ONE = "\noptimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)\n"
_FOREACH = "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)\n"


@dataclass(frozen=True)
class Change:
    """One change of a loop. `rule`: whose finding predicts it; `refit` runs before the good loop."""

    name: str
    rule: str
    setup: str
    bad: str
    good: str
    refit: str = ""


CHANGES = (
    Change(
        "read_each_step",
        "sync_in_step",
        training.SETUP,
        "for step in range(steps):\n    losses.append(train_step(batches[step % 16]).item())\n",
        training.CELL,
    ),
    Change(
        "pageable_copy",
        "pageable_h2d_copy",
        _COPIES,
        "for step in range(steps):\n    losses.append(train_on(batch.to(device)))\n",
        "for step in range(steps):\n    losses.append(train_on(pinned.to(device, non_blocking=True)))\n",
    ),
    Change(
        "one_by_one_adam",
        "unfused_optimizer",
        training.SETUP + _ONE_BY_ONE,
        training.CELL,
        training.CELL,
        refit=_FOREACH,
    ),
)


def run(check: Check) -> None:
    size = check.arguments[0] if check.arguments else "mini"
    for change in CHANGES:
        if check.left_s < 20:
            check.note(**{change.name: "not begun: too little time was left"})
            continue
        facts = _predict_and_measure(check, change, size)
        check.note(**{change.name: facts})
        check.say(f"{size} {change.name}: predicted {facts['predicted_share']}, measured {facts['measured_share']}")
    check.expect("changes are predicted on a device", True if check.on_device else None)


def _predict_and_measure(check: Check, change: Change, size: str) -> dict[str, Any]:
    steps = 10 if check.small else 60
    variants = {}
    for name, source in (("bad", change.bad), ("good", change.good)):
        namespace = training.sized(size, check.device, steps=3)
        cells.enter(change.setup + (change.refit if name == "good" else ""), namespace)
        cells.enter(source, namespace)
        variants[name] = SimpleNamespace(source=source, namespace=namespace)
    runs = {name: _recorded(check, variant, steps, f"{change.name}_{name}") for name, variant in variants.items()}
    ratios = _interleaved(check, variants, steps)
    finding = next((each for each in runs["bad"].to_dict()["findings"] if each["rule"] == change.rule), None)
    saving = None if finding is None else finding["saving"]
    return {
        "rule_fires_on_bad": finding is not None,
        "rule_fires_on_good": change.rule in [each.rule for each in runs["good"].findings],
        "saving": saving,
        "predicted_share": None if saving is None else saving["share"],
        "measured_share": 1 - clocks.spread(ratios)["median"],
        "good_over_bad": clocks.spread(ratios),
        "step_ms": {name: each.to_dict()["source"]["step_ms"] for name, each in runs.items()},
        "recorded_again_share": _recorded_again(runs),
        "replay": {name: recorded.replay(each) for name, each in runs.items()},
    }


def _recorded_again(runs: dict[str, Run]) -> float | None:
    """What the recordings of both say was saved of a step; None where one has no steps."""
    bad, good = (runs[name].to_dict()["source"]["step_ms"] for name in ("bad", "good"))
    return 1 - good / bad if bad and good else None


def _recorded(check: Check, variant: SimpleNamespace, steps: int, name: str) -> Run:
    variant.namespace["steps"] = steps
    profiled = cells.play(variant.source, variant.namespace, steps=20).run
    recorded.keep(check, profiled, name)
    return profiled


def _interleaved(check: Check, variants: dict[str, SimpleNamespace], steps: int) -> list[float]:
    """Good ÷ bad, plain, in turn; one ratio a pair."""
    ratios = []
    for pair in range(2 if check.small else 10):
        order = ("bad", "good") if pair % 2 else ("good", "bad")
        taken = {}
        for name in order:
            taken[name] = _plain_ns(check, variants[name], steps)
        ratios.append(taken["good"] / taken["bad"])
        if check.left_s < 10:
            break
    return ratios


def _plain_ns(check: Check, variant: SimpleNamespace, steps: int) -> int:
    variant.namespace["steps"], variant.namespace["losses"] = steps, []
    return clocks.host_ns(lambda: cells.enter(variant.source, variant.namespace), check.device)
