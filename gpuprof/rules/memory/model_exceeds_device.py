"""The device ran out of memory because the model and its optimizer nearly fill it.

What it finds
    A run that ran out of device memory, in which parameters, gradients, buffers and optimizer state alone take at least
    80 % of the device.

Why it costs
    What stays from step to step leaves no room for activations: neither a smaller batch nor checkpointing helps.

What to do
    With several devices shard the model: `torch.distributed.fsdp.fully_shard`, tensor or pipeline parallelism. With
    one: an optimizer with 8-bit state, bf16 parameters, adapters (LoRA) on a frozen or quantised model, or state and
    parameters kept on the host (FSDP's CPU offload), which is slow.

When to leave it
    When another model on the device is what fills it: delete that first.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition, PeakParts
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.ranks.device_usage import DeviceUsage
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.device_memory import ran_out, without_parts


@dataclass(frozen=True)
class ModelExceedsDevice(Rule):
    """See the module."""

    kept_share: float = threshold(0.8, "of the device: what is left does not hold the activations of one sample")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what a failed run had to keep."""
        memory = results.get(MemoryPeak).primary
        if not ran_out(results, memory):
            return None
        parts = results.get(MemoryComposition).of_device(memory.device) if memory else None
        if parts is None or parts.kept_bytes is None:
            return without_parts(self.name)
        limit = memory.limit_bytes if memory else None
        if not limit:
            return Abstention(
                self.name, "the size of the device’s memory", "Profile the cell with `%%gpuprofile`, which records it."
            )
        kept = parts.kept_bytes + (parts.gradient_bytes or 0)
        return self._finding(results, parts, kept, limit) if kept >= self.kept_share * limit else None

    def _finding(self, results: Results, parts: PeakParts, kept: int, limit: int) -> Finding:
        several = results.get(DeviceUsage)
        devices = several.visible or 1
        if devices > 1 and not several.distributed:
            change = (
                f"Shard the model over the {devices} devices (`torch.distributed.fsdp.fully_shard`): "
                f"{units.size(kept / devices)} on each instead of {units.size(kept)}."
            )
        else:
            change = (
                "Keep less: an optimizer with 8-bit state (`bitsandbytes.optim.AdamW8bit`), parameters in bf16, or "
                "adapters (LoRA) on a frozen model; or shard over more devices (`torch.distributed.fsdp.fully_shard`)."
            )
        return Finding(
            rule=self.name,
            severity=Severity.HIGH,
            title=f"Model and optimizer take {units.percent(kept / limit)} of the device that ran out of memory",
            explanation=(
                f"Parameters {units.size(parts.parameter_bytes)}, gradients {units.size(parts.gradient_bytes)}, "
                f"optimizer state {units.size(parts.state_bytes)} and buffers {units.size(parts.buffer_bytes)} make "
                f"{units.size(kept)} of {units.size(limit)}, before any activation."
            ),
            evidence={
                "kept_bytes": kept,
                "kept_share": round(kept / limit, 4),
                "parameter_bytes": parts.parameter_bytes or 0,
                "gradient_bytes": parts.gradient_bytes or 0,
                "state_bytes": parts.state_bytes or 0,
                "memory_bytes": limit,
                "visible_devices": devices,
            },
            change=change,
        )
