"""Ten profiles in one process: are the kernels of every one recorded, all of them, at the right times?

Known faults of CUPTI and torch lose or shift them from the second on (pytorch#175790, #192021, tokenspeed#1348). The
argument names how the profiler is set: `ours` as gpuprof does; `after_empty` the same, after a profile of a cell that
does nothing, before the device is used at all; the others find out what matters.
"""

from __future__ import annotations

import os
from typing import Any

from benchmarks.gpu_check import cells, recorded
from benchmarks.gpu_check.check import Check
from gpuprof.run import Run

VARIANTS = ("ours", "after_empty", "no_sync_events", "events_kept", "cupti_kept", "idle_between")
OURS = VARIANTS[:2]
PROFILES = 10
_CELL = """\
for i in range(rounds):
    x.add_(1)
    if i % 50 == 49:
        total = x[0].item()
"""


def run(check: Check) -> None:
    variant = check.arguments[0] if check.arguments else VARIANTS[0]
    if variant == "cupti_kept":
        os.environ["TEARDOWN_CUPTI"] = "0"
    _set(variant)
    if variant == "after_empty":
        cells.play("nothing = None", no_nvml=True)
    rounds = 100 if check.small else 2000
    rows = []
    for number in range(1, PROFILES + 1):
        if number > 1:
            _pause(variant, check)
        namespace: dict[str, Any] = {"__name__": "__main__", "device": check.device, "rounds": rounds}
        cells.enter("import torch\nx = torch.zeros(1 << 16, device=device)", namespace)
        profiled = cells.play(_CELL, namespace, no_nvml=True).run
        rows.append(_row(profiled, number))
        check.note(rounds=rounds, variant=variant, profiles=rows)
        if variant == "ours" and number in (1, 2, PROFILES):
            recorded.keep(check, profiled, f"profile_{number}")
    _judge(check, rows, rounds, variant)


def _judge(check: Check, rows: list[dict[str, Any]], rounds: int, variant: str) -> None:
    check.expect("all operators are recorded every time", all(row["adds"] == rounds for row in rows))
    which = {"first": rows[:1], "second": rows[1:2], "tenth": rows[9:10], "each": rows}
    for name, chosen in which.items():
        right = all(row["kernels"] >= rounds and row["share"] == 1 and row["clock_ok"] for row in chosen)
        # the other settings are experiments: their outcome is a fact, not a fault
        if variant in OURS:
            check.only_on_device(f"{name} profile: every kernel, after its launch", right)
        else:
            check.note(**{f"{name}_right": right if check.on_device else None})


def _row(run_of_it: Run, number: int) -> dict[str, Any]:
    trace, facts = run_of_it.trace, recorded.describe(run_of_it)
    names = trace.names_of(trace.operators)
    return {
        "number": number,
        "adds": int((names == "aten::add_").sum()),
        "kernels": facts["device_events"]["kernel"],
        "copies": facts["device_events"]["copy"],
        "share": facts["launches_with_kernel_share"],
        "clock_ok": facts["clock_ok"],
        "lags_ns": facts["lags_ns"],
        "syncs": facts["syncs"],
        "notes": list(trace.context.notes),
    }


def _pause(variant: str, check: Check) -> None:
    import time

    if variant == "idle_between":
        time.sleep(0.05 if check.small else 5.0)


def _set(variant: str) -> None:
    """Another setting of the profiler than gpuprof's, for this process."""
    from gpuprof.capture.profiler import kineto

    changed: dict[str, dict[str, Any]] = {
        "no_sync_events": {"enable_cuda_sync_events": False, "trace_only": True},
        "events_kept": {"enable_cuda_sync_events": True, "trace_only": False},
    }
    if variant not in changed:
        return
    from torch._C._profiler import _ExperimentalConfig

    known = _ExperimentalConfig.__init__.__doc__ or ""
    wanted = {name: value for name, value in changed[variant].items() if f"{name}:" in known}
    kineto._experimental_config = lambda options: _ExperimentalConfig(**wanted)
