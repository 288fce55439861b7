"""A part of certain operators left out, with the kernels that they launch."""

from __future__ import annotations

from collections.abc import Sequence

from gpuprof.analyses.basics.launched import launched_in
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.recorded_parts import RecordedPart
from gpuprof.whatif.changes.graph_edits import together
from gpuprof.whatif.changes.trace_changes import host_time_scaled, operations_scaled
from gpuprof.whatif.predict import Range


def parts_left_out(results: Results, parts: Sequence[RecordedPart]) -> Range:
    """Each of these takes `1 − part` of its time on the host, and so do the kernels that it launches.

    At worst the host takes as long as now.
    """
    kernels = together(*(operations_scaled(launched_in(results.trace, each.within), 1 - each.part) for each in parts))
    hosts = together(*(host_time_scaled(each.within, 1 - each.part) for each in parts))
    both = together(kernels, hosts)
    return Range(kernels, both, both)
