"""Which file a line belongs to: the profiled cell, another cell, or a script."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple, Self

from gpuprof.model.trace import Trace


class SourcePlace(NamedTuple):
    """`profiled`: it is what was profiled, not code from elsewhere. `cell` is the execution count of the cell, `file`
    the name of the script; both None where neither is known."""

    profiled: bool
    cell: int | None
    file: str | None

    @classmethod
    def of(cls, trace: Trace, row: int) -> Self | None:
        """The followed file of that row; None where there is no such row."""
        followed, cell = trace.context.lines, trace.context.cell
        if followed is None or row >= len(followed.files):
            return None
        if row > 0:
            return cls(False, followed.files[row].execution_count, None)
        number = cell.execution_count if cell else followed.files[row].execution_count
        name = followed.files[row].filename
        script = number is None and name.endswith(".py") and "ipykernel_" not in name
        return cls(True, number, PurePath(name).name if script else None)

    @property
    def title(self) -> str:
        """`the cell`, `the cell, In [7]`, `In [3]`, `another cell`, or the name of a script."""
        if self.profiled:
            return self.file or ("the cell" if self.cell is None else f"the cell, In [{self.cell}]")
        return "another cell" if self.cell is None else f"In [{self.cell}]"
