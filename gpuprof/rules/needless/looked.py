"""What rules about the close look share: when it shows too little, and lines in words."""

from __future__ import annotations

from collections.abc import Iterable

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines, UserLine
from gpuprof.rules.base.finding import Abstention

# of the operators of the looked-at iterations: what fewer say of shares may be wrong
SEEN_SHARE = 0.8
IN_PART = "The close look saw only part of an iteration, so the share of the cell comes from samples of these lines."
_HOW = "Profile the cell with `%%gpuprofile`: a few iterations after the recording are looked at."
_HOW_AFTER_ALL = "Record less of it, with `%%gpuprofile --max-seconds 2`: what comes after the recording is looked at."


def without_look(rule: str, results: Results, seen_share: float = SEEN_SHARE) -> Abstention | None:
    """None where the look saw enough."""
    look = results.context.look
    if look is None or look.skipped is not None or not look.places:
        why = f": {look.skipped}" if look is not None and look.skipped else ""
        return Abstention(
            rule,
            f"a close look at the operators and their tensors{why}",
            _HOW_AFTER_ALL if _recorded_to_the_end(results) else _HOW,
        )
    if look.operators_share is None or look.operators_share < seen_share:
        return Abstention(
            rule,
            "a close look at whole iterations: it ended before",
            "A smaller batch or model has the same operators and takes less time to look at.",
        )
    return None


def _recorded_to_the_end(results: Results) -> bool:
    look, window = results.context.look, results.context.window
    return look is not None and look.skipped is not None and window is not None and window.ended_by == "cell"


def cell_lines(results: Results, places: Iterable[int]) -> tuple[int, ...]:
    """Those of them that are lines of the profiled cell."""
    found = (results.get(LookedLines).line(place) for place in places)
    return tuple(sorted({line.line for line in found if line is not None and line.in_cell}))


def line_words(line: UserLine | None) -> str:
    """`line 16`, `line 3 of In [2]`, `line 40 of model.py`; `a library` where no line of the user's is known."""
    if line is None:
        return "a library"
    if line.in_cell:
        return f"line {line.line}"
    if line.execution_count is not None:
        return f"line {line.line} of In [{line.execution_count}]"
    return f"line {line.line} of {line.file.replace(chr(92), '/').rpartition('/')[2]}"
