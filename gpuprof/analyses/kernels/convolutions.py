"""Convolutions: their kernels, what changes layouts for them, and whether their shapes stay the same."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.model.kernel_names import KernelCategory
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_TO_NHWC = re.compile(r"nchwToNhwc", re.IGNORECASE)
_TO_NCHW = re.compile(r"nhwcToNchw", re.IGNORECASE)
_EITHER = re.compile(r"batched_transpose_\d")
_CONVOLUTION = re.compile(r"conv", re.IGNORECASE)
_NOT_IMAGES = ("aten::conv1d", "aten::conv3d", "aten::conv_transpose1d", "aten::conv_transpose3d")
_FEWEST_STEPS = 3
_MOST_SIGNATURES = 2  # the last batch of an epoch may be smaller


@dataclass(frozen=True, eq=False)
class Convolutions(Result):
    """`chosen`: boolean mask over KernelOrigins, the convolutions themselves. `layout`: kernels of cuDNN and MIOpen
    that do nothing but reorder NCHW ↔ NHWC for a convolution. `nchw_given`: the tensors given are NCHW as far as the
    directions tell (more is turned to NHWC than back); None where there is no such kernel or their names do not say.
    `fixed_shapes`: the convolutions of nearly all steps have the same kernels with the same grids; None with fewer
    than three steps or unknown grids. `only_of_images`: none over one dimension or three was recorded.
    """

    chosen: Array
    layout: Array
    nchw_given: bool | None
    fixed_shapes: bool | None
    only_of_images: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the kernels' names, operators and grids."""
        kernels = results.get(KernelOrigins)
        chosen = kernels.category == KernelCategory.CONVOLUTION
        to_nhwc = kernels.named(trace, lambda name: bool(_TO_NHWC.search(name)))
        to_nchw = kernels.named(trace, lambda name: bool(_TO_NCHW.search(name)))
        known = kernels.operator >= 0
        within = np.zeros(kernels.count, bool)
        names, place = np.unique(trace.operators["name"][kernels.operator[known]], return_inverse=True)
        within[known] = np.array([bool(_CONVOLUTION.search(trace.names[name])) for name in names], bool)[place]
        either = kernels.named(trace, lambda name: bool(_EITHER.search(name))) & within
        forth, back = int(to_nhwc.sum()), int(to_nchw.sum())
        return cls(
            chosen=chosen,
            layout=to_nhwc | to_nchw | either,
            nchw_given=forth > back if forth + back else None,
            fixed_shapes=_fixed_shapes(trace, kernels, chosen),
            only_of_images=not any(name.startswith(_NOT_IMAGES) for name in trace.names),
        )


def _fixed_shapes(trace: Trace, kernels: KernelOrigins, chosen: Array) -> bool | None:
    events = trace.device_events.take(kernels.event[chosen])
    if len(trace.steps) < _FEWEST_STEPS or not len(events) or (events["blocks"] < 0).any():
        return None
    signatures = Counter(
        tuple(sorted(zip(events["name"][rows].tolist(), events["blocks"][rows].tolist(), strict=True)))
        for rows in (np.flatnonzero(events["step"] == step) for step in range(len(trace.steps)))
        if len(rows)
    )
    steps = signatures.total()
    return steps >= _FEWEST_STEPS and len(signatures) <= _MOST_SIGNATURES and max(signatures.values()) * 2 > steps
