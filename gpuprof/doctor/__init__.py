"""The doctor: what of this machine works for gpuprof, what does not, and how to mend it."""

from gpuprof.doctor.check import Check, examine, render

__all__ = ["Check", "examine", "render"]
