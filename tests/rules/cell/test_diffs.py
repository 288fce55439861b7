"""The diffs of findings: whole, on the user's own lines, and none where something is not known."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.code_edits.syntax.diff import as_typed, changed
from gpuprof.model.context import Cell, Environment, Loader, Optimizer
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.registry import rule
from tests.code_edits.executed import TRAINING, line_of, run
from tests.code_edits.loops.test_evaluation import CELL
from tests.rules.cases.host import sync_in_step
from tests.rules.cases.kernels import fp32_matmul
from tests.rules.cases.loading import input_stall
from tests.rules.cases.training import grad_in_inference, gradients_zeroed_in_place, unfused_optimizer
from tests.rules.cases.transfers import blocking_h2d_copy, pageable_h2d_copy
from tests.support.trace_builder import TraceBuilder

LOOP = line_of(TRAINING, "for x, y in loader")
STEP = line_of(TRAINING, "opt.step()")
LINUX = Environment(system="Linux-6.1-x86_64", python="3.12.1", cores_allowed=4)
LOADER = Loader(workers=0, line=LOOP, samples=64, batches=4, pin_memory=False)
ONE_READ = TRAINING.replace("    correct += (out.argmax(1) == y).sum().item()\n    losses.append(loss.item())\n", "")


def diff_of(name: str, trace: Trace, cell: str | None = TRAINING, **context: Any) -> str | None:
    """The diff that the rule gives for this trace with that context; it must apply to the cell, and run."""
    context["cell"] = None if cell is None else Cell(source=cell)
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, **context))
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    if found.diff is not None and cell is not None:
        assert " %%gpuprofile" in found.diff or "@@ -1," not in found.diff
        after = changed(as_typed(cell), found.diff)
        assert after is not None
        run(after.replace("%%gpuprofile", "# %%gpuprofile"))
    return found.diff


def added(diff: str | None) -> list[str]:
    assert diff is not None
    return [line[1:].strip() for line in diff.split("\n")[2:] if line.startswith("+")]


def stalled(**loader: Any) -> str | None:
    mine = msgspec.structs.replace(LOADER, **loader)
    return diff_of("input_stall", input_stall.fires(), loaders=(mine,), environment=LINUX)


def test_workers_for_the_loader() -> None:
    assert added(stalled()) == ["loader = DataLoader(data,batch_size = 16 ,num_workers=1 ,persistent_workers=True ,)"]


@pytest.mark.parametrize("loader", [{"line": None}, {"line": 1}, {"samples": None}])
def test_no_workers_for_a_loader_of_elsewhere_or_an_iterable_dataset(loader: dict[str, Any]) -> None:
    assert stalled(**loader) is None


@pytest.mark.parametrize(
    "environment",
    [
        None,
        Environment(cores_allowed=4),
        Environment(system="macOS-14", python="3.12.1", cores_allowed=4),
        Environment(system="Linux-6.1", python="3.14.0", cores_allowed=4),
        Environment(system="Linux-6.1", python="3.12.1"),
    ],
)
def test_no_workers_where_they_may_not_start_or_fit(environment: Environment | None) -> None:
    trace = input_stall.fires()
    assert diff_of("input_stall", trace, loaders=(LOADER,), environment=environment) is None


def test_no_workers_where_batches_are_made_on_the_device() -> None:
    builder = TraceBuilder()
    for at in range(0, 1_000_000, 100_000):
        builder.step(at, 100_000).data_wait(at, 30_000).operator("aten::stack", at, 30_000)
        builder.kernel("gemm", at + 30_000, 70_000, launch_at_us=at + 30_000)
    making = copy.deepcopy(builder).call("cudaLaunchKernel", 10_000, 5)
    assert diff_of("input_stall", builder.build(), loaders=(LOADER,), environment=LINUX) is not None
    assert diff_of("input_stall", making.build(), loaders=(LOADER,), environment=LINUX) is None


def test_no_workers_where_nothing_but_the_host_was_recorded() -> None:
    builder = TraceBuilder()
    for at in range(0, 1_000_000, 100_000):
        builder.step(at, 100_000).data_wait(at, 30_000).operator("aten::stack", at, 30_000)
        builder.operator("aten::mm", at + 30_000, 70_000)
    assert diff_of("input_stall", builder.build(), loaders=(LOADER,), environment=LINUX) is None


def test_loader_and_copies_in_one_diff() -> None:
    lines = added(diff_of("pageable_h2d_copy", pageable_h2d_copy.fires(), loaders=(LOADER,)))
    assert len(lines) == 2 and "pin_memory=True" in lines[0] and lines[1].count("non_blocking=True") == 2


@pytest.mark.parametrize(
    "loaders",
    [
        (),
        (msgspec.structs.replace(LOADER, line=None),),
        (LOADER, msgspec.structs.replace(LOADER, line=None)),
        (msgspec.structs.replace(LOADER, pin_memory=True),),
    ],
)
def test_no_half_of_a_cure_for_copies(loaders: tuple[Loader, ...]) -> None:
    assert diff_of("pageable_h2d_copy", pageable_h2d_copy.fires(), loaders=loaders) is None


def adam(**facts: Any) -> Optimizer:
    known = Optimizer(name="Adam", parameters=12, elements=1200, fused=False, foreach=False, line=STEP, device="cpu")
    return msgspec.structs.replace(known, **facts)


def test_the_optimizer_is_fused() -> None:
    diff = diff_of("unfused_optimizer", unfused_optimizer.fires(), optimizers=(adam(),))
    assert added(diff) == ["opt = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)  # the optimizer"]


@pytest.mark.parametrize("facts", [{"line": None}, {"line": 1}, {"device": None}])
def test_no_fusing_of_an_optimizer_of_elsewhere(facts: dict[str, Any]) -> None:
    assert diff_of("unfused_optimizer", unfused_optimizer.fires(), optimizers=(adam(**facts),)) is None


def test_the_read_is_put_off() -> None:
    lines = added(diff_of("sync_in_step", sync_in_step.fires(), ONE_READ.replace(", losses[-1]", "")))
    assert lines == ["total += loss.detach().double()", "total = float(total)"]


def test_reads_that_the_cell_does_not_show_are_left_to_words() -> None:
    assert diff_of("sync_in_step", sync_in_step.fires(), TRAINING.split("    total +=")[0] + "    z = 1\n") is None


@pytest.mark.parametrize(("setting", "given"), [("highest", True), ("high", False), (None, False)])
def test_the_precision_is_set_where_it_is_known_to_be_the_full_one(setting: str | None, given: bool) -> None:
    import torch

    before = torch.get_float32_matmul_precision()
    try:
        diff = diff_of("fp32_matmul", fp32_matmul.fires(), environment=Environment(matmul_precision=setting))
    finally:
        torch.set_float32_matmul_precision(before)
    assert (diff is not None and added(diff) == ['torch.set_float32_matmul_precision("high")']) is given


def test_pinned_batches_are_copied_without_blocking() -> None:
    pinned = msgspec.structs.replace(LOADER, pin_memory=True)
    lines = added(diff_of("blocking_h2d_copy", blocking_h2d_copy.fires(), loaders=(pinned,)))
    assert lines == ["x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)"]
    for loaders in ((LOADER,), (pinned, pinned), (msgspec.structs.replace(pinned, line=None),)):
        assert diff_of("blocking_h2d_copy", blocking_h2d_copy.fires(), loaders=loaders) is None


def test_gradients_are_dropped() -> None:
    assert added(diff_of("gradients_zeroed_in_place", gradients_zeroed_in_place.fires())) == ["opt.zero_grad()"]


def test_evaluation_runs_in_inference_mode() -> None:
    loader = Loader(workers=0, line=line_of(CELL, "# here"))
    lines = added(diff_of("grad_in_inference", grad_in_inference.fires(), CELL, loaders=(loader,)))
    assert lines[0] == "with torch.inference_mode():"
    assert diff_of("grad_in_inference", grad_in_inference.fires(), CELL, loaders=(loader, loader)) is None


@pytest.mark.parametrize("name", ["input_stall", "pageable_h2d_copy", "unfused_optimizer", "sync_in_step"])
def test_without_a_cell_there_is_no_diff(name: str) -> None:
    traces = {
        "input_stall": input_stall.fires(),
        "pageable_h2d_copy": pageable_h2d_copy.fires(),
        "unfused_optimizer": unfused_optimizer.fires(),
        "sync_in_step": sync_in_step.fires(),
    }
    assert diff_of(name, traces[name], None, loaders=(LOADER,), optimizers=(adam(),), environment=LINUX) is None


def test_a_fault_of_an_edit_costs_no_finding() -> None:
    results = Results(TraceBuilder().context(cell=Cell(source="x = 1")).operator("aten::mm", 0, 1).build())

    def fails(source: str) -> str | None:
        raise RuntimeError(source)

    assert cell_diff(results, fails) is None
    assert cell_diff(results, lambda source: source) is None
    assert cell_diff(results, lambda source: source + "\ny = 2") is not None
