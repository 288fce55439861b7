"""A backward pass on a thread of its own, as a GPU's runs: nothing of Python's calls the operators there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils import backend_registration

_ROOT = Path(__file__).resolve().parents[4]
_SCRIPT = """
import json, os, threading, torch
from gpuprof.capture.look.close_look import CloseLook
from tests.capture.look.device import own_device

own_device.enter()
x, given = own_device.tensor(torch.full((3,), 2.0)), own_device.tensor(torch.ones(3))
x.requires_grad_(True)
threads = set()
x.register_hook(lambda gradient: threads.add(threading.get_ident()))
look = CloseLook(__file__, iterations=2, most_seconds=30)
with look:
    for _ in range(2):
        y = (x * x) * x
        y.backward(given)
        look.iteration_ended()
(operators, *_), facts = look.result()
names = [facts.names[each] for each in operators["name"].tolist()]
print(json.dumps({
    "failure": repr(look.failure), "ended_by": look.ended_by, "names": names, "gradient": x.grad.content.tolist(),
    "backward": operators["backward"].tolist(), "forward": operators["forward_operator"].tolist(),
    "lines": [facts.places[each].line for each in operators["place"].tolist()],
    "here": threading.get_ident() in threads,
}), flush=True)
os._exit(0)  # the device's thread does not end by itself
"""


@pytest.mark.skipif(
    not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"), reason="needs torch 2.8"
)
def test_operators_of_a_backward_pass_on_its_own_thread_are_looked_at(tmp_path: Path) -> None:
    script = tmp_path / "cell.py"
    script.write_text(_SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=_ROOT, env={"PYTHONPATH": str(_ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    # d(x³) = 3x², twice
    assert seen["here"] is False and seen["gradient"] == [24.0] * 3
    assert (seen["failure"], seen["ended_by"]) == ("None", "iterations")
    products = [row for row, name in enumerate(seen["names"]) if name.startswith("aten::mul")]
    forward = [row for row in products if not seen["backward"][row]]
    behind = [row for row in products if seen["backward"][row]]
    assert len(forward) == 4 and len(behind) == 8
    # each knows whose backward pass it is, and the line that called `backward`
    assert {seen["forward"][row] for row in behind} == set(forward)
    assert {seen["lines"][row] for row in behind} == {15} and {seen["lines"][row] for row in forward} == {14}


def test_torch_is_recent_enough_here() -> None:
    """The test above must not be skipped where the project's own torch runs it."""
    recent = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 8)
    assert recent is hasattr(backend_registration, "_setup_privateuseone_for_python_backend")
