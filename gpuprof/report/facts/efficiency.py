"""How well the arithmetic uses the device, and how fast the work goes: as the JSON has it, and in words."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.efficiency.efficiency import Efficiency, ShapeEfficiency
from gpuprof.analyses.run.work_rate import WorkRate
from gpuprof.units import NS_PER_S, count, milliseconds, percent

MOST_SHAPES = 50
_ONE_FORMAT_SHARE = 0.99


def efficiency_dict(results: Results) -> dict[str, Any] | None:
    """The sums, and the shapes that took longest, 50 at most; None where there was nothing to count."""
    found = results.get(Efficiency)
    if not found.shapes and found.missing is None:
        return None
    return {
        "on_device": found.on_device,
        "flops": found.flops,
        "iteration_flops": found.iteration_flops,
        "running_ms": milliseconds(found.running_ns),
        "covered_share": found.covered_share,
        "covered_product_share": found.covered_product_share,
        "span_flops_per_s": found.span_flops_per_s,
        "busy_flops_per_s": found.busy_flops_per_s,
        "number_format": _format(found.number_format),
        "peak_flops_per_s": found.peak_flops_per_s,
        "peak_share": found.peak_share,
        "busy_peak_share": found.busy_peak_share,
        "mfu": found.mfu,
        "missing": found.missing,
        "shapes": [_shape(each) for each in found.shapes[:MOST_SHAPES]],
    }


def rate_dict(results: Results) -> dict[str, Any] | None:
    """How fast the work went, without the recording where such iterations ran; None where neither samples nor their
    time are known."""
    sample_ns, rate = _sample_ns(results), results.get(WorkRate)
    if sample_ns is None:
        return None
    return {
        "samples_per_s": NS_PER_S / sample_ns,
        "tokens_per_s": NS_PER_S / sample_ns * rate.sample_tokens if rate.sample_tokens else None,
        "batch_size": rate.batch_size,
        "samples": rate.samples,
        "recorded": rate.sample_ns is None,
    }


def rate_words(results: Results) -> str:
    """`1,640 samples/s`, of sequences `52,000 tokens/s`; empty where it is unknown."""
    sample_ns, tokens = _sample_ns(results), results.get(WorkRate).sample_tokens
    if sample_ns is None:
        return ""
    per_s = NS_PER_S / sample_ns
    return f"{_rate(per_s * tokens)} tokens/s" if tokens else f"{_rate(per_s)} samples/s"


def _sample_ns(results: Results) -> float | None:
    """Of one sample: by iterations without the recording, else by the recorded steps."""
    rate, times = results.get(WorkRate), results.get(StepTime)
    iteration_ns = rate.median_ns or times.median_ns
    return rate.sample_ns or (iteration_ns / rate.batch_size if iteration_ns and rate.batch_size else None)


def _rate(per_s: float) -> str:
    """Three digits, as every figure."""
    if per_s < 100:
        return f"{per_s:.3g}"
    digits = len(str(int(per_s))) - 3
    return count(int(round(per_s, -digits)))


def used_well(results: Results) -> str:
    """That the device is used well, where that is shown; else empty. It does not say that the work is needed."""
    found = results.get(Efficiency)
    if not found.uses_device_well or found.busy_share is None or found.busy_peak_share is None:
        return ""
    known = _format(found.number_format)
    peak = f"{known} peak" if known else "peak"
    return (
        f"No rule applies, and the GPU is used well: it is busy {percent(found.busy_share)} of the time, and reaches "
        f"{percent(found.busy_peak_share)} of its {peak} while busy. "
        "Whether all of this work is needed was not examined."
    )


def efficiency_words(results: Results) -> str:
    """Percent of the peak while products run, and of the whole span; empty where the peak is unknown."""
    found = results.get(Efficiency)
    if found.peak_share is None or found.mfu is None:
        return ""
    names = [each.operator for each in found.shapes]
    attention = [name for name in names if "attention" in name]
    convolutions = [name for name in names if "convolution" in name]
    kinds = ["matrix products"] if len(names) > len(attention) + len(convolutions) else []
    kinds += [*(["convolutions"] if convolutions else []), *(["attention"] if attention else [])]
    subject = " and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    verb, time = ("reaches", "it runs") if kinds == ["attention"] else ("reach", "they run")
    reached = f"{subject[:1].upper()}{subject[1:]} {verb} {percent(found.peak_share)} of {_peak(found)} while {time}"
    return f"{reached}; MFU {percent(found.mfu)}."


def _peak(found: Efficiency) -> str:
    most = found.flops_by_format[0]
    if most[1] >= _ONE_FORMAT_SHARE * found.flops:
        return f"the {_format(most[0])} peak"
    formats = ", ".join(each.value for each, flops in found.flops_by_format if each and flops)
    return f"the peaks of their formats ({formats})"


def _shape(each: ShapeEfficiency) -> dict[str, Any]:
    return {
        "operator": each.operator,
        "shapes": [list(shape) for shape in each.shapes],
        "number_format": _format(each.number_format),
        "count": each.count,
        "flops": each.flops,
        "ms": milliseconds(each.ns),
        "flops_per_s": each.flops_per_s,
        "peak_share": each.peak_share,
    }


def _format(number_format: object) -> str | None:
    return None if number_format is None else str(number_format)
