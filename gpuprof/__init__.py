"""gpuprof: a Jupyter-first profiler for PyTorch on GPUs."""

from gpuprof._version import __version__

__all__ = ["__version__"]
