"""The same cells on a CUDA device, where copies, waits and precision are what the changes are about."""

from __future__ import annotations

import pytest

from tests.code_edits.executed import TRAINING, run
from tests.code_edits.models.test_modules import DROPPING
from tests.code_edits.test_every_edit import EDITS

pytestmark = pytest.mark.gpu

torch = pytest.importorskip("torch")
LOOSE = {"add_autocast": 0.05, "set_matmul_precision": 0.01}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("name", [name for name, (cell, _) in EDITS.items() if cell.endswith((TRAINING, DROPPING))])
def test_training_gives_the_same(name: str) -> None:
    cell, edit = EDITS[name]
    changed = edit(cell)
    assert changed is not None
    precision = torch.get_float32_matmul_precision()
    try:
        before, after = (run(each, device="cuda") for each in (cell, changed))
    finally:
        torch.set_float32_matmul_precision(precision)
    assert after["losses"] == pytest.approx(before["losses"], rel=LOOSE.get(name, 1e-3))
    assert next(after["model"].parameters()).device.type == "cuda"
