"""`%gputry` of work that a loop repeats, in a real kernel: the diff moves it before the loop, and both are measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel import ANY_LOAD, live_kernel

pytestmark = pytest.mark.kernel

SET_UP = """
import gpuprof
import torch
%load_ext gpuprof
torch.manual_seed(0)
"""
CELL = """\
%%gpuprofile --close-look --steps 5 --skip 1 --display text
K = torch.rand(160, 160) + 160 * torch.eye(160)
model = torch.nn.Linear(160, 160)
opt = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(60):
    x = torch.randn(32, 160)
    loss = (model(x) - x @ torch.linalg.inv(K)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NUMBER = "[f.rule for f in gpuprof.last().findings].index('repeated_work') + 1"
AFTER = "fixed_inv = torch.linalg.inv(K)\nfor step in range(60):\n"


def test_the_change_of_repeated_work_is_offered_and_measured(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(SET_UP + ANY_LOAD).failed
        ran = kernel.run(CELL)
        assert not ran.failed, ran.traceback
        number = kernel.value(NUMBER)
        ran = kernel.run(f"%gputry {number} --budget 6 --pairs 2")
        assert not ran.failed and not ran.errors, ran.traceback
        assert f"measuring the change of finding {number} (repeated_work)" in ran.stream("stdout")
        (shown,) = ran.displays
        assert "predicted " in shown["text/plain"] and "loss" in shown["text/plain"]
        fixed = kernel.run(f"%gpufix {number}")
        assert not fixed.failed and fixed.next_input is not None, fixed.traceback
        assert AFTER in fixed.next_input and "x @ fixed_inv)" in fixed.next_input
