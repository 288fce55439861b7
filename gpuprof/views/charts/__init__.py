"""HoloViews charts of a run, one file a chart; `Plots` gives them by name."""

from __future__ import annotations

from gpuprof.views.charts.plots import Plots

__all__ = ["Plots"]
