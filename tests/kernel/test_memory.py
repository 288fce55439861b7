"""What a real notebook holds at the end of a profiled cell."""

from __future__ import annotations

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

TRAINING = """%%gpuprofile --display none
for i in range(40):
    loss = net(torch.randn(4, 600)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss)
"""


def test_globals_outputs_and_the_last_traceback_are_listed(kernel: LiveKernel) -> None:
    kernel.run("import torch\nnet = torch.nn.Linear(600, 600)\nopt = torch.optim.Adam(net.parameters())")
    kernel.run("left = torch.ones(1 << 20)\nlosses = []")
    kernel.run("torch.ones(1 << 19)")
    kernel.run("def bad():\n    big = torch.ones(1 << 20)\n    raise ValueError\nbad()")
    kernel.run(TRAINING)
    kernel.run("import gpuprof\ncontext = gpuprof.last().trace.context")
    held = kernel.value("{(h.name, h.kind, h.bytes, h.used) for h in context.held if not h.used}")
    assert "('left', 'global', 4194304, False)" in held
    assert "('big in bad()', 'traceback', 4194304, False)" in held
    assert held.count("'output', 2097152") == 1
    assert kernel.value("[h.graphs for h in context.held if h.name == 'losses']") == "[40]"
    assert kernel.value("[(c.parameter_bytes, c.gradient_bytes) for c in context.compositions]") == str(
        [(4 * 600 * 601, 4 * 600 * 601)]
    )
