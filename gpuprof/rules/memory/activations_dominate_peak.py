"""What forward keeps for backward makes most of a high memory peak.

What it finds
    A peak of at least 60 % of the device's memory, of which at least half was allocated in forward and still live when
    backward began: activations, kept for the gradients.

Why it costs
    Activations grow with the batch, the length of sequences and the resolution. They set the largest batch that fits,
    and near the limit the allocator begins to free and retry.

What to do
    Checkpoint the repeated blocks (`torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)`): only their
    inputs are kept and forward is computed again in backward, which costs some 20 to 33 % of time. Autocast halves
    most activations and makes the step faster at the same time: try it first.

When to leave it
    When the run fits and the batch need not grow: memory that is free buys nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.analyses.memory.peak_lines import PeakLines
from gpuprof.analyses.training.batch_norms import BatchNorms
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.memory.device_memory import at_peak

_CHECKPOINTED = " The diff checkpoints them: the result stays the same."


@dataclass(frozen=True)
class ActivationsDominatePeak(Rule):
    """See the module."""

    guard = Guard.EXACT

    activation_share: float = threshold(0.5, "of the peak: then they are what to reduce")
    peak_share: float = threshold(0.6, "of the device: below it memory is not what limits the run")
    near_limit_share: float = threshold(0.9, "of the device: the next larger batch will not fit")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what the peak is made of."""
        memory = results.get(MemoryPeak).primary
        peak = memory.whole_peak_bytes if memory else None
        if memory is None or peak is None:
            if results.get(DeviceActivity).recorded is None:
                return without_device(self.name, results, "the device’s memory")
            return _abstain(self.name)
        if not memory.limit_bytes:
            return Abstention(
                self.name,
                "the size of the device’s memory",
                "The trace has no `deviceProperties`; `%%gpuprofile` records them.",
            )
        if peak < self.peak_share * memory.limit_bytes:
            return None
        if memory.activations_bytes is None:
            return _abstain(self.name)
        if memory.activations_bytes < self.activation_share * peak:
            return None
        return self._finding(results, memory, (memory.activations_bytes, peak, memory.limit_bytes))

    def _finding(self, results: Results, memory: MemoryUse, sizes: tuple[int, int, int]) -> Finding:
        """`sizes`: of the activations, of the peak, and of the device, bytes."""
        kept, peak, limit = sizes
        share = kept / peak
        near = max(peak, memory.peak_reserved_bytes or peak) / limit >= self.near_limit_share or bool(memory.retries)
        diff = _diff(results, memory.device)
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if near else Severity.MEDIUM,
            title=f"Activations make {units.percent(share)} of the memory peak of {units.size(peak)}",
            explanation=(
                f"When backward begins, {units.size(kept)} allocated in forward are still live; the peak is "
                f"{units.percent(peak / limit)} of the device’s {units.size(limit)}."
            ),
            evidence={
                "activations_bytes": kept,
                "activation_share": round(share, 4),
                "peak_allocated_bytes": peak,
                "memory_bytes": limit,
                **({"peak_reserved_bytes": memory.peak_reserved_bytes} if memory.peak_reserved_bytes else {}),
                **({"allocation_retries": memory.retries} if memory.retries else {}),
            },
            where=at_peak(memory, results.get(PeakLines).of_device(memory.device)),
            change="Try `torch.autocast` first (most activations take half the memory); then checkpoint the repeated "
            "blocks of the model with `torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)`, which costs "
            f"some 20 to 33 % of time.{_CHECKPOINTED if diff else ''}",
            diff=diff,
        )


def _abstain(name: str) -> Abstention:
    return Abstention(
        name,
        "the allocator’s rows over at least two training steps",
        "Profile the cell with `%%gpuprofile --memory`; a trace needs `profile_memory=True`.",
    )


def _diff(results: Results, device: int | None) -> str | None:
    """The repeated blocks checkpointed; not where batch norms would count a batch twice."""
    parts = results.get(MemoryComposition).of_device(device)
    if results.get(BatchNorms).ran:
        return None
    known = {name for part in (parts.modules if parts else ()) for name in part.name.split(".")}

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.models.checkpoints import checkpoint_blocks

        return checkpoint_blocks(source, known)

    return cell_diff(results, edit)
