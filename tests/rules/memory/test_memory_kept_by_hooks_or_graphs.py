"""What hooks and graphs keep, on a host and on a device: the words, and what is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.kept_memory import DeviceKept, KeptTensors
from gpuprof.model.context import Cell, Optimizer
from gpuprof.model.memory import HeldTensors, StepMemory
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.memory.memory_kept_by_hooks_or_graphs import _change, _others
from gpuprof.rules.registry import judge, rule
from tests.rules.cases.memory.memory_kept_by_hooks_or_graphs import SOURCE
from tests.rules.memory.memory_runs import GIB, allocator, run

NAME = "memory_kept_by_hooks_or_graphs"
HOOKED = """def keep(module, inputs, output):
    acts.append(output)
handle = net.register_forward_hook(keep)
for x, y in loader:
    train(x, y)
handle.remove()
"""
SUMMED = "total = 0\nfor x, y in valid:\n    total = total + criterion(net(x), y)\n"


def held(name: str, **more: Any) -> HeldTensors:
    figures: dict[str, Any] = {"kind": "global", "device": "cuda:0", "bytes": 0, "tensors": 50, "graph_bytes": 0}
    return HeldTensors(name=name, **(figures | more))


def check(*rows: HeldTensors, source: str = SOURCE, steps: int = 0, **memory: Any) -> Finding | Abstention | None:
    figures = {"allocated_after_bytes": 5 * GIB} | memory
    optimizers = (Optimizer(name="SGD", parameters=4, elements=9, steps=steps),) if steps else ()
    builder = run(held=rows, allocators=(allocator(6, 6, **figures),), cell=Cell(source=source), optimizers=optimizers)
    return rule(NAME).check(Results(builder.build()))


def found(*rows: HeldTensors, **more: Any) -> Finding:
    answer = check(*rows, **more)
    assert isinstance(answer, Finding)
    return answer


def on_host(*kept: KeptTensors) -> DeviceKept:
    return DeviceKept("cpu", GIB, 2 * GIB, None, kept)


def test_what_is_computed_from_it_holds_the_same_graph() -> None:
    """GIVEN two running means, the second of which is weighed after the first and has next to nothing of its own."""
    source = "level = 0.9 * level + err.median()\nspread = 0.9 * spread + (err - level).abs().median()\nloss = f(x)\n"
    level = KeptTensors("level", "global", 1, 4, 1, GIB, None, None, (1,), False, False)
    spread, loss = (replace(level, name=name, graph_bytes=8) for name in ("spread", "loss"))
    words = _others([level], on_host(level, spread, loss), Cell(source=source))
    assert words.startswith(" Do the same for `spread`:")


def test_variables_of_a_function_that_runs_within_are_not_to_be_detached() -> None:
    """What `forward` returns is needed by training, too."""
    first = KeptTensors("total", "frame", 1, 4, 1, GIB, None, None, (3,), True, True, function="validate")
    inner, beside = (replace(first, name=name, function=function) for name, function in (("h", "forward"), ("y", None)))
    assert _others([first, inner], on_host(first, inner), None) == ""
    assert _others([first, inner, beside], on_host(first, inner, beside), None).startswith(" Do the same for `y`:")
    assert "`torch.no_grad()`" in _change(first, "") and "`value.detach()`" in _change(first, "")


ROLLOUT = """
def rollout(z):
    path = [z]
    for _ in range(60):
        z = step(z)
        path.append(z)
    return torch.stack(path)

pred = rollout(start)
"""


@pytest.mark.parametrize("derived", ["", "dH = torch.autograd.grad(h, z)[0]"])
def test_a_state_that_goes_from_turn_to_turn_is_what_to_detach(derived: str) -> None:
    path = KeptTensors("path", "frame", 60, 4, 60, GIB, None, None, (6,), False, True, function="rollout")
    change = _change(path, ROLLOUT + derived)
    assert change.startswith("Detach `z` after line 5 gives it a value: `z = z.detach()`.")
    assert "also where `path` keeps detached copies" in change and "no_grad" not in change


def test_no_grad_is_no_way_where_derivatives_are_computed() -> None:
    derived = "dH = torch.autograd.grad(h, z)[0]\n"
    pred = KeptTensors("pred", "global", 1, 4, 1, GIB, None, None, (), False, False)
    assert "under `torch.no_grad()`" in _change(pred, ROLLOUT)
    assert _change(pred, ROLLOUT + derived).startswith("Detach `z` after line 5")
    assert "does not work around `autograd.grad`" in _change(pred, derived)
    many = KeptTensors("kept", "global", 9, 4, 9, GIB, None, None, (3,), False, True)
    assert "under `torch.no_grad()`" in _change(many, "") and "result.detach()" in _change(many, derived)
    assert "does not work" in _change(many, derived)


@pytest.mark.parametrize("row", [held("acts", bytes=4 * GIB, hook="keep", hooked="net"), held("acts", bytes=4 * GIB)])
def test_a_hook_that_stores_each_step_is_named_whether_it_is_still_there_or_only_in_the_text(row: HeldTensors) -> None:
    finding = found(row, source=HOOKED, steps=50)
    assert finding.title.replace("\xa0", " ") == "The forward hook `keep` keeps 4.00 GiB of activations in `acts`"
    assert finding.where.lines == (2,) and finding.severity is Severity.HIGH
    assert finding.evidence["hook"] == "keep" and "`remove()`" in finding.change
    assert ("of `net`" in finding.explanation) == (row.hooked is not None)


@pytest.mark.parametrize(
    ("held_bytes", "graph_bytes", "words"),
    [(4 * GIB, 0, "50 tensors"), (2 * GIB, 2 * GIB, "50 tensors"), (GIB, 3 * GIB, "40 graphs")],
)
def test_of_what_a_hook_stores_tensors_count_or_their_graphs_whichever_is_more(
    held_bytes: int, graph_bytes: int, words: str
) -> None:
    row = held("acts", bytes=held_bytes, graphs=40, graph_bytes=graph_bytes, hook="keep", hooked="net")
    assert f"`acts` ({words}, which the hook" in found(row, source=HOOKED, steps=50).explanation.replace("\xa0", " ")


def test_features_collected_by_a_hook_without_training_are_what_the_cell_is_for() -> None:
    assert check(held("acts", bytes=4 * GIB, hook="keep", hooked="net"), source=HOOKED) is None


def test_a_hook_that_stores_now_and_then_is_left_alone() -> None:
    assert check(held("acts", bytes=4 * GIB, hook="keep", hooked="net"), source=HOOKED, steps=56) is None


def test_what_only_a_hook_reaches() -> None:
    finding = found(held("keep", kind="hook", bytes=4 * GIB, hook="keep", hooked="net"), source="fit()", steps=50)
    assert finding.title.replace("\xa0", " ") == "The forward hook `keep` keeps 4.00 GiB of activations"
    assert "`output.detach()`" not in finding.change


def test_a_sum_of_losses_has_one_graph_of_them_all() -> None:
    finding = found(held("total", tensors=1, graphs=1, graph_bytes=4 * GIB), source=SUMMED)
    assert "graph of every value added to it" in finding.title and finding.where.lines == (3,)
    assert "iterations_until_full" not in finding.evidence


def test_one_large_graph_that_is_no_sum_is_left_alone() -> None:
    assert check(held("outputs", tensors=1, graphs=1, graph_bytes=4 * GIB)) is None


def test_graphs_of_a_device_whose_results_were_copied_to_the_host() -> None:
    rows = (
        held("outputs", device="cpu", bytes=1 << 20, graphs=50),
        held("outputs", tensors=0, graph_bytes=4 * GIB),
    )
    finding = found(*rows)
    assert "`outputs` (50 graphs)" in finding.explanation.replace("\xa0", " ")
    assert finding.evidence["iterations_until_full"] == 125


def test_what_no_line_of_the_notebook_fills_may_have_been_there_before() -> None:
    assert check(held("outputs", graphs=50, graph_bytes=4 * GIB), source="train()") is None


def test_what_was_held_before_the_cell_did_not_make_memory_grow() -> None:
    row = held("outputs", graphs=50, graph_bytes=4 * GIB)
    assert check(row, allocated_before_bytes=4 * GIB) is None


def test_a_replay_buffer_is_meant_to_grow() -> None:
    assert check(held("outputs", bytes=4 * GIB), steps=50) is None


def test_an_old_recording_does_not_say_what_graphs_keep() -> None:
    answer = check(held("outputs", graphs=50, graph_bytes=None))
    assert isinstance(answer, Abstention) and "graphs" in answer.needs


def test_where_no_growth_is_known_it_abstains() -> None:
    answer = check(held("outputs", device="cpu", graphs=50, graph_bytes=4 * GIB))
    assert isinstance(answer, Abstention) and "how much the memory of the process grew" in answer.needs


def test_where_the_memory_after_each_step_is_known_the_rule_that_reads_it_speaks() -> None:
    readings = StepMemory(
        device=0,
        step=tuple(range(1, 11)),
        time_ns=tuple(1000 * number for number in range(1, 11)),
        allocated_bytes=tuple(number * GIB // 2 for number in range(1, 11)),
        reserved_bytes=(6 * GIB,) * 10,
    )
    builder = run(
        held=(held("outputs", graphs=50, graph_bytes=4 * GIB),),
        allocators=(allocator(6, 6, allocated_after_bytes=5 * GIB),),
        cell=Cell(source=SOURCE),
        optimizers=(Optimizer(name="SGD", parameters=4, elements=9, steps=10),),
    )
    results = Results(builder.build())
    assert [each.rule for each in judge(results).findings] == [NAME]
    results = Results(builder.context(step_memory=(readings,)).build())
    assert [each.rule for each in judge(results).findings] == ["memory_grows_per_step"]


def test_every_name_that_keeps_a_graph_is_to_be_changed() -> None:
    """GIVEN two names in one graph: as long as one of them keeps it, nothing is given back."""
    source = f"{SUMMED}    speed = speed + criterion(net(y), x)\n"
    rows = tuple(held(name, tensors=1, graphs=1, graph_bytes=2 * GIB) for name in ("total", "speed"))
    change = found(*rows, source=source).change
    assert all(f"`{name}`" in change for name in ("total", "speed"))
    assert "as long as one name keeps a graph" in change
    assert "as long as" not in found(rows[0], source=SUMMED).change
