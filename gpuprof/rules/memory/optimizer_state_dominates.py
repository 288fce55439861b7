"""What the optimizer remembers makes much of a high memory peak.

What it finds
    Optimizer state (the two moments of Adam, a momentum) of at least 40 % of the peak, on a device whose memory is
    more than 60 % used. Exact: the tensors in `optimizer.state`, by storage.

Why it costs
    Adam in fp32 keeps 8 bytes for every parameter, as much as parameters and gradients together, whether the batch is
    large or small.

What to do
    Keep the state in 8 bits (`bitsandbytes.optim.AdamW8bit`, a drop-in), or factored (`torch.optim.Adafactor`).
    With several devices shard it: FSDP (`torch.distributed.fsdp.fully_shard`) or
    `torch.distributed.optim.ZeroRedundancyOptimizer`. In fine-tuning, train adapters (LoRA): frozen parameters have
    no state.

When to leave it
    When the run fits and neither model nor batch need grow. Another optimizer is another training: compare the loss.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import PeakParts
from gpuprof.analyses.memory.memory_peak import MemoryUse
from gpuprof.analyses.ranks.device_usage import DeviceUsage
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.device_memory import judged_memory, near_limit, parts_of, trains, without_parts

_BYTES_IN_FP32 = 7.5  # an element: two moments of 4 bytes, shared or small tensors aside
_MOMENTS = ("Adam", "AdamW", "NAdam", "RAdam", "Adamax")


@dataclass(frozen=True)
class OptimizerStateDominates(Rule):
    """See the module."""

    state_share: float = threshold(0.4, "of the peak: then the state is what to reduce")
    peak_share: float = threshold(0.6, "of the device: below it memory is not what limits the run")
    near_limit_share: float = threshold(0.9, "of the device: nothing larger will fit")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the optimizer's share of the peak."""
        if not trains(results):
            return None
        judged = judged_memory(self.name, results)
        if isinstance(judged, Abstention):
            return judged
        memory, peak, limit = judged
        if peak < self.peak_share * limit:
            return None
        parts = parts_of(results, memory)
        if parts is None or parts.state_bytes is None:
            return without_parts(self.name)
        if parts.state_bytes < self.state_share * peak:
            return None
        return self._finding(results, memory, parts, parts.state_bytes, peak, limit)

    def _finding(
        self, results: Results, memory: MemoryUse, parts: PeakParts, state: int, peak: int, limit: int
    ) -> Finding:
        optimizers = results.context.optimizers
        names = ", ".join(dict.fromkeys(each.name for each in optimizers)) or "the optimizer"
        lines = tuple(sorted({each.line for each in optimizers if each.line is not None}))
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if near_limit(memory, self.near_limit_share) else Severity.MEDIUM,
            title=f"The optimizer’s state takes {units.percent(state / peak)} of the memory peak",
            explanation=(
                f"{names} keeps {units.size(state)}, beside {units.size(parts.parameter_bytes)} of parameters and "
                f"{units.size(parts.gradient_bytes)} of gradients; the peak is {units.size(peak)} of the device’s "
                f"{units.size(limit)}."
            ),
            evidence={
                "state_bytes": state,
                "state_share": round(state / peak, 4),
                "parameter_bytes": parts.parameter_bytes or 0,
                "gradient_bytes": parts.gradient_bytes or 0,
                "peak_allocated_bytes": peak,
                "memory_bytes": limit,
                "optimizer": names,
            },
            where=Where(lines=lines),
            change=_change(results, state),
        )


def _change(results: Results, state: int) -> str:
    optimizers = results.context.optimizers
    elements = sum(each.elements for each in optimizers)
    in_fp32 = bool(elements) and state >= _BYTES_IN_FP32 * elements
    advice = "Use an optimizer with less state: `torch.optim.Adafactor` keeps a fraction of it."
    if in_fp32 and all(each.name in _MOMENTS for each in optimizers):
        advice = (
            f"Keep the state in 8 bits (`bitsandbytes.optim.AdamW8bit` in place of `{optimizers[0].name}`): about "
            f"{units.size(state / 4)} instead of {units.size(state)}."
        )
    several = results.get(DeviceUsage)
    if several.visible is not None and several.visible > 1 and not several.distributed:
        advice += (
            f" Or shard parameters, gradients and state over the {several.visible} devices with "
            "`torch.distributed.fsdp.fully_shard`."
        )
    return advice
