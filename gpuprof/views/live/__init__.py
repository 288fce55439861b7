"""The live strip: what a cell does while it runs."""

from gpuprof.views.live.strip import LiveStrip

__all__ = ["LiveStrip"]
