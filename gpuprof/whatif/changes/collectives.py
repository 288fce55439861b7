"""Collectives that run beside compute."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.collectives import Collectives
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.changes.trace_changes import operations_lasting, unchanged
from gpuprof.whatif.predict import Range

# Half the bytes (bf16), or the other half under compute.
_USUAL_SHARE = 0.5


def collectives_hidden(results: Results, exposed: Intervals, waited_ns: float) -> Range:
    """Of what is `exposed` (a union, ns of the trace) nothing at worst, half, and at best all hidden under compute.

    `waited_ns` of it is a wait for a late rank and stays: a collective becomes shorter by its part of `exposed` times
    `1 − waited ÷ exposed`.
    """
    found = results.get(Collectives)
    starts, durations = found.start_ns, found.duration_ns
    bare = intervals.covered(exposed, starts, starts + durations)
    own = 1 - min(waited_ns / exposed.total_ns, 1.0) if exposed.total_ns else 0.0

    def at(share: float) -> GraphEdit:
        return operations_lasting(found.event, durations - np.rint(bare * own * share).astype(np.int64))

    return Range(unchanged, at(_USUAL_SHARE), at(1.0))
