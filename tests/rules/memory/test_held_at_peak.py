"""What names held at the peak and gave back, and what objects in them hold."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Optimizer
from gpuprof.model.memory import HeldTensors, HolderLevel
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.memory.memory_runs import GIB, allocator, run

HOOKED = """captured = defaultdict(list)
def keep(module, inputs, output):
    captured[module].append(output.detach())
net.register_forward_hook(keep)
for epoch in range(3):
    for x in loader:
        step(net(x))
    for name in captured:
        maps = torch.cat(captured[name])
        shares.append(maps.amax((2, 3)).cpu())
    captured.clear()
"""
SWEEP = """class Trainer:
    def __init__(self):
        self.history = []
    def fit(self):
        for epoch in range(7):
            self.history.append({"score": test(), "state": copy(self.net)})
        return self
runs = {}
for lr in rates:
    runs[lr] = Trainer().fit()
for lr, run in runs.items():
    best = min(run.history, key=lambda each: each["score"])
    use(best["state"])
"""
LISTS = (
    HolderLevel(kind="defaultdict", items=3, step="[…]"),
    HolderLevel(kind="list", items=36, step="[…]"),
    HolderLevel(kind="Tensor", items=0, step=""),
)
OBJECTS = (
    HolderLevel(kind="dict", items=4, step="[…]"),
    HolderLevel(kind="Trainer", items=2, step=".history"),
    HolderLevel(kind="list", items=7, step="[…]"),
    HolderLevel(kind="dict", items=2, step='["state"]'),
)


def check(source: str, name: str, *, checked: str = "held_beyond_need", **facts: Any) -> Finding | Abstention | None:
    """Of 4 GiB in 108 tensors, of a peak of 6 GiB."""
    figures: dict[str, Any] = {"kind": "peak", "bytes": 4 * GIB, "tensors": 108, "graph_bytes": 0, "at_ns": 1}
    held = HeldTensors(name=name, device="cuda:0", **(figures | facts))
    memory = allocator(6, 6, allocated_after_bytes=5 * GIB)
    optimizers = (Optimizer(name="SGD", parameters=4, elements=9, steps=108),)
    builder = run(held=(held,), allocators=(memory,), cell=Cell(source=source), optimizers=optimizers)
    return rule(checked).check(Results(builder.build()))


def found(source: str, name: str, **facts: Any) -> Finding:
    answer = check(source, name, **facts)
    assert isinstance(answer, Finding)
    return answer


def plain(text: str) -> str:
    return text.replace("\xa0", " ")


def test_what_a_hook_keeps_for_an_epoch() -> None:
    finding = found(HOOKED, "captured", shape=(64, 40, 32, 32), hook="keep", hooked="net", levels=LISTS)
    assert plain(finding.title) == "`captured` holds 4.00 GiB, of which only `amax((2, 3))` is read"
    assert "`captured` (a defaultdict of 3 lists of 36 tensors) holds 108 tensors" in plain(finding.explanation)
    assert finding.severity is Severity.HIGH and finding.where.lines == (3, 10)


def test_of_the_copies_in_objects_only_the_best_is_used() -> None:
    facts = {"kind": "global", "copies": 28, "copied_bytes": 4 * GIB, "levels": OBJECTS}
    finding = found(SWEEP, "runs", **facts)
    assert plain(finding.title) == ("`runs` keeps 4.00 GiB of model states, but only `min(run.history, …)` is used")
    assert "`runs` (a dict of 4 `Trainer` objects with `history`, a list of 7 dicts with `state`)" in plain(
        finding.explanation
    )
    assert finding.evidence["needless_bytes"] == 4 * GIB - 4 * (4 * GIB // 28) and finding.where.lines == (6, 10, 12)
    assert "instead of adding it to `history`" in finding.change


def test_of_what_is_in_objects_only_the_best_is_used() -> None:
    finding = found(SWEEP, "runs", kind="global", levels=OBJECTS, way_bytes=3 * GIB)
    assert plain(finding.title) == "`runs` keeps 3.00 GiB in `history`, but only `min(run.history, …)` is used"
    assert finding.evidence["needless_bytes"] == round(3 * GIB * 6 / 7) and finding.where.lines == (6, 10, 12)
    assert "at line 6, replace the item before" in finding.change
    few = (*OBJECTS[:2], HolderLevel(kind="list", items=3, step="[…]"))
    answer = check(SWEEP, "runs", kind="global", levels=few, way_bytes=3 * GIB)
    assert not isinstance(answer, Finding) or "history" not in answer.title


@pytest.mark.parametrize("after", ["pickle.dump(runs, file)", "show(runs[0.1].history)"])
def test_copies_that_may_all_be_used(after: str) -> None:
    facts = {"kind": "global", "copies": 28, "copied_bytes": 4 * GIB, "levels": OBJECTS}
    answer = check(SWEEP + after, "runs", **facts)
    assert answer is None or (isinstance(answer, Finding) and answer.severity is Severity.LOW)


MADE = "views = net(x)[:, 0]\nuse(views)\n"
VIEWS = "views = []\nfor x in loader:\n    views.append(net(x)[:, 0])\nuse(views)\n"


def test_what_was_in_the_making_is_left_alone() -> None:
    assert check(MADE, "views", unseen_bytes=3 * GIB) is None
    assert found(VIEWS, "views", unseen_bytes=3 * GIB).severity is Severity.HIGH


def test_views_in_a_list_that_was_being_filled() -> None:
    source = "def embed(loader):\n    views = [net(x)[:, 0] for x in loader]\n    return torch.cat(views)\n"
    facts = {"kind": "frame", "unseen_bytes": 3 * GIB, "filling": (("embed", 2),)}
    finding = found(source, "[…]", **facts)
    assert plain(finding.title) == "The views in `views` keep 3.00 GiB of unused storage alive"
    assert finding.where.lines == (2,)


def test_a_graph_at_the_peak_may_be_needed() -> None:
    losses = "losses = []\nfor x in loader:\n    losses.append(net(x))\nsum(losses).backward()\nlosses.clear()\n"
    facts = {"graphs": 64, "graph_bytes": 4 * GIB, "bytes": 64}
    assert check(losses, "losses", checked="memory_kept_by_hooks_or_graphs", **facts) is None


PAIRS = """def minimise(x):
    steps, ratios = [], []
    for turn in range(500):
        recent = list(zip(steps, ratios))[-8:]
        steps.append(step(x, recent))
        ratios.append(1.0)
    return x
minimise(start)
"""
TENSORS = (HolderLevel(kind="list", items=400, step="[…]"), HolderLevel(kind="Tensor", items=0, step=""))


def test_of_lists_that_grow_the_last_items_are_read() -> None:
    finding = found(PAIRS, "steps in minimise()", kind="frame", levels=TENSORS)
    assert plain(finding.title) == "`steps` holds 4.00 GiB, of which only the last 8 items are read"
    assert finding.change == "Drop what is no longer read, after each `append`: `del steps[:-8]`, `del ratios[:-8]`."
    assert finding.evidence["needless_bytes"] == round(4 * GIB * 392 / 400) and 4 in finding.where.lines
    # no more than are read, and one that is read whole
    few = (HolderLevel(kind="list", items=8, step="[…]"), TENSORS[1])
    assert check(PAIRS, "steps in minimise()", kind="frame", levels=few) is None
    assert check(PAIRS.replace("return x", "return steps"), "steps in minimise()", kind="frame", levels=TENSORS) is None


def test_a_later_cell_may_read_a_list_of_the_notebook() -> None:
    source = "steps = []\nfor turn in range(500):\n    steps.append(step(x, steps[-1:]))\n"
    assert found(source, "steps", kind="global", levels=TENSORS).severity is Severity.LOW
    assert found(PAIRS, "steps in minimise()", kind="frame", levels=TENSORS).severity is Severity.HIGH
