"""What the memory rules share: the device whose memory is judged, or the abstention where it cannot be."""

from __future__ import annotations

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition, PeakParts
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Where

OUT_OF_MEMORY = "OutOfMemoryError"


def judged_memory(rule: str, results: Results) -> tuple[MemoryUse, int, int] | Abstention:
    """The memory of the device with the highest peak, that peak in bytes (everything live included), and its limit."""
    memory = results.get(MemoryPeak).primary
    peak = memory.whole_peak_bytes if memory else None
    if memory is None or peak is None:
        if memory is None and results.get(DeviceActivity).recorded is None:
            return without_device(rule, results, "the device’s memory")
        return Abstention(
            rule,
            "the peak of the device’s memory, what was there before included",
            "Profile the cell with `%%gpuprofile`; `--memory` records every allocation.",
        )
    if not memory.limit_bytes:
        return Abstention(
            rule,
            "the size of the device’s memory",
            "The trace has no `deviceProperties`; `%%gpuprofile` records them.",
        )
    return memory, peak, memory.limit_bytes


def parts_of(results: Results, memory: MemoryUse) -> PeakParts | None:
    """What that memory is made of, where capture has weighed it; None in a trace from elsewhere."""
    parts = results.get(MemoryComposition).of_device(memory.device)
    return parts if parts and parts.parameter_bytes is not None else None


def without_parts(rule: str) -> Abstention:
    """For a rule that needs to know what the models and optimizers hold."""
    return Abstention(
        rule,
        "the sizes of parameters, gradients and optimizer state",
        "Profile the cell with `%%gpuprofile`, and let it make at least one optimizer step.",
    )


def trains(results: Results) -> bool:
    """Whether an optimizer stepped, or a backward pass ran, in what was recorded."""
    context = results.context
    return bool(context.optimizers or results.get(OptimizerSteps).uses or results.get(GradientRecording).ran)


def ran_out(results: Results, memory: MemoryUse | None) -> bool:
    """Whether the run ended, or went on after, running out of device memory."""
    outcome = results.context.outcome
    return bool(memory and memory.ooms) or bool(outcome and outcome.error == OUT_OF_MEMORY)


def near_limit(memory: MemoryUse, share: float) -> bool:
    """Whether the peak reaches `share` of the device, or allocations had to be retried or failed."""
    highest = max(memory.peak_reserved_bytes or 0, memory.whole_peak_bytes or 0)
    return bool(memory.retries or memory.ooms) or highest >= share * (memory.limit_bytes or highest + 1)


def at_peak(memory: MemoryUse, lines: tuple[int, ...] = ()) -> Where:
    """The instant of the peak, where it is known, and the lines that the rule blames for it."""
    at = memory.peak_at_ns
    return Where(lines=lines, ranges_ns=((at, at + 1),) if at is not None else ())
