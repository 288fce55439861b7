"""Whether batch norms ran, which count every batch that they see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.trace import Trace

_BATCH_NORM = re.compile(r"^aten::.*batch_norm")


@dataclass(frozen=True)
class BatchNorms(Result):
    """`ran`: any operator of a batch norm was recorded."""

    ran: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the names in the recording."""
        return cls(any(_BATCH_NORM.search(name) for name in trace.names))
