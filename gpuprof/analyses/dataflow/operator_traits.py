"""What names of operators say of them: which only fill, which leave memory as it was, which only convert."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# what is in their result says nothing: memory as it was found
UNSET = frozenset(("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_"))
# one value everywhere: of a tensor that they are given only its shape counts
SHAPED = frozenset(("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "zero"))
FILLS = SHAPED | UNSET | {"zeros", "ones", "full", "fill", "fill_", "zero_", "scalar_tensor", "_efficientzerotensor"}
# nothing but zeros
ZEROS = frozenset(("zeros", "zeros_like", "new_zeros", "zero", "zero_"))
# sums of products with an operand
PRODUCTS = frozenset(("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "linear", "convolution"))
# the same numbers in another type, on another device, or in another order in memory
CONVERSIONS = frozenset(("_to_copy", "to", "copy_", "clone", "contiguous", "_copy_from"))


def own_name(name: str) -> str:
    """`sum` of `aten::sum.dim_IntList`."""
    return name.rpartition("::")[2].partition(".")[0]


def named(trace: Trace, operators: Table, names: frozenset[str]) -> Array:
    """Boolean mask of shape `(len(operators),)`: whose own name is one of these."""
    hit = np.fromiter((own_name(name) in names for name in trace.names), bool, len(trace.names))
    chosen: Array = hit[operators["name"]] if len(operators) else np.zeros(0, bool)
    return chosen
