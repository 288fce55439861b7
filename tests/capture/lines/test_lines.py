from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuprof.capture.session.session import Session
from gpuprof.ingest.load import load_captured, load_trace

CELL = "ipykernel_1/100.py"
SOURCE = """\
import torch
x = torch.ones(8, requires_grad=True)
for _ in range(4):
    y = (x * 2).sum()
    y.backward()
    y.item()
"""


def run(session: Session) -> Any:
    session.start()
    exec(compile(SOURCE, CELL, "exec"), {})
    return session.stop()


def test_lines_are_recorded_saved_and_read_back(new_session: Callable[..., Session]) -> None:
    captured = run(new_session(cell=CELL))

    trace = load_trace(captured.folder)
    followed = trace.context.lines
    if sys.version_info < (3, 12):
        assert followed is None or followed.how == "samples"
        assert not trace.line_events
        return
    assert {5, 6} <= set(trace.line_events["line"])
    assert followed is not None and followed.files[0].filename == CELL
    assert followed.how == "monitoring"
    assert followed.cost_share is not None and 0 <= followed.cost_share < 1
    assert set(trace.line_events["tid"]) == {trace.threads["tid"][trace.main_thread]}
    assert (load_captured(captured).line_events["time_ns"] == trace.line_events["time_ns"]).all()


def test_without_lines_nothing_is_followed(new_session: Callable[..., Session]) -> None:
    captured = run(new_session(cell=CELL, no_lines=True))

    assert captured.context.lines is None
    assert len(load_trace(captured.folder).line_events) == 0
    assert captured.context.stacks is None
    assert not list(captured.folder.glob("*.npz"))


def test_compiled_functions_are_compiled_as_they_would_be(tmp_path: Path) -> None:
    """Code of ours that runs inside compiled functions adds no graph and no break."""
    script = tmp_path / "compiled.py"
    script.write_text(
        textwrap.dedent("""\
        import sys, torch
        from pathlib import Path
        from gpuprof.capture.base.options import CaptureOptions
        from gpuprof.capture.session.session import Session
        from gpuprof.model.context import Cell
        cell = '''
        def f(x):
            return x.to(torch.float64).sum().item() + 1
        g = torch.compile(f, backend="eager")
        for _ in range(3):
            g(torch.ones(4))
        def h(x, at):
            return [1.0, 2.0][at] * x[at:]
        torch.compile(h, backend="eager")(torch.ones(4), torch.tensor(1))
        '''
        name = "ipykernel_1/100.py"
        options = CaptureOptions(folder=Path(sys.argv[1]), no_nvml=True, no_lines=sys.argv[2] == "off")
        session = Session(options, cell=Cell(source=cell, filename=name))
        session.start()
        exec(compile(cell, name, "exec"), {"torch": torch})
        compiling = session.stop().context.compiling
        print(compiling.graphs, [(each.reason[:30], each.times) for each in compiling.breaks], compiling.resumed)
    """)
    )

    def outcome(lines: str) -> str:
        command = [sys.executable, str(script), str(tmp_path / lines), lines]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    assert outcome("on") == outcome("off")
