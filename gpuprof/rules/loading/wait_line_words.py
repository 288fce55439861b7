"""What is said of the line that takes most of a wait for data."""

from __future__ import annotations

from pathlib import PurePath

from gpuprof import units
from gpuprof.analyses.loading.wait_lines import WaitLine

# of the line's time: with less it also does other things
_NEARLY_ALL = 0.8


def line_words(line: WaitLine) -> str:
    """`line 12`, `line 3 of In [4]`, `line 7 of data.py`."""
    if line.is_cell:
        return f"line {line.line}"
    count = line.execution_count
    return f"line {line.line} of {PurePath(line.file).name if count is None else f'In [{count}]'}"


def line_explanation(line: WaitLine | None) -> str:
    """A sentence with its share of the wait and what it calls; empty without a line."""
    if line is None:
        return ""
    if not line.call:
        what = ""
    elif line.call_share < _NEARLY_ALL:
        what = f", mostly its call of `{line.call}`"
    else:
        what = f", in its call of `{line.call}`"
    return f" Of the wait {units.percent(line.share)} is {line_words(line)}{what}."


def line_evidence(line: WaitLine | None) -> dict[str, float | int | str]:
    """What was sampled of it."""
    if line is None:
        return {}
    return {"line_share": round(line.share, 4), **({"call": line.call} if line.call else {})}


def line_cheaper(line: WaitLine, *, on_device: bool) -> str:
    """How to make it cheaper, by what it calls; without the full stop."""
    where = line_words(line)
    if line.reads:
        return (
            f"Make {where} cheaper first. It reads or decodes stored data each time: do that once and keep the result, "
            'or store the data decoded and open the file with `np.load(path, mmap_mode="r")`'
        )
    device = ", move it to the device" if on_device else ""
    return (
        f"Make {where} cheaper first: compute once what stays the same, do the rest for whole batches "
        f"(`__getitems__`){device}, or take it out of the loop"
    )
