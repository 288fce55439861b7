"""Two tensors are broadcast against each other, and the large result is reduced at once.

What it finds
    A line such as `diff = a[:, None, :] - b[None, :, :]` whose result a sum, a norm or a maximum takes right away, and
    in whose lines the memory of the process is highest. At least a fifth of that peak comes and goes with it.

Why it costs
    The result has all pairs of rows, often times their length. Each element-wise step after it makes another one as
    large. All of that is written to memory and read again, although only what is reduced is kept.

What to do
    For distances between rows `torch.cdist(a, b)`, SciPy's `cdist` for NumPy arrays, and for sums of products a matrix
    product or `einsum`: they make only what is kept. They are named where the text shows that the lines compute no more
    than that. Otherwise (a maximum of sums, a kernel of single numbers, differences that are needed again) compute the
    lines for part of the rows at a time. For Euclidean distances of many rows `torch.cdist` uses a matrix product,
    which loses digits where rows are close: `compute_mode="donot_use_mm_for_euclid_dist"` keeps them.

When to leave it
    When memory is not short and the lines take little time.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.broadcast_forms import Form, Reduced
from gpuprof.analyses.memory.transient_memory import BroadcastMemory, TransientMemory
from gpuprof.analyses.memory.written_broadcasts import WrittenBroadcast
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
            title=f"Temporary results of a broadcast take {units.size(saved.saved_bytes)}, "
            f"{units.percent(saved.share)} of the memory peak",
            explanation=f"{_explained(written)} {saved.words()}",
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


def _explained(written: WrittenBroadcast) -> str:
    by = "" if written.made == written.reduced else f"line {written.reduced} "
    if written.becomes.rows_shown:
        return f"Line {written.made} computes every pair at full length, and {by}reduces each pair to one number."
    return f"Line {written.made} broadcasts to a large result, and {by}reduces it."


def _change(found: BroadcastMemory) -> str:
    made, reduced, becomes = found.broadcast.made, found.broadcast.reduced, found.broadcast.becomes
    lines = f"line {made}" if made == reduced else f"lines {made} to {reduced}"
    in_parts = "for part of the rows at a time, and join what is left of each part"
    if becomes.form is Form.OTHER:
        return f"Compute {lines} {in_parts}."
    call, makes = _instead(becomes)
    use = "Use" if becomes.form is Form.PRODUCTS or becomes.rows_shown else "Where both have rows and features, use"
    return f"{use} {call}, which makes only {makes}, in place of {lines}; or compute it {in_parts}."


def _instead(becomes: Reduced) -> tuple[str, str]:
    """The call, and what it makes."""
    if becomes.form is Form.PRODUCTS:
        return f"a matrix product or {_call(becomes, 'torch.einsum', 'np.einsum')}", "the sums"
    if becomes.form is Form.ABSOLUTE:
        call = _call(becomes, "torch.cdist(a, b, p=1)", 'scipy.spatial.distance.cdist(a, b, "cityblock")')
        return call, "the sums of absolute differences"
    call = _call(becomes, "torch.cdist(a, b)", "scipy.spatial.distance.cdist(a, b)")
    return call, "the distances (square them where you need squares)"


def _call(becomes: Reduced, of_torch: str, of_numpy: str) -> str:
    if becomes.library:
        return f"`{of_torch if becomes.library == 'torch' else of_numpy}`"
    return f"`{of_torch}` (NumPy: `{of_numpy}`)"
