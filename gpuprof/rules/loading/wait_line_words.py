"""What is said of the line that takes most of a wait for data."""

from __future__ import annotations

from pathlib import PurePath

from gpuprof import units
from gpuprof.analyses.loading.wait_lines import WaitLine

# of the line's time: with less it also does other things
_NEARLY_ALL = 0.8


def line_words(line: WaitLine) -> str:
    """`line 12`, `line 3 of In [4]`, or a line of a module by the name of its file."""
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
        what = f", mostly in its call of `{line.call}`"
    else:
        what = f", in its call of `{line.call}`"
    inner = f" ({units.percent(line.inner_share)} line {line.inner_line})" if line.inner_line is not None else ""
    return f" L{line_words(line)[1:]} takes {units.percent(line.share)} of the wait{what}{inner}."


def cell_lines(line: WaitLine | None) -> tuple[int, ...]:
    """The lines of the profiled cell."""
    if line is None or not line.is_cell:
        return ()
    return (line.line,) if line.inner_line is None else (line.line, line.inner_line)


def line_evidence(line: WaitLine | None) -> dict[str, float | int | str]:
    """What was sampled of it."""
    if line is None:
        return {}
    return {"line_share": round(line.share, 4), **({"call": line.call} if line.call else {})}


def line_cheaper(line: WaitLine, *, on_device: bool, anew: bool) -> str:
    """How to make it cheaper, by what it calls; without the full stop. `anew`: samples differ each time."""
    where = line_words(line)
    if line.reads:
        return (
            f"Make {where} cheaper first. It reads or decodes stored data each time: do that once and keep the result, "
            'or store the decoded arrays as `.npy` files, opened with `np.load(path, mmap_mode="r")`'
        )
    if on_device:
        once = "" if anew else "compute what stays the same once, before the loop, and the rest "
        return (
            f"Make {where} cheaper first: {once or 'compute it '}for whole batches or on the device instead of single "
            "samples (`__getitems__`)"
        )
    once = "" if anew else ", and once what stays the same"
    return (
        f"Reduce the work of {where}: it is the dataset’s own, and takes the time. Compute only what is kept of it"
        f"{once}; for whole batches (`__getitems__`) where its calls are short"
    )


def line_leave_it(line: WaitLine | None) -> str:
    """When to leave it as it is; empty without a line: the rule has its own words."""
    if line is None:
        return ""
    if line.reads:
        return "Leave it when the data fit neither in memory nor, decoded, on the disk."
    return "Leave it when the result is a new one each time and cannot be computed for whole batches."
