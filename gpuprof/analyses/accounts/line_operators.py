"""Which operator takes most of a line's time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_MOST_OF_IT = 0.5


@dataclass(frozen=True, eq=False)
class LineOperators(Result):
    """`names`: by file name and line, the outermost operator that took at least half of the operators' time there."""

    names: dict[tuple[str, int], str]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators of the main thread and the lines they were called from."""
        places, followed, operators = results.get(LinePlaces), trace.context.lines, trace.operators
        if places.how is None or followed is None:
            return cls({})
        rows = np.flatnonzero((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
        at = places.at(operators["thread"][rows], operators["start_ns"][rows])
        rows, at = rows[at >= 0], at[at >= 0]
        sources, lines = (places.events[each][at].astype(np.int64) for each in ("source_file", "line"))
        most = int(lines.max(initial=0)) + 1
        keys, group = np.unique(sources * most + lines, return_inverse=True)
        group = group.reshape(-1)
        found = {}
        for row, key in enumerate(keys.tolist()):
            file, line = divmod(key, most)
            name = _most(operators["name"][rows[group == row]], operators["duration_ns"][rows[group == row]])
            if name is not None and 0 <= file < len(followed.files):
                found[followed.files[file].filename, line] = trace.names[name]
        return cls(found)


def _most(names: Array, lasted: Array) -> int | None:
    spent = np.bincount(names, weights=lasted)
    most = int(np.argmax(spent))
    return most if spent[most] >= _MOST_OF_IT * spent.sum() else None
