"""What is watched alongside a cell while hints are on."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gpuprof.capture.session.ambient import AmbientWatch
from gpuprof.capture.stacks.stacks import StackWatch
from gpuprof.ingest.load import load_captured
from gpuprof.model.context import Cell


def watch(begin_s: float) -> AmbientWatch:
    made = AmbientWatch(Cell(source="", filename=__file__), None, begin_s=begin_s)
    made.start()
    return made


def busy_until_sampled(made: AmbientWatch, seconds: float = 1.5) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(10_000))


def ours() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "gpuprof-hints"]


def test_the_stack_is_seen_from_the_first_second_on() -> None:
    made = watch(0.05)
    busy_until_sampled(made)
    captured = made.stop()
    assert captured is not None and captured.folder is None and captured.kineto is None
    trace = load_captured(captured)
    functions = trace.context.stacks.functions if trace.context.stacks else ()
    assert any("busy_until_sampled" in each for each in functions)
    assert made.stop() is None


WITHOUT_TORCH = """
import sys, threading, time
from gpuprof.analyses.basics.result import Results
from gpuprof.capture.session.ambient import AmbientWatch
from gpuprof.ingest.load import load_captured
from gpuprof.model.context import Cell
from gpuprof.report.hint import hint

watch = AmbientWatch(Cell(source="", filename=__file__), None, begin_s=0.05)
watch.start()
until = time.monotonic() + 1.0
while time.monotonic() < until:
    sum(range(10_000))
trace = load_captured(watch.stop())
hint(trace, Results(trace))
print("torch" in sys.modules, trace.stack_samples["start_ns"][0] - watch._start_ns < 600_000_000)
"""


def test_a_cell_without_torch_stays_without_and_is_seen_soon(tmp_path: Path) -> None:
    """GIVEN a fresh process whose main thread computes in Python, so that others wait for the GIL."""
    script = tmp_path / "cell.py"
    script.write_text(WITHOUT_TORCH)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_a_short_cell_starts_no_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    monkeypatch.setattr(StackWatch, "start", lambda self: started.append(True))
    made = watch(30.0)
    assert made.stop() is None and not started


def test_nothing_stays_behind() -> None:
    made = watch(0.01)
    time.sleep(0.3)
    made.abandon()
    until = time.monotonic() + 10
    while ours() and time.monotonic() < until:
        time.sleep(0.01)
    assert not ours()


def test_where_no_thread_can_be_had_the_cell_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert watch(0.01).stop() is None
