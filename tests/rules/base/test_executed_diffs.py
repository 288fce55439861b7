"""Every rule that can give a diff gives one that runs, and that keeps what the cell computes."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.code_edits.syntax.diff import as_typed, changed
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import all_rules, rule
from tests.code_edits.executed import assert_rest_is_kept, run
from tests.rules.cases import case_of
from tests.rules.cell.executed_cells import EXECUTED, ExecutedCell
from tests.rules.test_lines import with_lines

# its case and its diff come with the rule
UNDER_WAY = {"workers_oversubscribed"}


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What cells switch is switched back; without a device nobody waits for it."""
    precision, anomaly = torch.get_float32_matmul_precision(), torch.is_anomaly_enabled()
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", torch.backends.cudnn.benchmark)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    yield
    torch.set_float32_matmul_precision(precision)
    torch.autograd.set_detect_anomaly(anomaly)
    torch.set_flush_denormal(False)


def found_in(name: str, executed: ExecutedCell) -> Finding:
    trace = getattr(case_of(name), executed.case)()
    if executed.lines:
        trace = with_lines(trace, (0, executed.lines))
    context = {**executed.context, "cell": Cell(source=executed.cell)}
    if name == "workers_restarted":
        context["loaders"] = tuple(msgspec.structs.replace(each, line=4) for each in trace.context.loaders)
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, **context))
    if executed.devices:
        trace = dataclasses.replace(trace, devices=executed.devices)
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    return found


def test_every_rule_that_says_how_exact_its_diff_is_has_a_cell() -> None:
    assert {each.name for each in all_rules() if each.guard is not None} - UNDER_WAY == set(EXECUTED) - UNDER_WAY


@pytest.mark.parametrize("name", EXECUTED)
def test_the_changed_cell_runs_and_computes_the_same(name: str) -> None:
    executed = EXECUTED[name]
    diff = found_in(name, executed).diff
    assert diff is not None
    after = changed(as_typed(executed.cell), diff)
    assert after is not None
    after = after.replace("%%gpuprofile", "# %%gpuprofile")
    if name != "eager_attention":
        assert_rest_is_kept(executed.cell, after)
    for old, new in executed.instead:
        assert old in after or new == ""
        after = after.replace(old, new)
    # one after the other: a setting of the changed cell must not reach the other
    before = run(executed.cell)
    result = run(after)
    for value in executed.same:
        same(result[value], before[value], executed.within)


def same(after: Any, before: Any, within: float) -> None:
    assert type(after) is type(before)
    if isinstance(before, torch.Tensor):
        torch.testing.assert_close(after, before, rtol=within, atol=within)
    elif isinstance(before, list):
        assert len(after) == len(before)
        for left, right in zip(after, before, strict=True):
            same(left, right, within)
    else:
        assert after == (pytest.approx(before, rel=within) if within else before)
