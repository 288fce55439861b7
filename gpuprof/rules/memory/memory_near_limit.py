"""The device's memory is nearly used up.

What it finds
    A peak of reserved memory of at least 90 % of the device, allocations that had to be retried after freeing cached
    blocks, or a cell that ran out of memory.

Why it costs
    Near the limit the caching allocator gives its blocks back to the driver and asks again: each time the device
    is synchronised. The next longer batch or a second process ends the run.

What to do
    Look at what the peak is made of. What stays between steps is parameters, gradients and optimizer state; what comes
    and goes is activations and temporaries. The cheapest means first: autocast, a smaller batch with accumulated
    gradients, checkpointing, then an optimizer with less state.

When to leave it
    When the run is steady, nothing is retried and nothing else needs the device: reserved memory is a cache, and a full
    cache is no fault by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.analyses.memory.peak_lines import PeakLines
from gpuprof.model.kernel_names import Precision
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.memory.device_memory import at_peak, parts_of

_AMPERE = (8, 0)  # the first with bf16 in its tensor cores
_HALF = 0.5
# Servers fill the device with their cache of keys and values on purpose.
_PREALLOCATE = frozenset({KindOfRun.SERVING, KindOfRun.CAPTURE})
_NO_GRADIENTS = frozenset({KindOfRun.INFERENCE, KindOfRun.EVALUATION, KindOfRun.GENERATION, KindOfRun.COMPUTATION})
_TRAINING = (
    "Cheapest first: `torch.autocast` (halves most activations), a smaller batch with accumulated gradients, "
    "`torch.utils.checkpoint` on the repeated blocks, an optimizer with less state."
)
_WITHOUT_GRADIENTS = (
    "Cheapest first: `torch.inference_mode()` if gradients are recorded, `torch.autocast` or weights in half precision "
    "(`model.bfloat16()`), a smaller batch, quantized weights."
)
_AUTOCAST = " The diff adds autocast: compare the loss."


@dataclass(frozen=True)
class MemoryNearLimit(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    reserved_share: float = threshold(0.9, "of the device: the next larger allocation may fail")
    retries: float = threshold(1, "each one synchronises the device and empties the cache")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the peak against the device's memory."""
        memory = results.get(MemoryPeak).primary
        if memory is None:
            if results.get(DeviceActivity).recorded is None:
                return without_device(self.name, results, "the device’s memory")
            return Abstention(
                self.name,
                "the memory of the device during the run",
                "Profile the cell with `%%gpuprofile`; a trace needs `profile_memory=True`.",
            )
        if (memory.ooms or 0) > 0 or (memory.retries or 0) >= self.retries:
            return self._finding(results, memory)
        peak = _highest(memory)
        if memory.limit_bytes is None or peak is None:
            return Abstention(
                self.name,
                "the size of the device’s memory and the peak in it",
                "The trace does not hold them; `%%gpuprofile` records them.",
            )
        if results.get(RunKind).kind in _PREALLOCATE:
            return None
        return self._finding(results, memory) if peak >= self.reserved_share * memory.limit_bytes else None

    def _finding(self, results: Results, memory: MemoryUse) -> Finding:
        peak, limit = _highest(memory), memory.limit_bytes
        share = peak / limit if peak is not None and limit else None
        failed = bool(memory.ooms)
        if failed:
            title = "The device ran out of memory"
        elif share is not None and share >= self.reserved_share:
            title = f"Memory peaks at {units.percent(share)} of the device"
        else:
            title = f"The allocator had to retry {units.plural(memory.retries or 0, 'time')} for want of memory"
        facts: dict[str, int | None] = {
            "peak_reserved_bytes": memory.peak_reserved_bytes,
            "peak_allocated_bytes": memory.whole_peak_bytes,
            "memory_bytes": limit,
            "transient_bytes": memory.transient_bytes,
            "activations_bytes": memory.activations_bytes,
            "allocation_retries": memory.retries,
            "out_of_memory_errors": memory.ooms,
        }
        diff = _diff(results, memory)
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if failed or memory.retries else Severity.MEDIUM,
            title=title,
            explanation=_explanation(memory),
            evidence={name: value for name, value in facts.items() if value is not None},
            where=at_peak(memory, results.get(PeakLines).of_device(memory.device)),
            change=(_WITHOUT_GRADIENTS if results.get(RunKind).kind in _NO_GRADIENTS else _TRAINING)
            + (_AUTOCAST if diff else ""),
            diff=diff,
        )


def _highest(memory: MemoryUse) -> int | None:
    return memory.peak_reserved_bytes or memory.whole_peak_bytes


def _explanation(memory: MemoryUse) -> str:
    of = f" of {units.size(memory.limit_bytes)}" if memory.limit_bytes else ""
    figures = (("allocated", memory.whole_peak_bytes), ("reserved", memory.peak_reserved_bytes))
    known = [f"{units.size(value)} {word}" for word, value in figures if value is not None]
    text = f"At most {' and '.join(known)}{of}." if known else "How much was allocated at most is not known."
    if memory.transient_bytes is not None and memory.stays_bytes is not None:
        text += f" {units.size(memory.transient_bytes)} come and go within a step"
        text += f", {units.size(memory.stays_bytes)} stay."
    if memory.retries or memory.ooms:
        text += (
            f" Allocations were retried {units.plural(memory.retries or 0, 'time')} and failed "
            f"{units.plural(memory.ooms or 0, 'time')}."
        )
    return text


def _diff(results: Results, memory: MemoryUse) -> str | None:
    """Autocast, where everything is calculated in 32 bits and activations (with temporaries) make half of the peak."""
    if memory.device is None or results.context.cell is None:
        return None
    parts, peak = parts_of(results, memory), memory.whole_peak_bytes
    rest = memory.activations_bytes
    if rest is None and parts is not None:
        rest = parts.rest_low_bytes
    capability = results.device(memory.device).compute_capability
    if not peak or rest is None or rest < _HALF * peak or capability is None or capability < _AMPERE:
        return None
    products = {each for each, spent in results.get(Kernels).by_precision.items() if spent} - {Precision.UNKNOWN}
    if not products or not products <= {Precision.FP32, Precision.TF32}:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.models.precision import add_autocast

        return add_autocast(source, "cuda", "bfloat16", known_models(results))

    return cell_diff(results, edit)
