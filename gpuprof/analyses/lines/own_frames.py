"""The frames of the user's own code on sampled stacks."""

from __future__ import annotations

import numpy as np

from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook", "module")


def own_frames(trace: Trace, stacks: SampledStacks) -> tuple[Array, Array]:
    """`(file, line, function)` of each node, and the node of the innermost frame of the user's code at or above it."""
    nodes = trace.stack_nodes
    places = np.stack((nodes["sampled_file"], nodes["line"], nodes["function"]), axis=1).astype(np.int64)
    is_own = np.array([each.kind in _OWN for each in stacks.files], bool)[nodes["sampled_file"]]
    own = np.empty(len(nodes), np.int64)
    for row, parent in enumerate(nodes["parent"]):
        own[row] = row if is_own[row] else own[parent] if parent >= 0 else -1
    return places, own
