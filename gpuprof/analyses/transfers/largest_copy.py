"""The tensor of the largest copy to the device: a batch, as a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape, inputs_of
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model.kinds import CopyKind
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class LargestCopy(Result):
    """`shape`: of the tensor that the operator of the largest copy to the device was given first; None where there is
    no such copy, its operator is unknown or shapes were not recorded."""

    shape: Shape | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the copies and the recorded shapes."""
        copies = results.get(Copies).of_direction(CopyKind.H2D)
        copies = copies.take(copies["operator"] >= 0)
        if not len(copies):
            return cls(None)
        given = inputs_of(trace, int(copies["operator"][np.argmax(copies["bytes"])]))
        return cls(given[0].dims if given else None)
