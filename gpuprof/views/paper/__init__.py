"""The report as it is saved in a notebook: legible wherever it is opened, with everything else stripped."""

from gpuprof.views.paper.bundle import render_bundle, render_paper

__all__ = ["render_bundle", "render_paper"]
