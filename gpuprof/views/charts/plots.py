"""The charts by name (`run.plots.memory()`), found by scanning this package."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gpuprof.errors import UsageError
from gpuprof.views import charts
from gpuprof.views.charts.chart import Chart

if TYPE_CHECKING:
    from gpuprof.report import Report


@functools.cache
def all_charts() -> Mapping[str, Chart]:
    """Every chart by name, in alphabetical order."""
    found = {}
    for module in pkgutil.iter_modules(charts.__path__):
        chart = getattr(importlib.import_module(f"{charts.__name__}.{module.name}"), "CHART", None)
        if isinstance(chart, Chart):
            found[chart.name] = chart
    return MappingProxyType(found)


class Plots:
    """HoloViews objects of one run: `plots.memory()`, `plots.transfers()`, `plots.device()`, …

    In a notebook they show without a network, alone or composed (`a + b`, `a * b`); where `hv.extension` was called,
    HoloViews shows them as it does its own.
    """

    def __init__(self, report: Report):
        self._report = report

    def __getattr__(self, name: str) -> Callable[[], Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in all_charts():
            raise AttributeError(f"there is no plot {name!r}; there are {', '.join(all_charts())}")
        return lambda: self.draw(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *all_charts()]

    def __repr__(self) -> str:
        return f"<gpuprof plots: {', '.join(f'{name}()' for name in all_charts())}>"

    def draw(self, name: str) -> Any:
        """The HoloViews object of that chart; UsageError where there is no such chart."""
        if name not in all_charts():
            raise UsageError(f"there is no plot {name!r}; there are {', '.join(all_charts())}")
        _show_offline()
        return draw(self._report, name)


def draw(report: Report, name: str) -> Any:
    """The HoloViews object of that chart, without touching the notebook; KeyError where there is no such chart."""
    import holoviews.plotting.bokeh  # noqa: F401  registers the renderer and its options

    chart = all_charts()[name]
    return chart.draw(report.results.get(chart.of), report.trace)


def _show_offline() -> None:
    from IPython.core.getipython import get_ipython

    from gpuprof.views.charts import offline

    shell = get_ipython()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        offline.enable(shell)
