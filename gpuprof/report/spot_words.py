"""Where a hot spot is and what ran there, in the words that the verdict and every view use."""

from __future__ import annotations

from pathlib import PurePath

from gpuprof.analyses.accounts.cell_memory import CellMemory, MemoryAt
from gpuprof.analyses.accounts.hot_spot import HotSpot, is_import
from gpuprof.model.kernel_names import function_name
from gpuprof.units import percent, size

# of a spot's time: with less there is something else to name
_NEARLY_ALL = 0.8
# less than that of a spot may be more than all of the phase
_ALL = 0.95
# of the growth of the process: less changes nothing that is said of it
_GAPS = 0.2
OWN_CODE = "its own code"


def place(spot: HotSpot | MemoryAt) -> str:
    """`line 12 of the cell`, `line 7 of In [3] (called from line 40)`, or a line of a module; empty where unknown. Of
    several lines: `lines 4, 7 and 9 of Head.forward in In [3]`.

    A model's line is called from the line that calls the model, a function's from the line that calls the function; a
    line of a module of the user's from a line of the cell.
    """
    if spot.source_file is None:
        return ""
    line = "" if spot.line is None else f"line {spot.line} of "
    if isinstance(spot, HotSpot) and spot.lines:
        line = _several(spot)
    own = f"{line}{_source(spot.source_file, spot.is_cell, spot.execution_count)}"
    caller = spot.called_from if isinstance(spot, HotSpot) else None
    if caller is not None:
        named = _source(caller.source_file, caller.is_cell, caller.execution_count)
        return f"{own} (called from line {caller.line} of {named})"
    called = "" if spot.is_cell or spot.cell_line is None else f" (called from line {spot.cell_line} of the cell)"
    return f"{own}{called}"


def _several(spot: HotSpot) -> str:
    """`lines 4, 7 and 9 of Head.forward in `."""
    told = [str(line) for line, _ in spot.lines]
    last = f"{spot.more_lines} more" if spot.more_lines else told.pop()
    return f"lines {', '.join(told)} and {last} of {(spot.function or '').replace('<locals>.', '')} in "


def _source(source_file: str, is_cell: bool, execution_count: int | None) -> str:
    if is_cell:
        return "the cell"
    return f"In [{execution_count}]" if execution_count is not None else PurePath(source_file).name


def what(spot: HotSpot) -> str:
    """What ran there; a kernel by its short name. `mostly …` where the line also runs other things."""
    if not spot.what:
        return OWN_CODE
    mostly = "mostly " if spot.what_share is not None and spot.what_share < _NEARLY_ALL else ""
    # a name that only the text gives: no function was seen there
    call = "its call of " if spot.by_text else ""
    once = ", once" if is_import(spot) else ""
    return f"{mostly}{call}{function_name(spot.what)}{once}"


def spot_phase(spot: HotSpot) -> str:
    """`backward`; `mostly backward` where the line also runs in other phases; `GPU idle` of what the CPU did meanwhile;
    empty where it is not known."""
    if spot.idle:
        return "GPU idle"
    if spot.phase is None:
        return ""
    mostly = "mostly " if spot.phase_share is not None and spot.phase_share < _ALL else ""
    return f"{mostly}{spot.phase.value}"


def without_package(words: str) -> str:
    """The class and function of a dotted name: `mostly torch.optim.adam.Adam.step` becomes `mostly Adam.step`."""
    before, _, name = words.rpartition(" ")
    parts = name.split(".")
    if len(parts) <= 2 or not all(part.isidentifier() for part in parts):
        return words
    short = parts[-2:] if parts[-2].lstrip("_")[:1].isupper() else parts[-1:]
    return " ".join(filter(None, (before, ".".join(short))))


def brief(name: str) -> str:
    """A function's or kernel's name as a sentence can hold it."""
    return function_name(name)


def in_short(spot: HotSpot) -> str:
    """`54 % line 34 of the cell (optimizer, torch.optim.adam.Adam.step)`."""
    ran = what(spot) if spot.what else ""
    known = [spot_phase(spot), ran]
    named = ", ".join(each for each in known if each)
    where = place(spot)
    if not where:
        return f"{percent(spot.share)} {brief(spot.what)}" + (f" ({spot_phase(spot)})" if spot_phase(spot) else "")
    return f"{percent(spot.share)} {where}" + (f" ({named})" if named else "")


def memory_words(found: CellMemory) -> str:
    """`Resident memory of the process: 343 MiB when the cell began, at most 1.08 GiB (line 39 of the cell, …).`

    Empty where it hardly rose.
    """
    if found.peak is None:
        return ""
    held = f"{size(found.start_bytes)} when the cell began, at most {size(found.peak_bytes)} ({_where(found.peak)})"
    if found.recorded:
        held += " during the recording, which itself takes memory"
    if found.rest_bytes is not None:
        held += f", and {size(found.rest_bytes)} in the rest of the cell"
    grown = "; ".join(f"{size(each.bytes)} at {_where(each)}" for each in found.grown)
    rose = (found.peak_bytes or 0) - (found.start_bytes or 0)
    gaps = f" Up to {size(found.gaps_bytes)} of the growth may be unused memory between the profiler’s own records."
    growth = f" Before that it grew by {grown}." if grown else ""
    return f"Resident memory of the process: {held}.{growth}{gaps if found.gaps_bytes > _GAPS * rose else ''}"


def _where(at: MemoryAt) -> str:
    return f"{place(at)}, {at.phase.value}" if place(at) else at.phase.value
