"""A cell that is looked at closely, in a real kernel."""

from __future__ import annotations

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

TRAIN = """
torch.manual_seed(7)
net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Dropout(0.3), torch.nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters())
for step in range(60):
    optimizer.zero_grad()
    net(torch.randn(8, 16)).square().mean().backward()
    optimizer.step()
state = [float(each.double().sum()) for each in net.parameters()] + [int(torch.get_rng_state().sum())]
"""
STACK = "torch._C._len_torch_dispatch_stack()"


def test_the_cell_computes_what_it_computes_without(kernel: LiveKernel) -> None:
    kernel.run("import torch\n" + TRAIN)
    plain = kernel.value("state")
    ran = kernel.run(f"%%gpuprofile --close-look --steps 5 --skip 1 --quiet\n{TRAIN}")
    assert not ran.failed
    assert kernel.value("state") == plain
    assert kernel.value(STACK) == "0"
    assert kernel.value("gpuprof.last().trace.context.look.ended_by") == "'iterations'"
    # the lines of the cell: forward, backward, optimizer
    places = "{each.line for each in gpuprof.last().trace.context.look.places if not each.file}"
    assert kernel.value(f"{places} >= {{7, 8, 9}}") == "True"


def test_a_cell_that_raises_while_it_is_looked_at_leaves_nothing_behind(kernel: LiveKernel) -> None:
    kernel.run("import torch")
    raising = TRAIN.replace("    optimizer.step()\n", f"    optimizer.step()\n    assert not {STACK}, 'looked at'\n")
    ran = kernel.run(f"%%gpuprofile --close-look --steps 5 --skip 1 --quiet\n{raising}")
    assert ran.failed and "looked at" in ran.traceback
    assert kernel.value(STACK) == "0"


def test_a_cell_without_steps_that_works_evenly_is_looked_at_too(kernel: LiveKernel) -> None:
    # GIVEN inference in a loop, for longer than its recording needs
    ran = kernel.run(
        "%%gpuprofile --quiet\n"
        "import time\n"
        "end = time.monotonic() + 12\n"
        "w, rows = torch.randn(300, 300), torch.randn(64, 300)\n"
        "while time.monotonic() < end:\n"
        "    inverse = torch.linalg.inv(w @ w.T + torch.eye(300))\n"
        "    out = (rows @ inverse).relu().sum()\n"
    )
    assert not ran.failed
    window = "gpuprof.last().trace.context.window"
    assert kernel.value(f"{window}.ended_by") == "'even work'"
    assert kernel.value(f"({window}.end_ns - {window}.start_ns) / 1e9 < 10") == "True"
    assert kernel.value("gpuprof.last().trace.context.look.skipped") == "None"
    assert kernel.value("len(gpuprof.last().trace.tables['looked_operators']) > 50") == "True"


def test_work_that_follows_what_was_recorded_is_recorded_instead(kernel: LiveKernel) -> None:
    kernel.run("import torch")
    # GIVEN a loop that prepares, for longer than is recorded, and then another one, without steps
    ran = kernel.run(
        "%%gpuprofile --quiet\n"
        "import time\n"
        "end = time.monotonic() + 8\n"
        "texts = []\n"
        "while time.monotonic() < end:\n"
        "    texts = [*texts[-3_000:], str(len(texts)) * 9]\n"
        "    texts.sort()\n"
        "x = torch.randn(200, 200)\n"
        "end = time.monotonic() + 12\n"
        "while time.monotonic() < end:\n"
        "    x = torch.linalg.qr(x)[0]\n"
        "    y = (x @ x).relu()\n"
    )
    assert not ran.failed
    window = "gpuprof.last().trace.context.window"
    assert kernel.value(f"{window}.started_late") == "True"
    assert kernel.value("len(gpuprof.last().trace.operators) > 100") == "True"
    assert kernel.value("len(gpuprof.last().trace.looked_operators) > 10") == "True"
