"""The stacks of a whole cell: before, in and after the recorded part, and in evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.cell_time import CellTime
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_captured, load_trace

CELL = "ipykernel_1/100.py"
SOURCE = """\
import time, torch
def long(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sorted(range(20000))
model = torch.nn.Linear(600, 600)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
x = torch.ones(400, 600)
for _ in range(60):
    y = model(x)
    z = torch.matmul(y, y.T)
    loss = z.sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():
    long(1.5)
"""


def test_the_whole_cell_is_seen(new_session: Callable[..., Session], tmp_path: Path) -> None:
    session = new_session(cell=CELL, steps=10)
    session.start()
    exec(compile(SOURCE, CELL, "exec"), {})
    captured = session.stop()
    trace = load_trace(captured.folder)
    stacks = trace.context.stacks
    assert stacks is not None and stacks.files[0].filename == CELL

    again = load_captured(captured)
    for name in ("stack_nodes", "stack_samples", "stack_instants"):
        assert trace.tables[name].to_dict() == again.tables[name].to_dict()

    results = Results(trace)
    found = results.get(CellTime).table
    share = {int(line): float(each) for line, each in zip(found["line"], found["share"], strict=True)}
    window = trace.context.window
    assert window is not None and window.end_ns < window.cell_end_ns
    after = 1.5e9 / (window.cell_end_ns - window.cell_start_ns)
    chance = float(np.hypot.reduce(found["error"][np.isin(found["line"], [4, 5])]))
    assert abs(share.get(5, 0.0) + share.get(4, 0.0) - after) < 0.05 + 4 * chance
    assert 0.8 < sum(share.values()) < 1.001

    if trace.context.lines is not None and trace.context.lines.how == "samples":
        places = results.get(LinePlaces)
        operators = trace.operators.take(trace.name_mask(trace.operators, "aten::matmul"))
        outer = operators.take(operators["parent"] < 0)
        at = places.at(outer["thread"], outer["start_ns"])
        assert set(places.events["line"][at[at >= 0]]) <= {10, 11, 13}
