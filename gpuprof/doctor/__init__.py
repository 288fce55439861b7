"""The doctor: what of this machine works for gpuprof, what does not, and how to mend it."""

from gpuprof.doctor.check import Check, render
from gpuprof.doctor.examination import examine

__all__ = ["Check", "examine", "render"]
