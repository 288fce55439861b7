"""The scores that the loss is computed from make much of the memory peak.

What it finds
    A cross-entropy over many classes (a vocabulary, the pixels of a map) whose input alone, rows × classes, is at
    least a quarter of the peak, on a device whose memory is more than half used.

Why it costs
    The scores exist several times: as the model gives them, as log-probabilities, and as their gradient, often in
    fp32. They are there for an instant only, but that instant sets the peak, and with it the largest batch.

What to do
    Compute projection and loss in pieces of some thousand rows, each under `torch.utils.checkpoint.checkpoint`, so
    that one piece is alive at a time; or use a fused linear cross-entropy (Liger's `LigerFusedLinearCrossEntropyLoss`),
    which never stores the scores. Leave out the rows whose label is ignored before projecting them.

When to leave it
    When the run fits and the batch need not grow: memory that is free buys nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.memory.logits import Logits
from gpuprof.analyses.memory.memory_peak import MemoryUse
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.device_memory import at_peak, judged_memory, near_limit


@dataclass(frozen=True)
class LogitsDominatePeak(Rule):
    """See the module."""

    logits_share: float = threshold(0.25, "of the peak in one such tensor; with its copies that is most of it")
    peak_share: float = threshold(0.5, "of the device: below it memory is not what limits the run")
    near_limit_share: float = threshold(0.9, "of the device: the next larger batch will not fit")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the largest input of a loss."""
        found = results.get(Logits)
        if not found.calls:
            return None
        judged = judged_memory(self.name, results)
        if isinstance(judged, Abstention):
            return judged
        memory, peak, limit = judged
        if peak < self.peak_share * limit:
            return None
        if found.bytes is None:
            return Abstention(
                self.name,
                "the size of what the loss is computed from",
                "Profile the cell with `%%gpuprofile --shapes`.",
            )
        share = found.bytes / peak
        return self._finding(results, found.bytes, memory, peak, limit) if share >= self.logits_share else None

    def _finding(self, results: Results, size: int, memory: MemoryUse, peak: int, limit: int) -> Finding:
        found = results.get(Logits)
        shape = ""
        if found.rows is not None and found.classes is not None:
            shape = f" ({units.count(found.rows)} rows × {units.count(found.classes)} classes)"
        at = () if found.start_ns is None or found.end_ns is None else ((found.start_ns, found.end_ns),)
        return Finding(
            rule=self.name,
            severity=Severity.HIGH if near_limit(memory, self.near_limit_share) else Severity.MEDIUM,
            title=f"The scores given to the loss take {units.percent(size / peak)} of the memory peak",
            explanation=(
                f"One such tensor{shape} takes {units.size(size)} of a peak of {units.size(peak)}, on a device of "
                f"{units.size(limit)}. Its log-probabilities and its gradient take as much again each."
            ),
            evidence={
                "logits_bytes": size,
                "logits_share": round(size / peak, 4),
                **({"rows": found.rows} if found.rows is not None else {}),
                **({"classes": found.classes} if found.classes is not None else {}),
                "peak_allocated_bytes": peak,
                "memory_bytes": limit,
            },
            where=Where(
                lines=results.get(LinePlaces).cell_lines(Intervals(*np.array(at, np.int64).reshape(-1, 2).T)),
                ranges_ns=tuple(sorted((*at, *at_peak(memory).ranges_ns))),
            ),
            change="Compute the last layer and the loss together in pieces, each under "
            "`torch.utils.checkpoint.checkpoint(..., use_reentrant=False)`: in 8 pieces the scores take "
            f"{units.size(size / 8)} at a time. A fused linear cross-entropy (Liger) does the same in one call. Leave "
            "out rows whose label is ignored before the last layer.",
        )
