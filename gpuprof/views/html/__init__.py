"""The report as one HTML file that works from disk, without network."""

from gpuprof.views.html.page import render_page

__all__ = ["render_page"]
