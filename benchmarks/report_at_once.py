"""How long after a profiled cell its verdict is on screen, and what profiling adds to short cells, in real kernels.

    python benchmarks/report_at_once.py [--operators 100000] [--kernels 3] [--later 3] [--rounds 3] [--unattended]

A client of a Jupyter kernel sends cells and notes when each message arrives. The cell's last line takes the time: from
there to the first output that holds the verdict, to the last output, and to the kernel being idle. `attended` is a
kernel with somebody in front of it (widgets, and an answer to `input()`), `--unattended` one as nbconvert has it.
Short cells run plain and profiled in turn, the order alternating; what counts is the time from sending a cell to idle.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SETUP = """
import time, torch
from torch.utils.data import DataLoader, TensorDataset
%load_ext gpuprof
torch.set_num_threads(1)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(),
    torch.nn.Conv2d(16, 16, 3, padding=1), torch.nn.ReLU(),
    torch.nn.Flatten(), torch.nn.Linear(16 * 64, 10),
)
optimizer = torch.optim.AdamW(net.parameters())
def data(steps):
    return TensorDataset(torch.randn(16 * steps, 1, 8, 8), torch.randint(0, 10, (16 * steps,)))
for x, y in DataLoader(data(20), batch_size=16):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
CELL = """
for x, y in DataLoader(data({steps}), batch_size=16):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
ENDED = time.time()
"""
FACTS = """
import gpuprof
_run = gpuprof.last()
FACTS = (len(_run.trace.operators), sum(map(len, _run.trace.tables.values())), _run.trace.context.cost.stop_ns)
"""
OPERATORS_PER_STEP = 420  # of the cell above with torch 2.13; only to choose the number of steps
SHORT_S = (1.0, 2.0, 3.0)


@dataclass
class Ran:
    """One cell: when it was sent and when the kernel was idle again, and each output with its time of arrival."""

    sent: float
    idle: float = 0.0
    ended: float = 0.0
    outputs: list[tuple[float, dict[str, Any]]] = field(default_factory=list)

    @property
    def whole_s(self) -> float:
        return self.idle - self.sent

    @property
    def verdict_s(self) -> float:
        """From the cell's last line to the first output with the report's text."""
        return next(at for at, data in self.outputs if _is_report(data)) - self.ended

    @property
    def idle_s(self) -> float:
        return self.idle - self.ended


def _is_report(data: dict[str, Any]) -> bool:
    return "Where the time went" in data.get("text/plain", "")


class Kernel:
    """A kernel and its client; `attended`: somebody could answer `input()`, so that there are widgets."""

    def __init__(self, *, attended: bool) -> None:
        from jupyter_client.manager import start_new_kernel

        self._attended = attended
        self._manager, self._client = start_new_kernel(kernel_name="python3")
        self.run(SETUP)

    def run(self, code: str) -> Ran:
        """Run a cell and wait until the kernel is idle."""
        ran = Ran(time.time())
        asked = {"it": "globals().get('ENDED', 0.0)"}
        message = self._client.execute(code, allow_stdin=self._attended, user_expressions=asked)
        while True:
            try:
                got = self._client.get_iopub_msg(timeout=300)
            except queue.Empty:
                raise SystemExit("the kernel has been silent for 300 s") from None
            at, kind, content = time.time(), got["msg_type"], got["content"]
            if got["parent_header"].get("msg_id") != message:
                continue
            if kind == "error":
                raise SystemExit("\n".join(content["traceback"]))
            if kind in ("display_data", "update_display_data"):
                ran.outputs.append((at, content["data"]))
            if kind == "status" and content["execution_state"] == "idle":
                ran.idle = at
                break
        ran.ended = float(self._answer(message))
        return ran

    def _answer(self, message: str) -> str:
        """The value of the expression that was sent with that message."""
        while True:
            reply = self._client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message:
                return str(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])

    def facts(self) -> tuple[int, int, int]:
        """Operators, all events, and ns to stop and save, of the last run."""
        self.run(FACTS)
        text = self._answer(self._client.execute("", user_expressions={"it": "FACTS"}, silent=True))
        operators, events, stop_ns = (int(part) for part in text.strip("()").split(","))
        return operators, events, stop_ns

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@contextlib.contextmanager
def kernel(*, attended: bool) -> Iterator[Kernel]:
    """A fresh kernel in a folder of its own."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made = Kernel(attended=attended)
        try:
            yield made
        finally:
            made.close()
            os.chdir(before)


def large_cells(operators: int, later: int, *, attended: bool) -> None:
    """One kernel: its first report and later ones of a cell of so many operators."""
    steps = operators // OPERATORS_PER_STEP
    code = f"%%gpuprofile --steps {steps * 2}\n{CELL.format(steps=steps)}"
    with kernel(attended=attended) as made:
        for number in range(1 + later):
            ran = made.run(code)
            count, events, stop_ns = made.facts()
            print(
                f"{'first' if not number else 'later'}: {count:,} operators, {events:,} events; cell's end to verdict "
                f"{ran.verdict_s:.2f} s, to the last output {ran.outputs[-1][0] - ran.ended:.2f} s, "
                f"to idle {ran.idle_s:.2f} s; stop and save {stop_ns / 1000 / events:.2f} µs per event",
                flush=True,
            )


def short_cells(rounds: int, *, attended: bool) -> None:
    """Cells of 1 to 3 s: plain and profiled in turn, and the first profiled one of a kernel apart."""
    for wanted_s in SHORT_S:
        with kernel(attended=attended) as made:
            steps = int(100 * wanted_s / made.run(CELL.format(steps=100)).whole_s)
            plain, cells = CELL.format(steps=steps), {}
            cells = {False: plain, True: f"%%gpuprofile\n{plain}"}
            before = made.run(plain).whole_s
            first = made.run(cells[True]).whole_s
            print(f"plain {before:.2f} → first profiled {first:.2f} s: {first - before:.2f} s more", flush=True)
            extras, plains = [], []
            for number in range(rounds):
                took = {which: made.run(cells[which]).whole_s for which in ((False, True) if number % 2 else (True, False))}
                extras.append(took[True] - took[False])
                plains.append(took[False])
            print(
                f"plain {statistics.median(plains):.2f} s; profiled takes {statistics.median(extras):.2f} s more "
                f"(each: {', '.join(f'{extra:.2f}' for extra in extras)})",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--operators", type=int, default=100_000)
    parser.add_argument("--kernels", type=int, default=3)
    parser.add_argument("--later", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unattended", action="store_true")
    given = parser.parse_args()
    for _ in range(given.kernels):
        large_cells(given.operators, given.later, attended=not given.unattended)
    if given.rounds:
        short_cells(given.rounds, attended=not given.unattended)
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
