"""Reports for tests of views: a training run on a device, one on the host alone, and one with nothing in it."""

from __future__ import annotations

from dataclasses import replace

from gpuprof.model.context import Cell, Environment, Loader, Optimizer
from gpuprof.model.memory import Composition, HeldTensors, ModuleBytes
from gpuprof.report import Report
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.views.theme import BUDGET
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
NASTY = "</script><img src=x onerror=alert(1)>"
DIFF = """--- cell
+++ cell
@@ -4,3 +4,3 @@
 loader = DataLoader(
-    train, batch_size=64,
+    train, batch_size=64, num_workers=6, persistent_workers=True,
 )"""


def device_report(
    *,
    steps: int = 6,
    name: str = "ampere_sgemm_128x64_nn",
    path: str = "runs/train.json.gz",
    run: str = "train one epoch",
) -> Report:
    """Steps of 150 ms on a device: 58 ms of waiting for data, a pageable copy, kernels, a synchronise."""
    builder = TraceBuilder(start_ns=1_700_000_000_000 * MS)
    builder.device(0, "Tesla V100-SXM2-16GB", memory_bytes=16 << 30, link_bytes_per_s=12.9e9)
    builder.source(path=path, torch="2.13.0")
    builder.context(
        cell=Cell(source="train()", execution_count=7, name=run),
        environment=Environment(python="3.11", torch="2.13.0", gpuprof="0.1"),
    )
    builder.thread("main", main=True)
    for step in range(steps):
        at = step * 150_000.0
        builder.step(at, 150_000, number=12 + step).data_wait(at + 500, 58_000)
        builder.copy("h2d", at + 59_500, 10_000, bytes=38_500_000, host_memory="pageable", launch_at_us=at + 59_000)
        builder.operator("aten::conv2d", at + 70_000, 66_000)
        for kernel in range(60):
            start = at + 71_000 + kernel * 1_100
            builder.kernel(name, start, 950, launch_at_us=at + 70_100 + kernel * 1_000)
            builder.memory(
                start, 64 << 20, allocated=(4 << 30) + min(kernel, 60 - kernel) * (300 << 20), reserved=15 << 30
            )
        builder.operator("aten::item", at + 137_000, 11_000).sync(at + 137_010, 10_900)
    for tick in range(10):
        percent = 90.0 if tick % 3 else 20.0
        builder.sample(tick * 90_000.0, utilisation_percent=percent, power_mw=250_000, temperature_c=61.0)
    return Report.of(builder.build())


def nasty_report() -> Report:
    """Steps whose every name is NASTY: kernel, operator, user range, file, thread, device, cell, data set, variable."""
    builder = TraceBuilder(start_ns=1_700_000_000_000 * MS).device(0, NASTY, memory_bytes=16 << 30)
    builder.source(path=f"runs/{NASTY}.json", torch=NASTY).thread(NASTY, main=True)
    builder.context(
        cell=Cell(source=f"train({NASTY!r})", execution_count=7, name=NASTY),
        environment=Environment(python="3.11", torch=NASTY, processor=NASTY, system=NASTY, driver=NASTY),
        loaders=(Loader(workers=0, dataset=NASTY),),
        optimizers=(Optimizer(name=NASTY, parameters=2, elements=8),),
        held=(HeldTensors(name=NASTY, kind="global", device="cuda:0", bytes=1 << 30, tensors=1),),
        compositions=(
            Composition(
                device="cuda:0",
                parameter_bytes=2 << 30,
                modules=(
                    ModuleBytes(name=NASTY, parameter_bytes=1 << 30),
                    ModuleBytes(name="head", parameter_bytes=1 << 30),
                ),
            ),
        ),
    )
    for step in range(4):
        at = step * 50_000.0
        builder.step(at, 50_000, number=step).span(NASTY, at + 500, 40_000).operator(NASTY, at + 1_000, 30_000)
        builder.copy("h2d", at + 2_000, 1_000, bytes=38_500_000, host_memory="pageable", launch_at_us=at + 1_500)
        builder.kernel(NASTY, at + 4_000, 20_000, launch_at_us=at + 3_000)
        builder.memory(at + 4_000, 64 << 20, allocated=4 << 30, reserved=8 << 30)
    return with_findings(Report.of(builder.build()))


def with_findings(report: Report) -> Report:
    """The same with one finding of each make, whatever the rules say of it."""
    start = report.trace.span_start_ns
    ranges = tuple((start + step * 150 * MS, start + step * 150 * MS + 58 * MS) for step in range(6))
    findings = (
        Finding(
            rule="input_stall",
            severity=Severity.HIGH,
            title="The GPU waits for the DataLoader",
            explanation="58.0 ms of a step of 150 ms are spent waiting for a batch; the device is idle meanwhile.",
            evidence={"wait_ms_per_step": 58.0, "workers": 0, "source": NASTY},
            change="Load with DataLoader(…, num_workers=6, persistent_workers=True).",
            where=Where(lines=(4,), ranges_ns=ranges),
            diff=DIFF,
            saving=Saving(200 * MS, 300 * MS, 348 * MS, 0.33, "C", "upper bound: all of the wait"),
            leave_it="Leave it when batches are made faster than used, or no core is free.",
        ),
        Finding(
            rule="memory_near_limit",
            severity=Severity.LOW,
            title=f"A file called {NASTY} is read",
            explanation="Nothing else.",
            evidence={},
            change="",
        ),
    )
    abstained = (
        Abstention("thermal_throttle", "the device's clock reasons", "Profile without --no-nvml."),
        Abstention("fp32_matmul", "shapes of operators", "Profile with --shapes."),
        Abstention("small_batch", "shapes of operators", "Profile with --shapes."),
    )
    return replace(report, findings=findings, abstained=abstained)


def host_report() -> Report:
    """Three steps without a device."""
    builder = TraceBuilder().thread("main", main=True).context(cell=Cell(source="train()", execution_count=3))
    for step in range(3):
        at = step * 100_000.0
        builder.step(at, 100_000).data_wait(at + 1_000, 40_000)
        builder.operator("aten::linear", at + 42_000, 30_000).optimizer_step("SGD", at + 80_000, 15_000)
        builder.operator("aten::add_", at + 81_000, 13_000)
        builder.memory(at + 43_000, 64 << 20, device=None).memory(at + 70_000, -(64 << 20), device=None)
    return Report.of(builder.build())


def empty_report() -> Report:
    """A run in which nothing was recorded."""
    return Report.of(TraceBuilder().context(cell=None).build())


def numbers_of(report: Report) -> list[str]:
    """The labels of every kind of time that took any."""
    return [BUDGET[entry.category].label for entry in report.budget.entries if entry.ns > 0]
