"""Kernels by name, category and precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.kernel_names import PRODUCT_CATEGORIES, KernelCategory, Precision, category_of, precision_of
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array, Column, Table, TableSchema
from gpuprof.model.trace import Trace

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
            "blocks ÷ blocks that the device holds at once, mean weighted by time; under 1 the kernel cannot fill the "
            "device; NaN unknown",
        ),
    ),
)


@dataclass(frozen=True, eq=False)
class Kernels(Result):
    """Kernels of all devices: `table` one row a name, longest total first (see KERNELS).

    `total_ns` adds durations; `by_precision` splits that of GEMMs, convolutions and attention.
    `small_share`: share of kernels (by number) shorter than SMALL_KERNEL_NS; None without kernels. `occupancy_percent`
    and `waves`: means weighted by time over the kernels that have them; None where none has. `event`: the kernels as
    rows of `device_events`, int64 of shape `(count,)`; `event_name`: the name of each.
    """

    table: Table
    count: int
    total_ns: int
    by_precision: Mapping[Precision, int]
    small_share: float | None
    occupancy_percent: float | None
    waves: float | None
    event: Array
    event_name: Array

    def rows_named(self, names: Array) -> Array:
        """The rows of `device_events` that are kernels of these names (as in `table`), on any device."""
        return self.event[np.isin(self.event_name, names)]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the kernels among the device events."""
        rows = np.flatnonzero(trace.device_events["kind"] == DeviceEventKind.KERNEL)
        events = trace.device_events.take(rows)
        durations = events["duration_ns"]
        occupancy = events["occupancy_percent"].astype(np.float64)
        names, group, count = np.unique(events["name"], return_inverse=True, return_counts=True)
        total = np.bincount(group, durations, len(names)).astype(np.int64)
        spoken = [trace.names[name] for name in names]
        category = np.array([category_of(name) for name in spoken], np.uint8)
        if len(names):
            category[np.unique(group[events["collective"]])] = KernelCategory.COLLECTIVE
        precision = np.array([precision_of(name) for name in spoken], np.uint8)
        products = np.isin(category, PRODUCT_CATEGORIES)
        precision[~products] = Precision.UNKNOWN
        waves = _waves(trace, events, products[group])
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
        everything = np.zeros(len(events), np.int64)
        return cls(
            table=table.take(np.argsort(-total, kind="stable")),
            count=len(events),
            total_ns=int(durations.sum()),
            by_precision={
                kind: int(total[products & (precision == kind)].sum())
                for kind in map(Precision, np.unique(precision[products]))
            },
            small_share=float((durations < SMALL_KERNEL_NS).mean()) if len(events) else None,
            occupancy_percent=_known(_weighted(everything, occupancy, durations, 1)),
            waves=_known(_weighted(everything, waves, durations, 1)),
            event=rows,
            event_name=events["name"],
        )


def _waves(trace: Trace, events: Table, products: Array) -> Array:
    """Blocks ÷ blocks that the device holds at once; NaN where that is unknown.

    A multiprocessor holds as many as its threads allow, or fewer: registers and shared memory limit them where the
    occupancy, which Kineto computes with both, is lower than the threads alone would have it. One block of a product
    (boolean mask, shape `(len(events),)`) can take a whole multiprocessor, with the occupancy none the wiser: of
    those, a block for each multiprocessor is a wave.
    """
    processors, threads = np.zeros(len(events)), np.zeros(len(events))
    for number in trace.device_ids:
        device, mine = trace.device(number), events["device"] == number
        processors[mine] = device.multiprocessors or 0
        threads[mine] = processors[mine] * (device.max_threads_per_multiprocessor or 0)
    known = (threads > 0) & (events["blocks"] > 0) & (events["block_threads"] > 0)
    waves = np.full(len(events), np.nan)
    waves[known] = events["blocks"][known] * events["block_threads"][known] / threads[known]
    occupancy = events["occupancy_percent"]
    # in whole per cent: half of one is rounding
    limited = known & (occupancy >= 1) & (100 * np.nan_to_num(waves) > occupancy + 1)
    waves[limited] *= 100 / occupancy[limited]
    product = known & products
    waves[product] = np.maximum(waves[product], events["blocks"][product] / processors[product])
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
