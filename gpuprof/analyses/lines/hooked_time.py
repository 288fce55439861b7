"""Weights of sampled stacks, so that they add up to the time that light hooks measured.

A sampler sees a thread mostly where it releases the GIL, so some calls are seen too often. Hooks time every step of an
optimizer and every wait for a batch. The samples in these are weighted so that they add up to the measured time
(post-stratification), and the other samples so that they add up to the rest.
"""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.accounts.library_phases import OPTIMIZER_FILES
from gpuprof.analyses.basics.plain_iterations import UNLIKE, waits_in_iterations
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

REST, OPTIMIZER, WAIT = range(3)
_OWN = ("cell", "notebook", "module")
_LOADER = "torch/utils/data/dataloader.py"
_SCHEDULERS = ("torch/optim/lr_scheduler.py", "torch/optim/swa_utils.py")
# a loader that is exhausted ends its workers: no batch comes of that
_WAITS = {"__next__": WAIT, "_shutdown_workers": REST}
_STEPS = ("step", "wrapper", "apply")


def hooked_kinds(trace: Trace) -> Array:
    """For each of `stack_nodes`: OPTIMIZER within a step of one, WAIT within a wait for a batch, else REST. Shape
    (nodes + 1,); the last stands for no stack."""
    stacks, nodes = trace.context.stacks, trace.stack_nodes
    kinds = np.full(len(nodes) + 1, REST, np.int8)
    if stacks is None:
        return kinds
    names = [each.filename.replace("\\", "/") for each in stacks.files]
    own = [each.kind in _OWN for each in stacks.files]
    columns = [nodes[name].tolist() for name in ("parent", "sampled_file", "function")]
    for row, (parent, file, function) in enumerate(zip(*columns, strict=True)):
        above = int(kinds[parent]) if parent >= 0 else REST
        bare = stacks.functions[function].rpartition(".")[2]
        if own[file]:
            # a closure is no part of the step that called it; an optimizer that the user wrote is
            kinds[row] = REST if above == OPTIMIZER and bare not in _STEPS else above
        elif names[file].startswith(_LOADER) and bare in _WAITS:
            kinds[row] = _WAITS[bare]
        elif above == REST and _steps(names[file], bare):
            kinds[row] = OPTIMIZER
        else:
            kinds[row] = above
    return kinds


def hooked_weights(trace: Trace, kinds: Array, starts: Array, lasted: Array, exact: Array) -> tuple[Array, Array]:
    """For each stretch of the cell its weight, ns, and whether the time of all of its kind was measured.

    `kinds`, `starts` (Unix ns), `lasted` (ns) and `exact` (known without sampling) have a row for each. Regular
    iterations and long ones, in which something else happens too, are weighted apart; the weights in each add up to
    what the stretches lasted. Where hooks and samples cannot both be right, and outside of iterations, nothing changes.
    """
    weights, measured, rows = lasted.astype(np.float64), exact.copy(), trace.iterations
    if not len(rows):
        return weights, measured
    middle, begins, lengths = starts + lasted // 2, rows["start_ns"], rows["duration_ns"]
    at = np.maximum(np.searchsorted(begins, middle, side="right") - 1, 0)
    timed = (middle >= begins[at]) & (middle < begins[at] + lengths[at])
    known = _known_ns(trace)
    long = lengths > UNLIKE * np.median(lengths)
    for iterations in (long, ~long):
        inside = timed & iterations[at]
        hooked_ns = {kind: float(each[iterations].sum()) for kind, each in known.items()}
        _weigh(weights, measured, kinds, (inside & ~exact, inside & exact), hooked_ns)
    return weights, measured


def _known_ns(trace: Trace) -> dict[int, Array]:
    """Of each iteration, by kind: of those whose times the hooks have, without a gap."""
    known, optimizer_ns, loaders = {}, trace.iterations["optimizer_ns"], trace.context.loaders
    if (optimizer_ns >= 0).any():
        known[OPTIMIZER] = np.maximum(optimizer_ns, 0)
    if loaders and all(len(each.wait_ns) >= each.batches_read for each in loaders):
        known[WAIT] = waits_in_iterations(trace)
    return known


def _weigh(
    weights: Array, measured: Array, kinds: Array, rows: tuple[Array, Array], hooked_ns: dict[int, float]
) -> None:
    """Changes the first two in place, for the sampled one of `rows`; what is exact counts first."""
    sampled, exact = rows
    rest, rest_ns = sampled.copy(), float(weights[sampled].sum())
    factors = list[tuple[Array, float]]()
    for kind, known_ns in hooked_ns.items():
        mine = sampled & (kinds == kind)
        own_ns = float(weights[mine].sum())
        if own_ns:
            left_ns = max(known_ns - float(weights[exact & (kinds == kind)].sum()), 0.0)
            factors.append((mine, left_ns / own_ns))
            rest &= ~mine
            rest_ns -= left_ns
    beside_ns = float(weights[rest].sum())
    if rest_ns <= 0 or not beside_ns:
        return
    for mine, factor in (*factors, (rest, rest_ns / beside_ns)):
        weights[mine] *= factor
    measured |= sampled & ~rest


def _steps(filename: str, function: str) -> bool:
    return function in _STEPS and filename.startswith(OPTIMIZER_FILES) and not filename.startswith(_SCHEDULERS)
