"""What making samples takes of the cell, and how much of that makes samples that were made before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.context import Loader, SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_LOADING = "torch/utils/data/"
_ITEM = ("__getitem__", "__getitems__")


@dataclass(frozen=True, eq=False)
class SamplesMade(Result):
    """`making_ns` of the cell's `total_ns` is spent in `__getitem__` of datasets that DataLoaders read in the process
    itself; `error`: the standard error of that share. `lines` of the profiled cell, the longest first, with their ns.
    0 and empty where no stack was sampled.

    `repeated_share`: of that time, 0..1, by the waits for each loader: the passes after the first over data whose
    samples were compared and had the same content. None where samples were not compared, or some differed.
    `repeated`: those loaders, with the longest waits first.
    """

    making_ns: int
    total_ns: int
    error: float
    lines: tuple[tuple[int, int], ...]
    repeated_share: float | None
    repeated: tuple[Loader, ...]

    @property
    def share(self) -> float:
        """Of the cell, 0..1."""
        return self.making_ns / self.total_ns if self.total_ns else 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the samples of the whole cell, and what its loaders gave."""
        stretches, stacks = results.get(Stretches), trace.context.stacks
        repeated_share, repeated = _repeated(trace.context.loaders)
        if stacks is None or not stretches.total_ns:
            return cls(0, 0, 0.0, (), repeated_share, repeated)
        making = np.append(_making(trace, stacks), False)[stretches.node]
        line = np.append(results.get(StackLines).cell_line, -1)[stretches.node[making]]
        spent = stretches.spent_ns[making]
        lines, group = np.unique(line, return_inverse=True)
        held = np.bincount(group.reshape(-1), spent, len(lines)).astype(np.int64)
        order = [row for row in np.argsort(-held, kind="stable").tolist() if lines[row] > 0]
        share = spent.sum() / stretches.total_ns
        return cls(
            int(spent.sum()),
            stretches.total_ns,
            float(share_error(np.array([share]), stretches.total_ns, stacks)[0]),
            tuple((int(lines[row]), int(held[row])) for row in order),
            repeated_share,
            repeated,
        )


def _making(trace: Trace, stacks: SampledStacks) -> Array:
    """For each row of `stack_nodes`: whether the stack is in an item of a dataset that a DataLoader reads."""
    nodes = trace.stack_nodes
    loading = [_LOADING in each.filename.replace("\\", "/") for each in stacks.files]
    item = [each.rpartition(".")[2] in _ITEM for each in stacks.functions]
    columns = (nodes[name].tolist() for name in ("parent", "sampled_file", "function"))
    below, making = np.zeros(len(nodes), bool), np.zeros(len(nodes), bool)
    for row, (parent, file, function) in enumerate(zip(*columns, strict=True)):
        inherited = parent >= 0 and below[parent]
        making[row] = (parent >= 0 and making[parent]) or (inherited and item[function])
        below[row] = inherited or loading[file]
    return making


def _repeated(loaders: tuple[Loader, ...]) -> tuple[float | None, tuple[Loader, ...]]:
    mine = [each for each in loaders if not each.workers and not each.iterable]
    waits = [sum(each.wait_ns) for each in mine]
    if not sum(waits) or not any(each.samples_compared for each in mine):
        return None, ()
    again, repeated = 0.0, []
    passes = _passes(mine)
    for loader, waited in sorted(zip(mine, waits, strict=True), key=lambda each: -each[1]):
        if loader.samples_compared and loader.samples_same == loader.samples_compared:
            again += waited * (1 - 1 / max(passes[loader.dataset, loader.samples], 1.0))
            repeated.append(loader)
    return (again / sum(waits), tuple(repeated)) if repeated else (None, ())


def _passes(loaders: list[Loader]) -> dict[tuple[str | None, int | None], float]:
    """How often the samples of each dataset were made: some make a new loader for every pass."""
    found: dict[tuple[str | None, int | None], float] = {}
    for each in loaders:
        key = (each.dataset, each.samples)
        found[key] = found.get(key, 0.0) + (each.batches_read / each.batches if each.batches else 0.0)
    return found
