"""How far a change may move what a cell computes: the class that `%gputry` and `gpuprof.verify` hold it to."""

from __future__ import annotations

from enum import StrEnum

EXACT_TOLERANCE = 1e-5  # largest relative difference of a loss in float32
FUSED_TOLERANCE = 1e-4  # the same where kernels are fused and round in another order


class Guard(StrEnum):
    """The class of a change (docs/design/pairs.md)."""

    EXACT = "E"  # the same numbers: same seeds and batches give the same losses within the tolerance
    NUMERIC = "N"  # other arithmetic: losses within the noise of a rerun, gradients in the same direction
    SEMANTIC = "S"  # another training: only samples a second can be compared
