"""Much of the work is done in double precision.

What it finds
    On a device that is the bottleneck: kernels on fp64 data that take at least 2 % of its kernel time. Without a
    device: operators on tensors of double with a thousand numbers or more that take at least 10 % of the steps' time,
    by the recorded types (`%%gpuprofile --shapes`). The types of the close look count where the weights of a model are
    fp64, and where fp32 numbers become fp64 since they meet some, and nothing in the cell asks for fp64. Where the
    steps solve, factorize or invert matrices in double precision on the CPU, or the notebook sets it as the default, it
    is taken to be meant. It is a minor finding where the cell makes its model double and has an `LBFGS` optimizer or
    `create_graph=True`. A sum or mean that is kept in double is a single number, and no fault.

Why it costs
    fp64 moves twice the bytes of fp32 and has no tensor cores in most libraries. Arithmetic is half as fast on a CPU
    and on data centre devices (V100, A100, H100), and 1/32 to 1/64 as fast on the others (T4, A10, L4, GeForce).
    Convolutions on a CPU lose more: its fast library has none in fp64. Mostly nobody asked for it: NumPy makes float64
    by default, and one such tensor turns whatever it meets into fp64.

What to do
    Find where it enters: `torch.from_numpy(a)` or `torch.tensor(a)` of a NumPy array, `torch.linspace` and friends with
    `dtype=torch.float64`, `.double()`, `torch.set_default_dtype`. Convert arrays of floats there
    (`a.astype("float32")`, `.float()`), before the copy to the device; integer labels stay as they are.

When to leave it
    When the method needs fp64: solvers, long sums, some physics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.kernels.float64_kernels import Float64Kernels
from gpuprof.analyses.kernels.float64_operators import Float64Operators
from gpuprof.analyses.lines.float64_lines import Float64Lines
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model import intervals
from gpuprof.model.device import Device
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.kernels.float64_looked import is_meant, judge_look
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import WAITS_FOR_HOST, retimed
from gpuprof.rules.saving.scope import Scope, graded, worst

_MOST_OPERATORS = 3
_SPEEDS = "these kernels at the speed of fp32, twice as fast (half the bytes) or, where arithmetic limits them, more"
# What fp32 takes of an operator's time in fp64 on a CPU, at worst, as a rule and at best (one thread of an AMD EPYC,
# torch 2.13): products of 64 to 1024 rows and columns 0.40 to 0.52, operators on 10,000 to 8 million numbers 0.33 to
# 0.63 with few exceptions (indexing and norms 0.8 to 1.2), LSTM and GRU 0.37 and 0.53; convolutions 0.15 to 0.53, one
# of three channels 1.3.
_LEFT_ON_CPU = (0.63, 0.5, 0.37)
_LEFT_OF_CONVOLUTIONS = (1.0, 0.45, 0.15)
# An operator on 16 numbers takes that in either precision.
_FIXED_NS = 1_200
_ON_CPU = "fp32 takes half of the operators’ time (37 to 63 %; 15 to 100 % of convolutions)"
# a weight: half of them in fp32, half in fp64
_NARROW_BYTES = 6
# data centre devices: fp64 at half the rate of fp32; every other capability has 1/32 or 1/64
_HALF_RATE = ((6, 0), (7, 0), (8, 0), (9, 0), (10, 0))


@dataclass(frozen=True)
class Float64Compute(Rule):
    """See the module."""

    float64_share: float = threshold(0.02, "of the kernel time: fp64 that nobody asked for seldom costs less")
    high_share: float = threshold(0.25, "of the kernel time: then it is the first thing to mend")
    low_share: float = threshold(0.10, "of the kernel time: below it the gain is small")
    host_share: float = threshold(0.10, "of the steps’ time, without a device: half of it can be gained")
    host_high_share: float = threshold(0.40, "of the steps’ time, without a device: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in fp64 kernels; without a device, in operators on fp64 tensors."""
        if results.get(DeviceActivity).recorded is None:
            return self._on_cpu(results)
        compute = KernelTime.of(results)
        if compute is None:
            return without_device(self.name, results, "the device’s kernels")
        found = results.get(Float64Kernels)
        share = compute.deciding(found.chosen, self.float64_share)
        if share is None:
            return None
        speeds = compute.taking(found.chosen, 1, 1 / 2, 1 / 32 if _is_slow(compute.device) else 1 / 4)
        finding = self._finding(compute, found, share)
        if is_meant(results):
            finding = replace(finding, severity=Severity.LOW)
        return retimed(results, finding, speeds, f"simulated with {_SPEEDS}", rest=WAITS_FOR_HOST)

    def _on_cpu(self, results: Results) -> Finding | Abstention | None:
        found, scope = results.get(Float64Operators), Scope.of(results)
        if not found.types:
            judged, looked = judge_look(self.name, results, self.host_share, self.host_high_share)
            if judged:
                return looked
        if not results.get(Repeats).count or found.solvers:
            return None
        if not found.types:
            working = intervals.intersect(results.get(MainOperators).inside, scope.within).total_ns
            matters = scope.share(working) >= self.host_share and not _has_narrow_weights(results)
            return _without_types(self.name) if matters else None
        inside = scope.inside(found.start_ns)
        spent = int(found.self_ns[inside].sum())
        share = scope.share(spent)
        if share < self.host_share:
            return None
        during = intervals.intersect(found.during, scope.within)
        operators = ", ".join(name for name, _ in found.costliest(inside)[:_MOST_OPERATORS])
        lines, change = _where_it_enters(results)
        return Finding(
            rule=self.name,
            severity=Severity.LOW if is_meant(results) else graded(share, self.host_high_share),
            title=f"{units.percent(share)} of {scope.words} is spent on double precision",
            explanation=(
                f"Operators on fp64 tensors take {units.duration(spent)} of {units.duration(scope.total_ns)}, most of "
                f"it in {operators}."
            ),
            evidence={
                "float64_ms": units.milliseconds(spent),
                "float64_share": round(share, 4),
                "operators": operators,
            },
            where=Where(lines=lines or results.get(LinePlaces).cell_lines(during), ranges_ns=worst(during)),
            change=change,
            saving=_saving_on_cpu(found, scope, inside, during),
        )

    def _finding(self, compute: KernelTime, found: Float64Kernels, share: float) -> Finding:
        during, spent = compute.during(found.chosen), compute.sum_ns(found.chosen)
        products = compute.sum_ns(found.products)
        operators = ", ".join(name for name, _ in found.operators[:_MOST_OPERATORS])
        wall = during.total_ns
        return Finding(
            rule=self.name,
            severity=compute.severity(found.chosen, share, high=self.high_share, low=self.low_share),
            title=f"{units.percent(share)} of the kernel time is double precision",
            explanation=(
                f"Kernels on fp64 data take {units.duration(spent)} of {units.duration(compute.total_ns)}"
                f"{f', most of it in {operators}' if operators else ''}."
            ),
            evidence={
                "float64_ms": units.milliseconds(spent),
                "float64_share": round(share, 4),
                "float64_products_ms": units.milliseconds(products),
                "kernel_ms": units.milliseconds(compute.total_ns),
                **({"operators": operators} if operators else {}),
            },
            where=compute.where(found.chosen),
            change="Find where fp64 enters, mostly a NumPy array (float64 by default): convert arrays of floats there "
            'with `a.astype("float32")` or `.float()`, before the copy to the device (leave integer labels as they '
            "are).",
            saving=compute.scope.saving(
                0,
                wall / 2,
                wall * (31 / 32 if _is_slow(compute.device) else 3 / 4),
                f"estimate: {_SPEEDS}",
            ),
        )


def _is_slow(device: Device) -> bool:
    """Whether fp64 is known to be far slower than half the speed of fp32."""
    capability = device.compute_capability
    return capability is not None and not device.is_amd and capability not in _HALF_RATE


def _has_narrow_weights(results: Results) -> bool:
    """Whether what the optimizers step is known to be narrower than fp64 for the most part: torch multiplies no fp32
    weights with fp64 data, so that next to no work can be in fp64."""
    context = results.context
    elements = sum(each.elements for each in context.optimizers if each.device == "cpu")
    weighed = [each.parameter_bytes for each in context.compositions if each.device == "cpu"]
    return bool(weighed) and sum(weighed) < _NARROW_BYTES * elements


def _without_types(rule: str) -> Abstention:
    return Abstention(
        rule,
        "the types of tensors, to tell float32 from float64 on a CPU",
        "Record them with the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
    )


def _where_it_enters(results: Results) -> tuple[tuple[int, ...], str]:
    """The lines of the cell that let double precision in, as far as they tell, and what to do there."""
    entries = results.get(Float64Lines)
    lines = tuple(sorted({*entries.asked, *entries.from_numpy}))
    where = "in the lines named" if lines else "mostly as a NumPy array (float64 by default)"
    return lines, (
        f"fp64 enters {where}: make it fp32 there, with `torch.from_numpy(a).float()` or "
        '`a.astype("float32")` for arrays of floats (leave integer labels as they are) and without `.double()` for the '
        "model."
    )


def _saving_on_cpu(found: Float64Operators, scope: Scope, inside: Array, during: Intervals) -> Saving:
    scaling = np.maximum(found.self_ns[inside] - _FIXED_NS, 0)
    least, usual, most = (
        float((scaling * (1 - np.where(found.convolution[inside], of_convolutions, left))).sum())
        for left, of_convolutions in zip(_LEFT_ON_CPU, _LEFT_OF_CONVOLUTIONS, strict=True)
    )
    return scope.saving(least, usual, most, f"estimate: {_ON_CPU}", part_of=during)
