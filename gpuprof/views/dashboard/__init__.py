"""The dashboard under a profiled cell, in front ends with live widgets."""

from gpuprof.views.dashboard.dashboard import Dashboard

__all__ = ["Dashboard"]
