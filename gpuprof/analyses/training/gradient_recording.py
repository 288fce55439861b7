"""Whether autograd recorded a graph, and whether anything went back through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import OPTIMIZER, backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class GradientRecording(Result):
    """Autograd's sequence numbers count the nodes of the graph: an operator carries the number of the next node, only
    where gradients are enabled, and the number grows only where a node is made. (torch: `at::sequence_number`.)

    `nodes`: made on the main thread in the recording, at least (the last one cannot be told); `nodes_per_step` the
    median over the steps (or iterations, see Repeats), `steps_with` the number of those that made any; None without.
    `ran`: nodes did, on any thread; `backward`: nodes ran, or an optimizer stepped. `making`: the main thread in the
    first operator that carries each number; a union. None of it is known (`recorded` False) where the recording holds
    no operator.
    """

    recorded: bool
    making: Intervals
    nodes: int
    nodes_per_step: float | None
    steps_with: int | None
    ran: bool
    backward: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators' sequence numbers, autograd's nodes and the optimizers' ranges."""
        operators, repeats = trace.operators, results.get(Repeats)
        steps = repeats.count
        node = backward_mask(trace)
        forward = (operators["thread"] == trace.main_thread) & ~node & (operators["sequence"] >= 0)
        numbers, first = np.unique(operators["sequence"][forward], return_index=True)
        step = repeats.number(trace, operators)[forward][first]
        # the number grows by one a node: what the operators carry is a part of what was counted
        made = np.diff(numbers)
        same_step = (step[1:] == step[:-1]) & (step[1:] >= 0)
        per_step = np.bincount(step[:-1][same_step], weights=made[same_step], minlength=steps)[:steps]
        stepped = bool(trace.name_mask(trace.user_ranges, f"{OPTIMIZER}step").any()) or bool(trace.context.optimizers)
        return cls(
            recorded=bool(len(operators)),
            making=intervals.union(intervals.of(operators.take(np.flatnonzero(forward)[first]))),
            nodes=int(numbers[-1] - numbers[0]) if len(numbers) else 0,
            nodes_per_step=float(np.median(per_step)) if steps else None,
            steps_with=int((per_step > 0).sum()) if steps else None,
            ran=bool(node.any()),
            backward=bool(node.any()) or stepped,
        )
