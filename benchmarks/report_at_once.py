"""How long after a profiled cell its verdict is on screen, and what profiling adds to short cells, in real kernels.

    python benchmarks/report_at_once.py [--operators 100000] [--kernels 3] [--later 3] [--rounds 3] [--pause 3]
                                        [--unattended]

A client of a Jupyter kernel sends cells and notes when each message arrives. The cell's last line takes the time: from
there to the first output that holds the verdict, to the last output, and to the kernel being idle. Each figure by the
clock has one of the processor beside it (all threads of the kernel, up to the moment it sends the output): other work
on the machine disturbs that little. A kernel has somebody in front of it (widgets, an answer to `input()`), or with
`--unattended` nobody, as under nbconvert. `--pause`: seconds between loading the extension and the first profiled
cell, as somebody takes who types; 0 is Run All.

Short cells run plain and profiled in turn, the order alternating; what counts is the time from sending a cell to idle.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import queue
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

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
def data(steps, batch):
    return TensorDataset(torch.randn(batch * steps, 1, 8, 8), torch.randint(0, 10, (batch * steps,)))
for x, y in DataLoader(data(20, 16), batch_size=16):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
_publisher = get_ipython().display_pub
def _timed(data, *args, _publish=_publisher.publish, **kwargs):
    if "Where the time went" in data.get("text/plain", ""):
        SENT.append((time.time(), time.process_time()))
    return _publish(data, *args, **kwargs)
_publisher.publish = _timed
SENT, ENDED, FACTS = [], (0.0, 0.0), ()
"""
CELL = """
for x, y in DataLoader(data({steps}, {batch}), batch_size={batch}):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
SENT, ENDED = [], (time.time(), time.process_time())
"""
FACTS = """
import gpuprof
_run = gpuprof.last()
FACTS = (len(_run.trace.operators), sum(map(len, _run.trace.tables.values())), _run.trace.context.cost.stop_ns)
"""
OPERATORS_PER_STEP = 420  # of the cell above with torch 2.13; only to choose the number of steps
SHORT_S = (1.0, 2.0, 3.0)
SMALL_BATCH, BATCH = 16, 128  # steps of 1.2 and of about 7 ms


@dataclass
class Ran:
    """One cell: clock times and processor seconds of the kernel.

    `verdict_s`, `last_s`, `idle_s`: after the cell's last line. `whole_s`: from sending the cell to idle."""

    whole_s: float
    whole_processor_s: float
    idle_s: float = 0.0
    verdict_s: float = 0.0
    last_s: float = 0.0
    processor_s: list[float] = field(default_factory=list)


class Kernel:
    """A kernel and its client; `attended`: somebody could answer `input()`, so that there are widgets."""

    def __init__(self, *, attended: bool) -> None:
        from jupyter_client.manager import start_new_kernel

        self._attended = attended
        # as installed packages have it: compiled once
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._manager, self._client = start_new_kernel(kernel_name="python3", env=environment)
        self.run(SETUP)
        self._process = psutil.Process(int(self._value("__import__('os').getpid()")))

    def run(self, code: str) -> Ran:
        """Run a cell and wait until the kernel is idle."""
        before, sent = self._processor_s(), time.time()
        message = self._client.execute(code, allow_stdin=self._attended)
        arrived: list[float] = []
        idle = 0.0
        while not idle:
            try:
                got = self._client.get_iopub_msg(timeout=300)
            except queue.Empty:
                raise SystemExit("the kernel has been silent for 300 s") from None
            at, kind, content = time.time(), got["msg_type"], got["content"]
            if got["parent_header"].get("msg_id") != message:
                continue
            if kind == "error":
                raise SystemExit("\n".join(content["traceback"]))
            if kind in ("display_data", "update_display_data") and _is_report(content["data"]):
                arrived.append(at)
            if kind == "status" and content["execution_state"] == "idle":
                idle = at
        ran = Ran(idle - sent, self._processor_s() - before)
        if arrived:
            ended, ended_processor = self._value("ENDED")
            ran.idle_s, ran.verdict_s, ran.last_s = idle - ended, arrived[0] - ended, arrived[-1] - ended
            ran.processor_s = [used - ended_processor for _, used in self._value("SENT")]
        return ran

    def facts(self) -> tuple[int, int, int]:
        """Operators, all events, and ns to stop and save, of the last run."""
        self.run(FACTS)
        operators, events, stop_ns = self._value("FACTS")
        return operators, events, stop_ns

    def close(self) -> None:
        """Shut it down."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def _processor_s(self) -> float:
        if not hasattr(self, "_process"):
            return 0.0
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _value(self, expression: str) -> Any:
        message = self._client.execute("", user_expressions={"it": expression}, silent=True)
        while True:
            reply = self._client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message:
                return ast.literal_eval(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])


def _is_report(data: dict[str, Any]) -> bool:
    return "Where the time went" in data.get("text/plain", "")


@contextlib.contextmanager
def kernel(*, attended: bool) -> Iterator[Kernel]:
    """A fresh kernel in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made = Kernel(attended=attended)
        try:
            yield made
        finally:
            made.close()
            os.chdir(before)


def large_cells(given: argparse.Namespace, *, whole: bool) -> None:
    """One kernel: its first report and later ones of a cell of so many operators, `whole`: all of them recorded."""
    steps = given.operators // OPERATORS_PER_STEP
    options = f" --steps {steps * 2}" if whole else ""
    code = f"%%gpuprofile{options}\n{CELL.format(steps=steps, batch=SMALL_BATCH)}"
    print(f"{steps * OPERATORS_PER_STEP:,} operators, {'all recorded' if whole else 'default options'}")
    with kernel(attended=not given.unattended) as made:
        time.sleep(given.pause)
        for number in range(1 + given.later):
            ran = made.run(code)
            count, events, stop_ns = made.facts()
            print(
                f"{'later' if number else 'first'}: {count:,} recorded, {events:,} events; cell's end to verdict "
                f"{ran.verdict_s:.2f} s (processor {ran.processor_s[0]:.2f}), to the last output {ran.last_s:.2f} s "
                f"({ran.processor_s[-1]:.2f}), to idle {ran.idle_s:.2f} s; "
                f"stop and save {stop_ns / 1000 / events:.1f} µs per event",
                flush=True,
            )


def short_cells(given: argparse.Namespace) -> None:
    """Cells of 1 to 3 s: plain and profiled in turn, and the first profiled one of a kernel apart."""
    for wanted_s in SHORT_S:
        with kernel(attended=not given.unattended) as made:
            steps = int(100 * wanted_s / made.run(CELL.format(steps=100, batch=BATCH)).whole_s)
            plain = CELL.format(steps=steps, batch=BATCH)
            profiled = f"%%gpuprofile\n{plain}"
            time.sleep(given.pause)
            print("first ", _difference(made.run(plain), made.run(profiled)), flush=True)
            for number in range(given.rounds):
                first, second = (made.run(code) for code in ((plain, profiled) if number % 2 else (profiled, plain)))
                print("later ", _difference(*((first, second) if number % 2 else (second, first))), flush=True)


def _difference(plain: Ran, profiled: Ran) -> str:
    return (
        f"plain {plain.whole_s:.2f} s, profiled {profiled.whole_s - plain.whole_s:+.2f} s "
        f"(processor {plain.whole_processor_s:.2f}, {profiled.whole_processor_s - plain.whole_processor_s:+.2f}), "
        f"of it after the cell's end {profiled.idle_s:.2f} s"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--operators", type=int, default=100_000)
    parser.add_argument("--kernels", type=int, default=3)
    parser.add_argument("--later", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pause", type=float, default=3.0)
    parser.add_argument("--unattended", action="store_true")
    given = parser.parse_args()
    for _ in range(given.kernels):
        large_cells(given, whole=False)
        large_cells(given, whole=True)
    if given.rounds:
        short_cells(given)
    print(f"load average {statistics.mean(os.getloadavg()[:2]):.1f}")


if __name__ == "__main__":
    main()
