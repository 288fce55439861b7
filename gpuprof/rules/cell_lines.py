"""Lines of the profiled cell on which something is called by name."""

from __future__ import annotations

import re

from gpuprof.model.trace import Trace


def lines_calling(trace: Trace, *names: str) -> tuple[int, ...]:
    """Lines, 1-based, whose code calls one of `names` (`empty_cache`); empty where the cell is not known.

    Read from the text, not parsed: a cell may hold IPython's own syntax. Comments do not count.
    """
    cell = trace.context.cell
    if cell is None:
        return ()
    called = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\s*\(")
    lines = cell.source.splitlines()
    return tuple(number for number, line in enumerate(lines, 1) if called.search(line.partition("#")[0]))
