"""The report as it is saved in a notebook: legible wherever it is opened, with everything else stripped."""

from gpuprof.views.notebook_report.bundle import render_bundle, render_paper

__all__ = ["render_bundle", "render_paper"]
