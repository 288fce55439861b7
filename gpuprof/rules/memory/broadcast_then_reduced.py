"""Two tensors are broadcast against each other, and the large result is reduced at once.

What it finds
    A line such as `diff = a[:, None, :] - b[None, :, :]` whose result a sum, a norm or a maximum takes right away, and
    in whose lines the memory of the process is highest. At least a fifth of that peak comes and goes with it.

Why it costs
    The result has all pairs of rows times their length. Each element-wise step after it makes another one as large. All
    of that is written to memory and read again, although only one number per pair is kept.

What to do
    Use the function that makes only the pairs: `torch.cdist(a, b)` for distances, a product of matrices or
    `torch.einsum` for sums of products. Where there is none, take the rows of one side in smaller chunks.

When to leave it
    When memory is not short and the lines take little time.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.transient_memory import BroadcastMemory, TransientMemory
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.saved_memory import HIGH_SHARE, LEAST_MIB, MEDIUM_SHARE, MIB, SavedMemory


@dataclass(frozen=True)
class BroadcastThenReduced(Rule):
    """See the module."""

    saved_mib: float = threshold(LEAST_MIB, "less limits nothing")
    saved_share: float = threshold(0.2, "of the peak: less matters little")
    medium_share: float = threshold(MEDIUM_SHARE, "of the peak: then it limits what else fits")
    high_share: float = threshold(HIGH_SHARE, "of the peak: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what comes and goes with the broadcast."""
        memory = results.get(TransientMemory)
        found = memory.found
        if found is None:
            return None if memory.known else self._unknown()
        saved = SavedMemory("the process", found.comes_and_goes_bytes, found.peak_bytes)
        if saved.saved_bytes < self.saved_mib * MIB or saved.share < self.saved_share:
            return None
        written = found.broadcast
        here = () if written.file else written.lines
        return Finding(
            rule=self.name,
            severity=saved.severity(self.high_share, self.medium_share),
            title=f"A temporary broadcast result takes {units.size(saved.saved_bytes)}, "
            f"{units.percent(saved.share)} of the memory peak",
            explanation=(
                f"Line {written.made} computes every pair at full length, and "
                f"{'' if written.made == written.reduced else f'line {written.reduced} '}reduces each pair to one "
                f"number. {saved.words()}"
            ),
            evidence={**saved.evidence(), "low_bytes": found.low_bytes},
            where=Where(lines=here),
            change=_change(found),
        )

    def _unknown(self) -> Abstention:
        return Abstention(
            self.name,
            "in which lines the memory of the process was high",
            "Profile the cell with `%%gpuprofile`, without `--no-lines`.",
        )


def _change(found: BroadcastMemory) -> str:
    function = (
        "`torch.cdist(a, b)`, which makes only the distances"
        if found.broadcast.differs
        else ("a matrix product or `torch.einsum`, which makes only the sums")
    )
    made, reduced = found.broadcast.made, found.broadcast.reduced
    lines = f"line {made}" if made == reduced else f"lines {made} to {reduced}"
    return f"Use {function}, in place of {lines}; or smaller chunks."
