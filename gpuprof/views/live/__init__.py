"""The status bar: what a cell does while it runs."""

from gpuprof.views.live.status_bar import StatusBar

__all__ = ["StatusBar"]
