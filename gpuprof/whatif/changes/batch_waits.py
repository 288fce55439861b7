"""How long a loop waits for batches that worker processes make ahead of it."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array

# torch's default: batches that each worker keeps ready.
PREFETCH_FACTOR = 2
# To hand one batch over, as measured for small ones (see gpuprof/analyses/loading/worker_plan.py for larger ones).
HAND_OVER_NS = 700_000


def waits_with_workers(
    load_ns: Array, rest_ns: float | Array, workers: int, *, prefetch: int = PREFETCH_FACTOR
) -> Array:
    """The wait before each batch with `workers` >= 1 that are already running, ns, shape `(batches,)`.

    `load_ns`: what each batch takes to make, shape `(batches,)`; `rest_ns`: the loop's own work after
    each of them, one for all or of the same shape.
    Formula 1 of docs/design/whatif.md: worker i mod N begins batch i when it is free and when batch
    i − prefetch·N has been taken. The batches are gone through twice, and the second time counts: a run is recorded in
    its middle.
    """
    load = np.tile(np.asarray(load_ns, np.float64), 2)
    rest = np.tile(np.broadcast_to(np.asarray(rest_ns, np.float64), len(load_ns)), 2).tolist()
    finish, taken, waits = np.zeros(len(load)), np.zeros(len(load)), np.zeros(len(load))
    for at, cost in enumerate(load.tolist()):
        free = finish[at - workers] if at >= workers else 0.0
        room = taken[at - prefetch * workers] if at >= prefetch * workers else 0.0
        finish[at] = max(free, room) + cost
        asked = taken[at - 1] + rest[at - 1] if at else 0.0
        taken[at] = max(finish[at] + HAND_OVER_NS, asked)
        waits[at] = taken[at] - asked
    return waits[len(load_ns) :]
