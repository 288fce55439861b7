"""A GPU is there, and the heavy work ran on the CPU.

What it finds
    A run without any device activity on a machine for which the driver lists a device that this process may use, with
    matrix multiplications or convolutions on the CPU that take at least a fifth of the time and are large enough to be
    worth moving. Either torch was built without CUDA, or model and data were never moved.

Why it costs
    Large multiplications and convolutions are what a GPU does ten to a hundred times faster.

What to do
    Install the build of torch for the driver (pytorch.org, "Start locally"), or move model and batches:
    `model.to("cuda")`, `batch.to("cuda", non_blocking=True)`.

When to leave it
    When the CPU is meant: small models are often faster there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_conditions import DeviceConditions
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.run.operators import Operators, OperatorUse, when_called
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold

_HEAVY = re.compile(r"::(mm|addmm|bmm|baddbmm|_scaled_dot_product_\w+|\w*conv\w*|\w*linear\w*)$")


@dataclass(frozen=True)
class CpuBuildOrCpuTensors(Rule):
    """See the module."""

    heavy_share: float = threshold(0.20, "of the time in such operators: less would hardly be felt")
    mean_us: float = threshold(
        200, "each such operator on average: a GPU needs some 10 µs to begin, and gains nothing on less"
    )

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge a run without a device."""
        if results.get(DeviceActivity).recorded is not None or not results.span_ns:
            return None
        devices, environment = results.get(DeviceConditions).devices, results.context.environment
        heavy = [
            use
            for use in results.get(Operators).uses
            if _HEAVY.search(use.name) and use.self_ns >= self.mean_us * units.NS_PER_US * use.count
        ]
        spent, count = sum(use.self_ns for use in heavy), sum(use.count for use in heavy)
        share = spent / results.span_ns
        if share < self.heavy_share:
            return None
        if environment is None or (not devices and not results.context.sampling.get("unavailable")):
            return Abstention(
                self.name,
                "whether this machine has a GPU",
                "Profile the cell with `%%gpuprofile` and NVML sampling on; a trace file does not say.",
            )
        if not devices or environment.hip_build:
            return None
        name = devices[0].facts.name or "GPU"
        built = environment.cuda_build is not None
        return Finding(
            rule=self.name,
            severity=Severity.HIGH,
            title=f"The heavy work ran on the CPU, though there is a {name}"
            if built
            else f"This torch is built without CUDA, though there is a {name}",
            explanation=(
                f"Nothing ran on the device. {_most(heavy)} and the like took {units.duration(spent)} on the CPU, "
                f"{units.percent(share)} of the recorded time."
            ),
            evidence={
                "heavy_operators": count,
                "heavy_ms": units.milliseconds(spent),
                "heavy_share": round(share, 4),
                "device": name,
                "cuda_build": environment.cuda_build or "none",
            },
            change='Move model and batches to the device: `model.to("cuda")`, `batch.to("cuda", non_blocking=True)`. '
            "If `torch.cuda.is_available()` is False, `gpuprof doctor` tells more."
            if built
            else "Install the build of torch for this machine’s driver (pytorch.org, “Start locally”), then move model "
            'and batches with `.to("cuda")`.',
            where=Where(lines=_lines(results, heavy)),
        )


def _most(heavy: list[OperatorUse]) -> str:
    most = max(heavy, key=lambda use: use.self_ns)
    return f"{most.name} ({units.count(most.count)}×, {units.duration(most.self_ns)})"


def _lines(results: Results, heavy: list[OperatorUse]) -> tuple[int, ...]:
    """The lines that call these operators; what runs in backward counts for the line that called it."""
    return results.get(LinePlaces).cell_lines(when_called(results, *(use.name for use in heavy)))
