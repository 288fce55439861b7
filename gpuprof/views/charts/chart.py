"""What a chart is: one file of this package, found by scan, that draws one Result as a HoloViews object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuprof.analyses.basics.result import Result
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class Chart:
    """A chart of one type of Result.

    `draw(result, trace)` returns a HoloViews object with Bokeh options. It must not fail on any Result: where nothing
    was recorded it returns `style.words(...)`, which says so.
    """

    name: str
    of: type[Result]
    title: str
    draw: Callable[[Any, Trace], Any]
