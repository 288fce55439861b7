"""The memory of the process is highest while one call makes large temporary results.

What it finds
    A line, outside of training steps and of loops over parts, within which the process holds the most, and which gives
    a quarter of that or more back when it is done.

Why it costs
    The peak decides whether the cell fits, and how large data and model can be. All rows of a data set at once need
    memory for all of them at once, although what is kept of each may be one number.

What to do
    Do it for some rows at a time, and write each part into its place in a tensor that is made once: `out[i:j] =
    f(x[i:j])`. Where `x` is not needed any more and its parts keep their size, `out` can be `x`. `torch.cat` of all
    parts holds each result twice for a moment: it is for small results.

    Reading a file, fitting an estimator, a decomposition, a merge or a sort has no rows to take one by one, and is a
    minor finding. Read less (`usecols`, `dtype`, `chunksize`), or give it less: fewer columns, float32, `partial_fit`,
    a sample of the rows.

When to leave it
    When memory is not short, or when each row needs all the others at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.given_back import GivenBack, UserFrame, WholeCall
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.saved_memory import HIGH_SHARE, LEAST_MIB, MEDIUM_SHARE, MIB, SavedMemory

_MOST_INSIDE = 2
_IN_ROWS = (
    "Do the work of {where} for some rows at a time, where its rows do not depend on each other, and write each part "
    "into its place in a tensor that is made once: `out[i:j] = f(x[i:j])`. Where `x` is not needed any more and its "
    "parts keep their size, `out` can be `x`. Small results can also be put together by `torch.cat`, which holds them "
    "twice for a moment. Results differ by rounding at most."
)
_OF_ALL = {
    WholeCall.READING: "Read less in {where}: the columns that are used (`usecols`), in narrower types (`dtype`), or a "
    "part of the file at a time (`chunksize`).",
    WholeCall.FITTING: "Fit with less in {where}: float32 input, `partial_fit` where the estimator has it, or a sample "
    "of the rows.",
    WholeCall.FACTORING: "Give {where} less: float32 input, `full_matrices=False` for a singular value decomposition, "
    "or a sample of the rows.",
    WholeCall.ORDERING: "Give {where} less: only the columns that are used, in narrower types (float32, `category`). "
    "Large columns can be taken afterward, by the index that comes out.",
}


@dataclass(frozen=True)
class TemporaryPeak(Rule):
    """See the module."""

    saved_mib: float = threshold(LEAST_MIB, "less limits nothing")
    saved_share: float = threshold(0.25, "of the peak: less matters little")
    medium_share: float = threshold(MEDIUM_SHARE, "of the peak: then it limits what else fits")
    high_share: float = threshold(HIGH_SHARE, "of the peak: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what the call in which memory is highest gives back."""
        found = results.get(GivenBack)
        if not found.known:
            return Abstention(
                self.name,
                "in which lines the memory of the process was high",
                "Profile the cell with `%%gpuprofile`, without `--no-lines`.",
            )
        saved = SavedMemory("the process", found.given_back_bytes, found.peak_bytes)
        if not found.calls or found.in_steps or found.in_pieces or saved.saved_bytes < self.saved_mib * MIB:
            return None
        if saved.share < self.saved_share:
            return None
        outer = found.calls[0]
        mine = sorted({each.line for each in found.calls if each.is_cell})
        where = _words(outer)
        return Finding(
            rule=self.name,
            severity=Severity.LOW if found.work else saved.severity(self.high_share, self.medium_share),
            title=f"Temporary results of {where} take {units.size(saved.saved_bytes)}, "
            f"{units.percent(saved.share)} of the memory peak",
            explanation=(
                f"While {where} runs{_inside(found.calls)}, the process holds up to {units.size(found.peak_bytes)}; at "
                f"other times {units.size(found.low_bytes)} at most. {saved.words()}"
            ),
            evidence={**saved.evidence(), "low_bytes": found.low_bytes, "turns": found.turns},
            where=Where(lines=tuple(mine)),
            change=_IN_ROWS.format(where=where) if found.work is None else _OF_ALL[found.work].format(where=where),
        )


def _words(frame: UserFrame) -> str:
    if frame.is_cell:
        return f"line {frame.line}"
    return f"line {frame.line} of {frame.file if frame.count is None else f'In [{frame.count}]'}"


def _inside(calls: tuple[UserFrame, ...]) -> str:
    """`, inside it line 61`."""
    inner = list(dict.fromkeys(_words(each) for each in calls[1:] if each.line != calls[0].line))[-_MOST_INSIDE:]
    return f", inside it {' and '.join(inner)}" if inner else ""
