"""What the status bar costs the cell: the same training steps with and without it, in turns, in a real kernel.

    python benchmarks/status_bar.py [rounds]

Times are of the processor, all threads of the kernel (the status bar's, and the one that sends its messages), so that
other work on the machine disturbs them little.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.captured import Live
from gpuprof.capture.session.session import Session
from gpuprof.magics.live import LiveOutput
from gpuprof.model.context import Cell

ROUND_S = 4.0


def measure(rounds: int) -> None:
    session = Session(CaptureOptions(steps=1, skip=0))
    session.start()
    ratios, shares = [], []
    try:
        _steps(session, live=False)  # the recording window and torch's first use are over
        for number in range(rounds):
            order = (False, True) if number % 2 else (True, False)
            figures = {live: _steps(session, live=live) for live in order}
            ratios.append(figures[True].processor_s_a_step / figures[False].processor_s_a_step)
            shares.append(figures[True].thread_share)
    finally:
        session.stop()
    print(f"{rounds} rounds of {ROUND_S:g} s each way, torch {torch.__version__}, {torch.get_num_threads()} threads")
    print(
        f"processor time per step, with the status bar ÷ without: median {statistics.median(ratios):.4f}, "
        f"all {_list(ratios)}"
    )
    print(f"processor time of the status bar's thread, share of the cell: median {statistics.median(shares):.4%}")


def _steps(session: Session, *, live: bool) -> Any:
    model, batch = torch.nn.Linear(256, 256), torch.randn(64, 256)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    output = LiveOutput(Cell(source="benchmark"))
    if live:
        output.follow(session)
    began, processor_began, done = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - began < ROUND_S:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        done += 1
    passed, processor = time.perf_counter() - began, time.process_time() - processor_began
    output.end()
    assert isinstance(session.live(), Live)
    return SimpleNamespace(processor_s_a_step=processor / done, thread_share=output.cost_ns / 1e9 / passed)


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def main(rounds: int) -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r}); import status_bar; status_bar.measure({rounds})"
    try:
        client.execute_interactive(code, timeout=600, store_history=False)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
