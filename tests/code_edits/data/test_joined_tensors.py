from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.data.joined_tensors import join_after_loop
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

GROWN = """\
import torch
scores, kinds = torch.empty(0, 4), torch.tensor([], dtype=torch.long)
model = nn.Linear(8, 4)
with torch.no_grad():
    for x, y in DataLoader(data, batch_size=16):
        out = model(x).softmax(dim=1)
        scores = torch.cat([scores, out])  # all of them
        kinds = torch.cat((kinds, y), dim=0)  # theirs
right = (scores.argmax(1) == kinds).sum()
"""
LINES = (line_of(GROWN, "# all of them"), line_of(GROWN, "# theirs"))


def test_tensors_are_joined_once_after_the_loop() -> None:
    after = join_after_loop(GROWN, LINES)
    assert after is not None
    assert "scores, kinds = [torch.empty(0, 4)], [torch.tensor([], dtype=torch.long)]\n" in after
    assert "        scores.append(out)  # all of them\n        kinds.append(y)  # theirs\n" in after
    assert "    scores = torch.cat(scores)\n    kinds = torch.cat(kinds, dim=0)\nright" in after
    assert_rest_is_kept(GROWN, after)
    before, changed = run(GROWN), run(after)
    for name in ("scores", "kinds", "right"):
        assert torch.equal(before[name], changed[name]) and before[name].dtype == changed[name].dtype


def test_a_loop_without_turns_leaves_what_it_began_with() -> None:
    cell = GROWN.replace("data, batch_size=16", "[], batch_size=16")
    after = join_after_loop(cell, LINES)
    assert after is not None
    assert run(after)["scores"].shape == (0, 4)


CELL = "import torch\nv = {begin}\n{between}for x in rows:\n    y = model(x)\n    {line}\nprint(v)\n"


def joined(line: str, begin: str = "torch.empty(0)", between: str = "") -> str | None:
    cell = CELL.format(line=line, begin=begin, between=between)
    return join_after_loop(cell, (line_of(cell, line.splitlines()[0]),))


@pytest.mark.parametrize(
    ("line", "append", "after"),
    [
        ("v = torch.cat([v, y])", "v.append(y)", "v = torch.cat(v)"),
        ("v = torch.cat((v, y.detach().cpu()), 1)", "v.append(y.detach().cpu())", "v = torch.cat(v, 1)"),
        ("v = torch.cat([v, model(x)], dim=-1)", "v.append(model(x))", "v = torch.cat(v, dim=-1)"),
        ("v = torch.vstack((v, y * 2))", "v.append(y * 2)", "v = torch.vstack(v)"),
        ("v = torch.concatenate([v, x], axis=0)", "v.append(x)", "v = torch.concatenate(v, axis=0)"),
        ("if len(y): v = torch.cat([v, y])", "if len(y): v.append(y)", "v = torch.cat(v)"),
    ],
)
def test_pieces_are_collected(line: str, append: str, after: str) -> None:
    changed = joined(line)
    assert changed is not None
    assert "v = [torch.empty(0)]\n" in changed
    assert f"    {append}\n{after}\nprint(v)\n" in changed


@pytest.mark.parametrize(
    "line",
    [
        "v = torch.cat([y, v])",
        "v = torch.cat([v, y, y])",
        "v = torch.cat([v, y], out=w)",
        "v = torch.cat([v, y], dim=n)",
        "v = np.concatenate([v, y])",
        "v = torch.cat([v, y[:, 0]])",
        "v = torch.cat([v, y.select(1, 0)])",
        "v = torch.cat([v, torch.from_numpy(z)])",
        "v = torch.cat([v, buffer])",
        "v = torch.cat([v, y]); y.zero_()",
        "v = torch.cat([v, y]); y += 1",
        "v = torch.cat([v, y]); y[0] = 1",
        "v = torch.cat([v, y]); F.relu(y, inplace=True)",
        "v = torch.cat([v, y]); torch.mul(x, 2, out=y)",
        "v = torch.cat([v, y]); print(len(v))",
        "v = torch.cat([v, f(v)])",
        "w.v = torch.cat([w.v, y])",
        "v = torch.cat([v, y])\n    if x.sum() > 1: v = torch.empty(0)",
    ],
)
def test_where_the_list_might_hold_something_else_nothing_is_changed(line: str) -> None:
    assert joined(line) is None


@pytest.mark.parametrize(
    ("begin", "between"),
    [
        ("None", ""),
        ("first", ""),
        ("make()", ""),
        ("torch.empty(0)", "print(v.shape)\n"),
        ("torch.empty(0)", "w = v\n"),
        ("torch.empty(0)", "def f():\n    return v\n"),
    ],
)
def test_it_must_begin_as_a_tensor_that_nothing_else_knows(begin: str, between: str) -> None:
    assert joined("v = torch.cat([v, y])", begin, between) is None


def test_a_name_made_before_the_loop_may_be_filled_anew_in_each_turn() -> None:
    assert joined("v = torch.cat([v, b])", between="b = torch.zeros(3)\n") is None


def test_every_line_or_none() -> None:
    assert join_after_loop(GROWN, (*LINES, 3)) is None
    assert join_after_loop(GROWN, ()) is None
