from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.models.precision import add_autocast, set_matmul_precision
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, run

SETTING = 'torch.set_float32_matmul_precision("high")'


@pytest.fixture(autouse=True)
def precision():
    before = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize(
    ("cell", "after"),
    [
        (
            "# %%gpuprofile\nimport torch\nfrom torch import nn\n\n# model\nm = nn.Linear(2, 2)\n",
            f"# %%gpuprofile\nimport torch\nfrom torch import nn\n\n{SETTING}\n\n# model\nm = nn.Linear(2, 2)\n",
        ),
        ("# %%gpuprofile\nx = torch.ones(2)\n", f"# %%gpuprofile\n{SETTING}\nx = torch.ones(2)\n"),
        ("import torch.nn as nn\nx = nn.ReLU()\n", f"import torch.nn as nn\nimport torch\n{SETTING}\nx = nn.ReLU()\n"),
        ("x = data[0]\n", f"import torch\n{SETTING}\nx = data[0]\n"),
        ("x = 1\nimport torch\ntorch.ones(1)\n", f"import torch\n{SETTING}\nx = 1\nimport torch\ntorch.ones(1)\n"),
        ("torch.set_float32_matmul_precision('highest')  # why\n", f"{SETTING}  # why\n"),
    ],
)  # fmt: skip
def test_the_setting_comes_before_the_cells_own_statements(cell: str, after: str) -> None:
    assert set_matmul_precision(cell, "high") == after
    run(after)
    assert torch.get_float32_matmul_precision() == "high"


@pytest.mark.parametrize(
    "cell", ["torch = 1\n", "import jax as torch\nx = 1\n", "import torch\n", "torch.set_float32_matmul_precision(p)\n"]
)
def test_doubt_gives_no_setting(cell: str) -> None:
    assert set_matmul_precision(cell, "high") is None


def test_forward_and_loss_are_put_under_autocast() -> None:
    cell = "# why not\n" + TRAINING + "kind = out.dtype\n"
    after = add_autocast("import torch\n" + cell, "cpu", "bfloat16")
    assert after is not None
    assert (
        '    with torch.autocast("cpu", dtype=torch.bfloat16):\n'
        "        out = model(x)   # forward\n"
        "        loss = criterion(out, y)\n\n"
        "    opt.zero_grad(set_to_none=False)\n"
    ) in after
    assert_rest_is_kept("import torch\n" + cell, after)
    changed = run(after)
    assert changed["kind"] == torch.bfloat16
    assert changed["losses"] == pytest.approx(run(TRAINING)["losses"], rel=0.05)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out = model(x)", "with other():\n        out = model(x)"),
        ("loss.backward()", "scaler.scale(loss).backward()"),
        ("loss = criterion(out, y)", "loss = criterion(out, y)\n    loss = loss / 2"),
        ("out = model(x)", "out = net(x)"),
        ("print(", "print(out.detach().numpy(), "),
        ("criterion(out, y)", "F.binary_cross_entropy(out, y)"),
        ("out = model(x)", "with torch.autocast('cpu'):\n        out = model(x)"),
    ],
)
def test_doubt_gives_no_autocast(old: str, new: str) -> None:
    assert add_autocast(TRAINING.replace(old, new), "cpu", "bfloat16") is None


def test_half_precision_needs_a_scaler_too() -> None:
    assert add_autocast(TRAINING, "cuda", "float16") is None
