"""The whole cell: are its lines' times, its waits for data and its optimizer those of a stopwatch, beside a device?"""

from __future__ import annotations

from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.device.device_spots import DeviceSpots
from gpuprof.analyses.lines.cell_time import CellTime
from gpuprof.analyses.validity.validity import Validity
from gpuprof.model.table import Table
from gpuprof.run import Run

_SETUP = """\
import time, torch
class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return rounds
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.randn(n, n)
model = torch.nn.Sequential(*(torch.nn.Linear(n, n) for _ in range(6))).to(device)
optimizer = torch.optim.Adam(model.parameters(), foreach=False)
loader = torch.utils.data.DataLoader(Slow(), batch_size=None)
spent = {}
"""
_CELL = """\
began = time.perf_counter()
for batch in loader:
    waited = time.perf_counter()
    loss = model(batch.to(device)).square().mean()
    loss.backward()
    value = loss.item()
    computed = time.perf_counter()
    optimizer.step()
    optimizer.zero_grad()
    ended = time.perf_counter()
    spent.setdefault("wait", []).append(waited - began)
    spent.setdefault("compute", []).append(computed - waited)
    spent.setdefault("optimizer", []).append(ended - computed)
    began = ended
"""
_CLOSE = 0.05  # points of share


def run(check: Check) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device}
    namespace |= {"rounds": 120 if check.small else 600, "n": 64 if check.small else 1024}
    cells.enter(_SETUP, namespace)
    profiled = cells.play(_CELL, namespace).run
    recorded.keep(check, profiled, "whole_cell")
    true = {part: sum(each[60:]) for part, each in namespace["spent"].items()}
    total = sum(true.values())
    true = {part: seconds / total for part, seconds in true.items()}
    _iterations(check, profiled, true)
    _stacks(check, profiled)
    _accounts(check, profiled)
    _modules(check, profiled)
    check.note(validity=profiled.report_data.results.get(Validity).state)


def _iterations(check: Check, profiled: Run, true: dict[str, float]) -> None:
    found = profiled.report_data.results.get(PlainIterations).plain
    check.expect("iterations ran without the recording", found is not None)
    if found is None:
        return
    shares = {"wait": found.wait_share, "optimizer": found.optimizer_ns / found.mean_ns}
    check.note(stopwatch=true, plain_iterations=shares, iterations=found.count)
    for part, share in shares.items():
        check.expect(f"the share of the {part} is the stopwatch's", abs(share - true[part]) < _CLOSE)


def _accounts(check: Check, profiled: Run) -> None:
    told = profiled.to_dict()
    check.note(
        hot_spots=told["hot_spots"], phases=told["phases"], gpu_idle=told["gpu_idle"], iteration=told["plain_iteration"]
    )
    check.expect("the run is known as training", told["run_kind"] == "training")
    check.expect(
        "hot spots have a line of the cell", any(each["profiled"] and each["line"] for each in told["hot_spots"])
    )
    phases = {each["phase"]: each["share"] for each in told["phases"]}
    check.expect("the waits for data are a phase", phases.get("data", 0.0) > _CLOSE)
    asked = profiled.report_data.results.get(DeviceSpots)
    check.note(device_spots=told["device_spots"])
    named = asked.named_ns / asked.total_ns if asked.total_ns else 0.0
    check.only_on_device("the device's work has lines", named > 1 - _CLOSE)
    first = told["device_spots"][0] if told["device_spots"] else {"line": None, "backward_share": 0.0}
    # the backward pass is called in the next line, and takes about twice the time of the forward pass
    check.only_on_device("most of it is for the line that calls the model", first["line"] == 4)
    check.only_on_device("the backward pass stands there", 0.4 < first["backward_share"] < 0.85)
    idle = {each["what"]: each["share"] for each in told["gpu_idle"]}
    check.only_on_device("the device is idle while the DataLoader works", idle.get("DataLoader.__next__", 0.0) > _CLOSE)


def _modules(check: Check, profiled: Run) -> None:
    told = profiled.to_dict()
    paths = (told["modules"] or {}).get("paths", [])
    check.note(modules=paths, efficiency=told["efficiency"], iterations=told["iterations"])
    outer = [each for each in paths if len(each["path"]) == 1]
    check.expect("the model is the outermost module", [each["class"] for each in outer] == ["Sequential"])
    check.expect("its six layers are below it", sum(each["class"] == "Linear" for each in paths) == 6)
    on_device = max((each["device_share"] or 0.0 for each in outer), default=0.0)
    # the square, its mean and the optimizer are no module's
    check.only_on_device("forward and backward of the model are on the device", 0.2 < on_device <= 1.0)


def _shares_by_line(table: Table) -> dict[int, float]:
    """The time of each number of a line, of whichever file."""
    shares: dict[int, float] = {}
    for line, share in zip(table["line"].tolist(), table["share"].tolist(), strict=True):
        shares[line] = shares.get(line, 0.0) + share
    return shares


def _stacks(check: Check, profiled: Run) -> None:
    stacks, table = profiled.trace.context.stacks, profiled.report_data.results.get(CellTime).table
    check.expect("the stack of the cell was sampled", stacks is not None)
    if stacks is None:
        return
    lines = _shares_by_line(table)
    check.note(sampled_by=stacks.how, rate_hz=stacks.rate_hz, sampler_cost_share=stacks.cost_share, lines=lines)
    spent = profiled.trace.stack_samples["duration_ns"].sum() / 1e9
    check.expect("lines of the cell hold most of its time", sum(lines.values()) > 0.8 and spent > 0)
    # a wait for the device gives up the GIL inside `item`, and has to be seen there
    check.only_on_device("waits for the device are on the line that waits", lines.get(6, 0.0) > 0.0)
