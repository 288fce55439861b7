from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.evaluation import add_inference_mode
from tests.code_edits.executed import assert_rest_is_kept, line_of, run

CELL = """\
torch.manual_seed(1)
model = nn.Linear(8, 4)
model.eval()
correct, kept = 0, []
# all of them
for x, y in DataLoader(data, 16):  # here
    out = model(x.to(device))
    text = '''
  kept as it is
'''
    correct += (out.argmax(1) == y).sum().item()

print(correct / len(data))
"""


def test_a_loop_that_only_evaluates_runs_in_inference_mode() -> None:
    after = add_inference_mode(CELL, line_of(CELL, "# here"))
    assert after is not None
    assert "# all of them\nwith torch.inference_mode():\n    for x, y in DataLoader(data, 16):  # here\n" in after
    assert "'''\n  kept as it is\n'''" in after
    assert_rest_is_kept(CELL, after)
    before, changed = run(CELL), run(after)
    assert changed["correct"] == before["correct"]
    assert before["out"].requires_grad and changed["out"].is_inference()


def test_the_same_names_in_another_loop_are_others() -> None:
    cell = CELL + "for x, y in DataLoader(data, 16):\n    print(x)\ntext = 1\n"
    assert add_inference_mode(cell, line_of(cell, "# here")) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out = model", "F.mse_loss(out, y).backward()\n    out = model"),
        ("out = model", "train_step(x, y)\n    out = model"),
        ("    text", "    kept.append(out)\n    text"),
        ("    text", "    kept.append(out.detach() + out)\n    text"),
        ("    text", "    kept[0] = out\n    text"),
        ("correct / len(data)", "out"),
        ("for x", "with torch.no_grad():\n  for x"),
        ("model.eval()", "def model(x): return x"),
        ("    out", "    with torch.no_grad(): pass\n    out"),
    ],
)
def test_doubt_gives_no_change(old: str, new: str) -> None:
    cell = CELL.replace(old, new, 1)
    assert cell != CELL
    assert add_inference_mode(cell, line_of(cell, "# here")) is None


@pytest.mark.parametrize("kept", ["(out.argmax(1) == y).sum()", "out.argmax(1).eq(y).sum()"])
def test_counts_and_detached_losses_that_stay_on_the_device_are_made_without_a_graph(kept: str) -> None:
    cell = CELL.replace("(out.argmax(1) == y).sum().item()", kept)
    cell = cell.replace("    text", "    kept.append(F.cross_entropy(out, y).detach())\n    text")
    after = add_inference_mode(cell, line_of(cell, "# here"))
    assert after is not None and "with torch.no_grad():\n    for x, y" in after
    before, changed = run(cell), run(after)
    assert changed["correct"] == before["correct"] and changed["kept"] == before["kept"]
    assert not changed["out"].requires_grad and not changed["out"].is_inference()


def test_the_model_of_an_earlier_cell_by_its_known_name() -> None:
    cell = CELL.replace("model = nn.Linear(8, 4)\nmodel.eval()\n", "")
    line = line_of(cell, "# here")
    assert add_inference_mode(cell, line) is None
    assert add_inference_mode(cell, line, {"model"}) is not None


def test_a_decorated_function_has_the_mode_already() -> None:
    cell = "@torch.no_grad()\ndef f():\n    for x in loader:\n        model(x)\nmodel.eval()\ntorch.ones(1)\n"
    assert add_inference_mode(cell, 3) is None
    assert add_inference_mode(cell.split("\n", 1)[1], 2) is not None
