"""What a real notebook holds at the end of a profiled cell."""

from __future__ import annotations

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

# as the rule tensors_held_by_notebook advises
CURES = {"left": "%xdel left", "output": "%xdel _{}", "big": "1/0"}

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


def test_the_advice_frees_what_it_names(kernel: LiveKernel) -> None:
    """`del` and `%reset out` leave references of IPython's own."""
    kernel.run("import gc, torch, weakref\nalive = {}\nleft = torch.ones(4)\nalive['left'] = weakref.ref(left)")
    kernel.run("left")
    kernel.run("torch.ones(5)")
    kernel.run("alive['output'] = weakref.ref(_)")
    kernel.run("def bad():\n    big = torch.ones(4)\n    alive['big'] = weakref.ref(big)\n    raise ValueError\nbad()")
    number = kernel.value("max(Out)")
    for name, cure in CURES.items():
        assert kernel.value(f"alive[{name!r}]() is None") == "False"
        kernel.run(cure.format(number))
        assert kernel.value(f"(gc.collect(), alive[{name!r}]() is None)[1]") == "True"
