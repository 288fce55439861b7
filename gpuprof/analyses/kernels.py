"""Kernels by name, category and precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuprof.analyses.result import Result
from gpuprof.model.kernel_names import KernelCategory, Precision
from gpuprof.model.table import Column, Table, TableSchema

SMALL_KERNEL_NS = 10_000

KERNELS = TableSchema(
    "kernels",
    "all kernels of one name",
    (
        Column("name", "int32", "index of names", "the kernel's name"),
        Column("count", "int64", "kernels", "how often it ran"),
        Column("total_ns", "int64", "ns", "sum of durations"),
        Column("median_ns", "int64", "ns", "median duration"),
        Column("category", "uint8", "KernelCategory", "what it does"),
        Column("precision", "uint8", "Precision", "number format of a GEMM, convolution or attention kernel"),
        Column("occupancy_percent", "float32", "percent", "estimated occupancy, mean weighted by time; NaN unknown"),
        Column(
            "waves",
            "float64",
            "waves",
            "grid size ÷ what the device holds at full occupancy (multiprocessors × threads each), mean weighted by "
            "time; under 1 the kernel cannot fill the device; NaN unknown",
        ),
    ),
)


@dataclass(frozen=True, eq=False)
class Kernels(Result):
    """Kernels of all devices: `table` one row a name, longest total first (see KERNELS).

    `total_ns` adds durations; `by_category` and `by_precision` (GEMM, convolution and attention only) split it.
    `small_share`: share of kernels (by number) shorter than SMALL_KERNEL_NS; None without kernels. `occupancy_percent`
    and `waves`: means weighted by time over the kernels that have them; None where none has.
    """

    table: Table
    count: int
    total_ns: int
    by_category: Mapping[KernelCategory, int]
    by_precision: Mapping[Precision, int]
    small_share: float | None
    occupancy_percent: float | None
    waves: float | None
