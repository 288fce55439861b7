"""Kernels by name, category and precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.result import Result, Results
from gpuprof.model.kernel_names import KernelCategory, Precision, category_of, precision_of
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

SMALL_KERNEL_NS = 10_000
_WITH_PRECISION = (KernelCategory.GEMM, KernelCategory.CONVOLUTION, KernelCategory.ATTENTION)

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

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the kernels among the device events."""
        events = trace.device_events.take(trace.device_events["kind"] == DeviceEventKind.KERNEL)
        durations, waves = events["duration_ns"], _waves(trace, events)
        occupancy = events["occupancy_percent"].astype(np.float64)
        names, group, count = np.unique(events["name"], return_inverse=True, return_counts=True)
        total = np.bincount(group, durations, len(names)).astype(np.int64)
        spoken = [trace.names[name] for name in names]
        category = np.array([category_of(name) for name in spoken], np.uint8)
        if len(names):
            category[np.unique(group[events["collective"]])] = KernelCategory.COLLECTIVE
        precision = np.array([precision_of(name) for name in spoken], np.uint8)
        precision[~np.isin(category, _WITH_PRECISION)] = Precision.UNKNOWN
        table = Table(
            KERNELS,
            {
                "name": names,
                "count": count,
                "total_ns": total,
                "median_ns": _medians(group, durations, count),
                "category": category,
                "precision": precision,
                "occupancy_percent": _weighted(group, occupancy, durations, len(names)),
                "waves": _weighted(group, waves, durations, len(names)),
            },
        )
        products = np.isin(category, _WITH_PRECISION)
        everything = np.zeros(len(events), np.int64)
        return cls(
            table=table.take(np.argsort(-total, kind="stable")),
            count=len(events),
            total_ns=int(durations.sum()),
            by_category={kind: int(total[category == kind].sum()) for kind in map(KernelCategory, np.unique(category))},
            by_precision={
                kind: int(total[products & (precision == kind)].sum())
                for kind in map(Precision, np.unique(precision[products]))
            },
            small_share=float((durations < SMALL_KERNEL_NS).mean()) if len(events) else None,
            occupancy_percent=_known(_weighted(everything, occupancy, durations, 1)),
            waves=_known(_weighted(everything, waves, durations, 1)),
        )


def _waves(trace: Trace, events: Table) -> Array:
    """Blocks × threads of a block ÷ (multiprocessors × threads that one holds); NaN where any is unknown."""
    capacity = {
        number: (device.multiprocessors or 0) * (device.max_threads_per_multiprocessor or 0)
        for number in trace.device_ids
        for device in [trace.device(number)]
    }
    threads = np.zeros(len(events))
    for number, held in capacity.items():
        threads[events["device"] == number] = held
    known = (threads > 0) & (events["blocks"] > 0) & (events["block_threads"] > 0)
    waves = np.full(len(events), np.nan)
    waves[known] = events["blocks"][known] * events["block_threads"][known] / threads[known]
    return waves


def _weighted(group: Array, values: Array, weights: Array, groups: int) -> Array:
    """Mean of each group's values, weighted; NaN values count nowhere; NaN where a group has none."""
    known = ~np.isnan(values) & (weights > 0)
    weight = np.bincount(group[known], weights[known], groups)
    total = np.bincount(group[known], (values * weights)[known], groups)
    mean: Array = np.divide(total, weight, out=np.full(groups, np.nan), where=weight > 0)
    return mean


def _known(values: Array) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _medians(group: Array, durations: Array, count: Array) -> Array:
    ordered = durations[np.lexsort((durations, group))]
    first = np.cumsum(count) - count
    low, high = ordered[first + (count - 1) // 2], ordered[first + count // 2]
    middle: Array = (low + high) // 2
    return middle
