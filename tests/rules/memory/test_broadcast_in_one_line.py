"""A broadcast that is made and reduced in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.transient_memory import TransientMemory
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.memory.broadcast_then_reduced import _change
from gpuprof.rules.registry import rule
from tests.rules.cases.memory.broadcast_then_reduced import SOURCE, fires, processed


def test_one_line_is_named_once() -> None:
    found = Results(fires()).get(TransientMemory).found
    assert found is not None
    assert "in place of lines 2 to 3; or" in _change(found)
    assert "in place of line 2; or" in _change(replace(found, broadcast=replace(found.broadcast, reduced=2)))


def change(made: str, reduced: str) -> tuple[str, str]:
    """Explanation and change of the case with these two lines instead of its own."""
    first, second = SOURCE.splitlines()[1:3]
    source = SOURCE.replace(first, f"    diff = {made}").replace(second, f"    return {reduced}")
    found = rule("broadcast_then_reduced").check(Results(processed(source=source).build()))
    assert isinstance(found, Finding)
    return found.explanation, found.change


@pytest.mark.parametrize(
    ("made", "reduced", "advice"),
    [
        ("a[:, None, :] - b[None]", "diff.abs().sum(dim=-1)", "Use `torch.cdist(a, b, p=1)`, which makes"),
        ("a[:, None] - b[None]", "(diff**2).sum(dim=-1)", "Where both have rows and features, use `torch.cdist(a, b)`"),
        ("a[:, None, :] - b[None]", "np.sqrt((diff**2).sum(-1))", "Use `scipy.spatial.distance.cdist(a, b)`, which"),
        ("a[:, None, :] - b[None]", "np.abs(diff).sum(-1)", 'Use `scipy.spatial.distance.cdist(a, b, "cityblock")`'),
        ("a[:, None, :] - b[None]", "(diff**2).sum(-1)", "`torch.cdist(a, b)` (NumPy: `scipy.spatial.distance.cdist"),
        ("a[:, None] * b[None]", "torch.sum(diff, -1)", "Use a matrix product or `torch.einsum`, which makes only"),
        ("a[:, None] * b[None]", "np.sum(diff, -1)", "Use a matrix product or `np.einsum`, which makes only"),
    ],
)
def test_the_call_that_gives_the_same(made: str, reduced: str, advice: str) -> None:
    explanation, found = change(made, reduced)
    assert advice in found and "or compute it for part of the rows at a time" in found
    rows = "Line 2 computes every pair at full length, and line 3 reduces each pair to one"
    assert explanation.startswith(rows) is ("None, :]" in made)


@pytest.mark.parametrize(
    ("made", "reduced"),
    [
        ("x[:, None] - y[None]", "torch.exp(-0.5 * diff**2).sum(1)"),
        ("score[:, :, None] + trans[None]", "diff.max(1)"),
        ("x[:, None, :] - x[None]", "(diff / diff.pow(2).sum(-1)[..., None]).sum(1)"),
    ],
    ids=["kernel of single numbers", "best path", "forces"],
)
def test_where_no_call_gives_the_same_part_of_the_rows_at_a_time(made: str, reduced: str) -> None:
    explanation, found = change(made, reduced)
    assert found.startswith("Compute lines 2 to 3 for part of the rows at a time, and join what is left of each part.")
    assert explanation.startswith("Line 2 broadcasts to a large result, and line 3 reduces it.")
