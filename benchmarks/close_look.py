"""What a close look costs: a training step and a piece of inference, plain and looked at, in turn in one process.

python benchmarks/close_look.py [FILE.py FAULTY|CURED|GOOD ...]

Without arguments, of two small models. With files that hold a cell's code in a variable of that name, of those cells,
looked at as a whole. Ratios of one run: the machine may be busy, both sides are then.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import nn

from gpuprof.capture.look.close_look import CloseLook

_TURNS = 5


def step_of(width: int, layers: int) -> Callable[[], None]:
    """A training step of a model of that size."""
    parts = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1))]
    net = nn.Sequential(*parts)
    optimizer = torch.optim.Adam(net.parameters())

    def step() -> None:
        optimizer.zero_grad()
        net(torch.randn(64, width)).square().mean().backward()
        optimizer.step()

    return step


def measure(name: str, code: Callable[[], None], turns: int = _TURNS) -> str:
    """One line: time of the code, plain and looked at, and what a look takes of an operator."""
    ratios, per_operator, shares, operators = [], [], [], 0
    for _ in range(turns):
        plain_s = _seconds(code)
        look = CloseLook("<cell>", most_seconds=1e6, most_operators=10**7, most_bytes=10**13)
        with look:
            looked_s = _seconds(code)
        tables, facts = look.result()
        if look.failure is not None:
            raise look.failure
        operators = len(tables[0])
        ratios.append(looked_s / plain_s)
        per_operator.append(facts.cost_ns / max(operators, 1) / 1e3)
        shares.append(facts.cost_ns / max(int(tables[0]["duration_ns"].sum()), 1))
    return (
        f"{name}: {operators} operators, {plain_s * 1e3:.0f} ms plain, looked at {statistics.median(ratios):.2f}×; "
        f"{statistics.median(per_operator):.0f} µs an operator, {statistics.median(shares):.2f}× the operators' time"
    )


def _seconds(code: Callable[[], None]) -> float:
    with contextlib.redirect_stdout(io.StringIO()):
        began = time.perf_counter()
        code()
        return time.perf_counter() - began


def _cell(path: str, which: str) -> Callable[[], None]:
    text = runpy.run_path(path)[which].lstrip("\n")
    return lambda: exec(compile(text, "<cell>", "exec"), {"__name__": "__main__"})


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    if arguments:
        for path, which in zip(arguments[::2], arguments[1::2], strict=True):
            print(measure(f"{path.rpartition('/')[2]} {which}", _cell(path, which), 1), flush=True)
        return
    for width, layers in ((64, 6), (1024, 6)):
        step = step_of(width, layers)
        step()
        print(measure(f"step of {layers} layers of {width}", step), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
