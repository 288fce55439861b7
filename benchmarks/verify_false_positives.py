"""How often a comparison of a cell with itself claims an effect: 200 simulated and 20 real ones.

    python benchmarks/verify_false_positives.py [BUDGET_S] [-o FILE.md]

The simulated ones draw log ratios with heavy tails (Student's t with 4 degrees of freedom, standard deviation 3 %),
independent or alike from pair to pair (AR(1), 0.3), and look after every pair. The real ones measure training cells
against themselves on this machine, as busy as it is.
"""

from __future__ import annotations

import argparse
import platform
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.verification import Measurement, Outcome, measure_cells
from gpuprof.verification.timing.outcome import decided

SIMULATED, REAL, PAIRS = 200, 20, 60
TABLE = Path(__file__).with_suffix(".md")
CLAIMS = (Outcome.FASTER, Outcome.SLOWER)

SETUP = """
import time, torch
torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)], torch.nn.Linear(64, 1))
image = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(1))
image(torch.randn(2, 3, 16, 16))
data = torch.utils.data.TensorDataset(torch.randn(20_000, 64), torch.randn(20_000, 1))
"""
STEP = """    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CELLS = {
    "a small network, batches in memory": "opt = torch.optim.Adam(model.parameters())\n"
    "x, y = data[:64]\nfor step in range(100_000):\n" + STEP,
    "a DataLoader without workers": "opt = torch.optim.SGD(model.parameters(), lr=1e-3)\n"
    "for x, y in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True):\n" + STEP,
    "a DataLoader with a worker": "opt = torch.optim.SGD(model.parameters(), lr=1e-3)\n"
    "for x, y in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, num_workers=1):\n" + STEP,
    "a convolution": "opt = torch.optim.AdamW(image.parameters())\n"
    "x, y, model_, model = torch.randn(32, 3, 16, 16), torch.randn(32, 1), model, image\n"
    "for step in range(100_000):\n" + STEP,
    "a whole cell without steps": "with torch.no_grad():\n    for _ in range(50):\n        model(data[:64][0])",
}


def simulated(correlation: float, seed: int) -> int:
    """How many of 200 comparisons claim an effect."""
    rng = np.random.default_rng(seed)
    claims = 0
    for _ in range(SIMULATED):
        noise = rng.standard_t(4, PAIRS) * 0.03 / np.sqrt(2)
        series = noise.copy()
        for at in range(1, PAIRS):
            series[at] += correlation * series[at - 1]
        outcome = next((o for n in range(1, PAIRS + 1) if (o := decided(series[:n])) is not None), None)
        claims += outcome in CLAIMS
    return claims


def real(budget_s: float) -> list[tuple[str, Measurement]]:
    """Twenty cells against themselves."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(SETUP, names)
    kinds = list(CELLS)
    found = []
    for number in range(REAL):
        kind = kinds[number % len(kinds)]
        cell = CELLS[kind]
        verdict = measure_cells(cell, cell, names, budget_s=budget_s, seed=number)
        found.append((kind, verdict))
        print(f"{number + 1:>2} {kind}: {verdict}", flush=True)
    return found


def table(simulations: dict[str, int], found: list[tuple[str, Measurement]], budget_s: float) -> str:
    import torch

    lines = [
        "# A cell against itself: how often an effect is claimed",
        "",
        f"`python benchmarks/verify_false_positives.py {budget_s:g}`, {date.today():%Y-%m-%d}, torch "
        f"{torch.__version__}, Python {platform.python_version()}, no GPU, other work on the same cores.",
        "",
        "| comparisons | claim an effect |",
        "|---|---|",
        *(
            f"| {SIMULATED} simulated, {name} | {claims} ({claims / SIMULATED:.1%}) |"
            for name, claims in simulations.items()
        ),
        f"| {len(found)} real | {sum(v.outcome in CLAIMS for _, v in found)} |",
        f"| of these with eight pairs or more | {sum(v.pairs >= 8 for _, v in found)} comparisons |",
        "",
        "| the cell | outcome | ratio (95 %) | pairs | seconds | a step |",
        "|---|---|---|---|---|---|",
    ]
    for kind, verdict in found:
        shown = "—" if verdict.low is None else f"{verdict.ratio:.3f} ({verdict.low:.3f}–{verdict.high:.3f})"
        step_ms = (verdict.before.step_ns or 0) / 1e6
        lines.append(
            f"| {kind} | {verdict.outcome} | {shown} | {verdict.pairs} | {verdict.seconds:.0f} | {step_ms:.2f} ms |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("budget_s", nargs="?", type=float, default=20.0)
    parser.add_argument("-o", type=Path, default=TABLE)
    given = parser.parse_args()
    simulations = {"independent pairs": simulated(0.0, 1), "neighbours alike (0.3)": simulated(0.3, 2)}
    found = real(given.budget_s)
    given.o.write_text(table(simulations, found, given.budget_s))


if __name__ == "__main__":
    main()
