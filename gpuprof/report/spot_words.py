"""Where a hot spot is and what ran there, in the words that the verdict and every view use."""

from __future__ import annotations

from pathlib import PurePath

from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.model.kernel_names import short_name
from gpuprof.units import percent

_LONGEST = 60
OWN_CODE = "its own code"


def place(spot: HotSpot) -> str:
    """`line 12 of the cell`, `line 7 of In [3] (called from line 40)`, or a line of a module; empty where unknown."""
    if spot.source_file is None:
        return ""
    where = "the cell" if spot.is_cell else f"In [{spot.execution_count}]"
    if not spot.is_cell and spot.execution_count is None:
        where = PurePath(spot.source_file).name
    line = "" if spot.line is None else f"line {spot.line} of "
    called = "" if spot.is_cell or spot.cell_line is None else f" (called from line {spot.cell_line} of the cell)"
    return f"{line}{where}{called}"


def what(spot: HotSpot) -> str:
    """What ran there; a kernel by its short name."""
    return short_name(spot.what) if spot.what else OWN_CODE


def in_short(spot: HotSpot) -> str:
    """`54 % line 34 of the cell (optimizer, torch.optim.adam.Adam.step)`."""
    ran = short_name(spot.what)
    known = [spot.phase.value if spot.phase else "", ran]
    named = ", ".join(each for each in known if each)
    where = place(spot)
    if not where:
        ran = ran if len(ran) <= _LONGEST else ran[:_LONGEST] + "…"
        return f"{percent(spot.share)} {ran}" + (f" ({spot.phase.value})" if spot.phase else "")
    return f"{percent(spot.share)} {where}" + (f" ({named})" if named else "")
