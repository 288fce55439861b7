"""What making the samples of a dataset took, measured for the first batches of each process."""

from __future__ import annotations

import msgspec


class TransformTime(msgspec.Struct, frozen=True, kw_only=True):
    """One transform of a dataset, over the timed batches."""

    name: str
    calls: int
    duration_ns: int


class Loading(msgspec.Struct, frozen=True, kw_only=True):
    """One map-style dataset, over the timed batches of all processes, the first of each left out.

    `sample_ns`: wall time of reading the samples, transforms included, collating (`collate_ns`) apart. `cpu_ns`: what
    the processes, all their threads, computed in both. `blocked`: how
    often the reading thread waited for something else than a processor; `core_wait_ns`: how long threads were ready to
    compute in both but had no core: all of a worker process, in this process only the reading one. None where the
    system does not say.
    `dataset_samples` is the dataset's length. `source` is the class that reads: the dataset's own, or what a `Subset`
    is of; `batched`: whether that has `__getitems__`. `own_ns`: what the timing itself took of the profiled process, in
    which a batch is then waited for that much longer.
    """

    dataset: str
    source: str
    dataset_samples: int | None
    batches: int
    samples: int
    processes: int
    sample_ns: int
    collate_ns: int
    cpu_ns: int
    blocked: int | None = None
    core_wait_ns: int | None = None
    batched: bool = False
    own_ns: int = 0
    transforms: tuple[TransformTime, ...] = ()
