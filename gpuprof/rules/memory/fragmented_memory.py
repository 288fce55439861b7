"""Memory is reserved that serves no tensor when it is needed most.

What it finds
    At the peak, or with allocations that failed or had to be retried, at least 30 % of the memory that torch has
    reserved is free, and yet the device is nearly full.

Why it costs
    The free pieces lie between live tensors and are too small for what is asked for. The allocator empties its cache,
    which makes the whole device wait, and tries again; if that does not help the run ends, with memory to spare.

What to do
    Start with `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` (torch 2.1 and later, on Linux): segments grow in
    place and few pieces are left over. Keep shapes fixed: pad to a few lengths, drop the last short batch, run the
    largest shape first.

When to leave it
When nothing is retried and the device is not full. What is reserved and free is a cache, and torch gives it back when
it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.memory.memory_peak import MemoryUse
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.device_memory import at_peak, judged_memory, ran_out


@dataclass(frozen=True)
class FragmentedMemory(Rule):
    """See the module."""

    unused_share: float = threshold(0.3, "of the reserved memory free at the peak: some is always left over")
    reserved_share: float = threshold(0.85, "of the device reserved: below it free memory is a harmless cache")
    failed_share: float = threshold(0.6, "of it where allocations failed: below that one of them was simply too large")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what is reserved against what is used."""
        judged = judged_memory(self.name, results)
        if isinstance(judged, Abstention):
            return judged
        memory, peak, limit = judged
        parts = results.get(MemoryComposition).of_device(memory.device)
        unused = parts.unused_reserved_bytes if parts else None
        if parts is None or unused is None:
            return _without_rows(self.name)
        share = unused / (peak + unused) if peak + unused else 0.0
        failed = bool(memory.retries) or ran_out(results, memory)
        full = peak + unused >= self.reserved_share * limit
        if share < self.unused_share:
            return None
        if (full and parts.same_instant) or (failed and peak + unused >= self.failed_share * limit):
            return self._finding(results, memory, peak, unused, limit)
        # the maxima of the statistics may be of different times: alone they prove nothing
        return None if parts.same_instant or not full else _without_rows(self.name)

    def _finding(self, results: Results, memory: MemoryUse, peak: int, unused: int, limit: int) -> Finding:
        share = unused / (peak + unused)
        retries, ooms = memory.retries or 0, memory.ooms or 0
        failed = (
            f" Allocations were retried {units.plural(retries, 'time')} and failed {units.plural(ooms, 'time')}."
            if retries or ooms
            else ""
        )
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if failed or ran_out(results, memory) else Severity.MEDIUM,
            title=f"{units.percent(share)} of the reserved memory holds no tensor at the peak",
            explanation=(
                f"Of {units.size(peak + unused)} reserved on a device of {units.size(limit)}, {units.size(peak)} were "
                f"allocated and {units.size(unused)} free when most was needed.{failed}"
            ),
            evidence={
                "unused_reserved_bytes": unused,
                "unused_share": round(share, 4),
                "peak_allocated_bytes": peak,
                "memory_bytes": limit,
                **({"allocation_retries": retries} if memory.retries is not None else {}),
                **({"out_of_memory_errors": ooms} if memory.ooms is not None else {}),
                **_left_over(results, memory.device),
            },
            where=at_peak(memory),
            change=_change(results),
        )


def _without_rows(name: str) -> Abstention:
    return Abstention(
        name,
        "how much memory was reserved at the peak",
        "Profile the cell with `%%gpuprofile --memory`; traces have it since torch 1.12.",
    )


def _left_over(results: Results, device: int | None) -> dict[str, int]:
    found = [each.inactive_split_bytes for each in results.context.allocators if each.device == device]
    return {"inactive_split_bytes": found[0]} if found and found[0] is not None else {}


def _change(results: Results) -> str:
    environment = results.context.environment
    config = (environment.allocator_config or "") if environment else ""
    if "expandable_segments:true" in config.lower():
        return (
            "Expandable segments are on already: keep the shapes fixed (pad to a few lengths, `drop_last=True`), and "
            "run the largest one first."
        )
    return (
        "Start the kernel with `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` (set before torch first uses the "
        "device; on Linux). Keep the shapes fixed: pad to a few lengths, `drop_last=True`."
    )
