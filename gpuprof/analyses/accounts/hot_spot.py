"""One place where much of the time goes."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.accounts.phase import Phase

MOST = 5
LEAST_SHARE = 0.03
# of a function whose lines are small each by itself
MOST_LINES = 6
_IMPORTS = ("import of ", "importlib.")


@dataclass(frozen=True)
class CalledFrom:
    """The line of the user's code that called the model, or the spot's function: `source_file` as it was sampled;
    `is_cell`: the profiled cell;
    `execution_count` of its cell, None for a module."""

    source_file: str
    is_cell: bool
    execution_count: int | None
    line: int


@dataclass(frozen=True)
class HotSpot:
    """`ns` and `share` (0..1) of the whole cell where it was sampled, else of the recorded span.

    `phase`: of most of it, `phase_share` of the spot's time, 0..1, None where it is not known.
    `source_file`: the name of the file as it was sampled, None where no line is known; `is_cell`: it is the profiled
    cell. `cell_line`: the line of the profiled cell that led there. `function` of the user's own. `what` ran at the
    leaf: a library's function, or an operator; `what_share` of the spot's time, 0..1, None where that is not known.
    `by_text`: nothing was seen below the line, and `what` is the one call that its text has.
    `error`: the standard error of the share, where it was sampled. `called_from`: where the line belongs to a model,
    the line that called the model; to another function, the line that called that; for most of the spot's time. `way`:
    lines of the profiled cell on the stacks of at least half of that time, its own included, ascending. `lines`: where
    the spot is several lines of one function, these with their shares of the whole, ascending, six at most; `line` is
    the largest of them, and `more_lines` the number of those left out. `idle`: what the CPU did while the device was
    idle; else, of a recording whose stack was not sampled, it is the device's work.
    """

    ns: int
    share: float
    phase: Phase | None
    what: str
    source_file: str | None = None
    is_cell: bool = False
    execution_count: int | None = None
    line: int | None = None
    cell_line: int | None = None
    function: str | None = None
    error: float | None = None
    what_share: float | None = None
    called_from: CalledFrom | None = None
    by_text: bool = False
    way: tuple[int, ...] = ()
    phase_share: float | None = None
    lines: tuple[tuple[int, float], ...] = ()
    more_lines: int = 0
    idle: bool = False


def is_import(spot: HotSpot) -> bool:
    """Whether a module was imported there: this happens once, and takes what it takes."""
    return spot.what == "import" or spot.what.startswith(_IMPORTS)
