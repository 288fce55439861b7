"""The iterations of a run in which no steps are known: inference, generation, serving, simulation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.iteration_run import FEWEST, IterationRun
from gpuprof.analyses.loops.line_iterations import line_iterations, line_of
from gpuprof.analyses.loops.repeated_sequence import repeated_sequence
from gpuprof.analyses.loops.written_loops import WrittenLoop, WrittenLoops
from gpuprof.model.trace import Trace

# what servers and their benchmarks name an iteration
_FAMILIES = (re.compile(r"execute_"), re.compile(r"step\["), re.compile(r"iteration_"))
_LEAST_SHARE = 0.3
# What a whole pass does and a layer of a model does not: it takes numbers to the host, looks tokens up, draws, chooses,
# solves. Without the text of the loop, equal layers would else be taken for iterations.
_OF_A_PASS = tuple(
    f"aten::{name}"
    for name in (
        *("item", "is_nonzero", "_local_scalar_dense", "embedding", "embedding_bag", "argmax", "argmin", "multinomial"),
        *("topk", "sort", "bernoulli", "rand", "randn", "rand_like", "randn_like", "normal_", "uniform_", "randperm"),
        *("cdist", "linalg_cholesky_ex", "linalg_inv_ex", "linalg_solve_ex", "cholesky_solve", "linalg_eigh"),
    )
)
_LAYER = ("linear", "conv", "norm", "relu", "gelu", "silu", "tanh", "sigmoid", "dropout", "pool", "softmax", "add")


@dataclass(frozen=True, eq=False)
class Iterations(Result):
    """`runs`: of each loop that was found, outer loops first; empty where steps are known, or nothing repeats clearly.

    The most certain source decides for all of them: ranges that the code named, else the lines of its loops, else the
    order of the main thread's operators. `covered_share`: of the recorded time in those of `main`, 0..1.
    """

    runs: tuple[IterationRun, ...]
    covered_share: float

    @property
    def main(self) -> IterationRun | None:
        """The outermost loop that covers a fair part of the recording; None where there is none."""
        return self.runs[0] if self.runs else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From user ranges, the text and its line events, or the operators."""
        if len(trace.steps) or not trace.span_ns:
            return cls((), 0.0)
        runs = _by_ranges(trace)
        if not runs:
            runs = [run for run in line_iterations(trace, results) if run.total_ns >= _LEAST_SHARE * trace.span_ns]
        if not runs and (found := _by_operators(trace, results)) is not None:
            runs = [found]
        return cls(tuple(runs), min(runs[0].total_ns / trace.span_ns, 1.0) if runs else 0.0)


def loop_of(results: Results) -> WrittenLoop | None:
    """The written loop of `Iterations.main`; None where its line is not known."""
    run = results.get(Iterations).main
    loops = results.get(WrittenLoops).loops if run is not None and run.line is not None else ()
    return next((each for each in loops if run and (each.file, each.line) == (run.file, run.line)), None)


def _by_ranges(trace: Trace) -> list[IterationRun]:
    """The family of names whose ranges cover most; of ranges within one another the outer ones."""
    spans, found = trace.user_ranges, []
    for family in _FAMILIES:
        hit = np.fromiter((family.match(name) is not None for name in trace.names), bool, len(trace.names))
        chosen = spans.take(np.flatnonzero(hit[spans["name"]])) if len(spans) else spans
        if not len(chosen):
            continue
        chosen = chosen.take(chosen["thread"] == np.bincount(chosen["thread"]).argmax())
        chosen = chosen.take(np.argsort(chosen["start_ns"], kind="stable"))
        starts, ends = chosen["start_ns"], chosen["start_ns"] + chosen["duration_ns"]
        outer = np.concatenate(([True], starts[1:] >= np.maximum.accumulate(ends)[:-1]))
        found.append(IterationRun("ranges", starts[outer], ends[outer]))
    return sorted(found, key=lambda each: -each.total_ns)[:1]


def _by_operators(trace: Trace, results: Results) -> IterationRun | None:
    operators = trace.operators
    rows = np.flatnonzero((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
    rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
    found = repeated_sequence(operators["name"][rows])
    if found is None or found.count < FEWEST:
        return None
    starts, begins = operators["start_ns"][rows], found.bounds[:-1]
    end_ns = int((starts + operators["duration_ns"][rows])[found.bounds[-1] - 1])
    if end_ns - starts[begins[0]] < _LEAST_SHARE * trace.span_ns:
        return None
    names = [trace.names[name] for name in operators["name"][rows[begins[1] : found.bounds[2]]].tolist()]
    loop = line_of(trace, results, int(starts[begins[0]]), end_ns)
    if not (any(name in _OF_A_PASS for name in names) or (loop and not _is_layer(names))):
        return None
    ends = np.append(starts[begins[1:]], end_ns)
    where = (loop.line, loop.file) if loop else (None, "")
    return IterationRun("operators", starts[begins], ends, *where)


def _is_layer(names: list[str]) -> bool:
    """Whether it may be one of several equal layers: what layers are made of, each once."""
    return len(set(names)) == len(names) and all(any(part in name for part in _LAYER) for name in names)
