"""What torch.compile makes of a program is the same with marks, before, while and after they are there."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

SCRIPT = """
    import json, sys
    import torch, torch._dynamo
    from torch._dynamo.testing import CompileCounterWithBackend
    from torch._dynamo.utils import counters
    from torch.utils.checkpoint import checkpoint
    from gpuprof.capture.modules.module_watch import ModuleWatch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
            self.b = torch.nn.Linear(2, 2)
        def forward(self, x):
            x = self.a(x)
            print(end="")  # a graph break
            return self.b(x)

    def module(net, backend):
        return torch.compile(net, backend=backend)
    def in_place(net, backend):
        net.compile(backend=backend)
        return net
    def function(net, backend):
        return torch.compile(lambda x: net(x).sum() + 1, backend=backend)
    def hooked(net, backend):
        net.a[0].register_forward_hook(lambda module, args, output: output * 2)
        net.a.register_forward_pre_hook(lambda module, args: None)
        return torch.compile(net, backend=backend)
    def part(net, backend):
        net.a = torch.compile(net.a, backend=backend)
        return net
    def backward(net, backend):
        @torch.compile(backend=backend)
        def step(x):
            loss = checkpoint(net, x, use_reentrant=False).sum()
            loss.backward()
            return loss
        return step

    def run(case, first, marked):
        torch._dynamo.reset()
        counters.clear()
        torch.manual_seed(0)
        backend = CompileCounterWithBackend("aot_eager")
        call, x = case(Net(), backend), torch.randn(3, 4)
        watch = ModuleWatch()
        watch.install()
        seen = []
        for phase in range(first, 3):  # before the marks, with them, after them
            if marked and phase == 1:
                watch.begin()
            if marked and phase == 2:
                watch.pause()
            results = [call(x).sum().item() for _ in range(2)]
            seen.append([backend.frame_count, sum(counters["graph_break"].values()), dict(counters["frames"]), results])
        found, table = watch.finish()
        assert not watch.notes, watch.notes
        return seen, len(table)

    told = {}
    for case in (module, in_place, function, hooked, part, backward):
        for first in (0, 1):
            plain, _ = run(case, first, False)
            marked, calls = run(case, first, True)
            told[f"{case.__name__} {first}"] = [plain, marked, calls]
    print(json.dumps(told))
"""


def test_nothing_is_compiled_that_would_not_be(tmp_path: Path) -> None:
    """No graph, break or recompilation more, and the same results, whether first compiled before the marks or with."""
    script = tmp_path / "compiled.py"
    script.write_text(textwrap.dedent(SCRIPT))
    ran = subprocess.run([sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    assert len(told) == 12
    for name, (plain, marked, calls) in told.items():
        assert plain == marked, name
        assert plain[-1][0] or "in_place" in name
        if name.startswith(("module", "part", "in_place")):
            assert calls  # the compiled module itself is called from outside
