"""The Report: a Trace, what the analyses make of it, and what the rules say, ready for any view."""

from gpuprof.report.comparison import Comparison
from gpuprof.report.report import Report
from gpuprof.report.summary import Summary
from gpuprof.report.trust import Trust

__all__ = ["Comparison", "Report", "Summary", "Trust"]
