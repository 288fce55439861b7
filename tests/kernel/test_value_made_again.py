"""A value that each trial makes again, in a real kernel: NumPy alone, so that torch's operators show nothing of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gpuprof.rules.base.finding import Severity
from tests.support.kernel import LiveKernel, live_kernel

SET_UP = """
import gpuprof, json
import numpy as np
import torch
%load_ext gpuprof
raw = np.random.default_rng(0).standard_normal((400, 300))

def features(table, power):
    wide = np.tile(table + power, 3)
    return np.linalg.eigh(wide.T @ wide)[1][:, -20:] * power

def trial(rate, power):
    x = torch.from_numpy(features(raw, power))
    net = torch.nn.Linear(x.shape[1], 1).double()
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(200):
        loss = net(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()
"""
AGAIN = "print([trial(rate, 1.0) for rate in np.logspace(-3, -1, 20)])"
ANEW = "print([trial(1e-3, power) for power in np.linspace(1, 2, 20)])"


# as the rule itself says it: on a busy machine the report withholds findings about times
TELL = """
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
found = rule("value_made_again").check(Results(gpuprof.last().trace))
keys = ("severity", "explanation", "evidence")
print(json.dumps({key: getattr(found, key) for key in keys} if isinstance(found, Finding) else None))
"""


def finding(kernel: LiveKernel, cell: str) -> dict[str, Any] | None:
    assert not kernel.run("%%gpuprofile --display text\n" + cell).failed
    shown = kernel.run(TELL)
    assert not shown.failed, shown.traceback
    found: dict[str, Any] | None = json.loads(shown.stream("stdout"))
    return found


def test_one_that_is_the_same_each_time_is_named(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(SET_UP).failed
        again, anew = finding(kernel, AGAIN), finding(kernel, ANEW)
    assert again is not None and again["severity"] > Severity.LOW
    assert re.search(r"in `trial` \((mostly )?`features`\)", again["explanation"])
    assert again["evidence"]["contents"] == 1 and again["evidence"]["made"] >= 3
    assert anew is None
