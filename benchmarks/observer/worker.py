"""Runs one program once, in this process: plain, in a `with` of gpuprof, under stopwatches, watched now and then, or
recorded to its end.

python -m benchmarks.observer.worker NAME VARIANT [--programs FOLDER] [--device cpu] -o FILE
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.observer import cells as names
from benchmarks.observer.adapters import ADAPTERS, Adapter
from benchmarks.observer.cells import Cells, Notebook, cells_of
from benchmarks.observer.instrument import AT, HERE, LineClock, statement_of
from benchmarks.observer.programs import default_folder, programs, source
from benchmarks.observer.stopwatch import Stopwatch
from benchmarks.observer.turns import Turns
from benchmarks.proving.fresh import write_json

PLAIN, PROFILED, STOPWATCH, TURNS, EXACT = VARIANTS = ("plain", "profiled", "stopwatch", "turns", "exact")


# of EXACT: every step, so that all of the cell's lines are followed
_TO_THE_END: dict[str, Any] = {"steps": 1_000_000, "skip": 0, "no_nvml": True, "no_close_look": True}
# glibc raises its thresholds to the largest block that was mapped and given back, up to 32 MiB
_NEARLY_32_MIB = 31 * 1024**2
# of the `with`: where it is left
_OURS = (0, 1)


def play(text: str, adapter: Adapter, variant: str, folder: Path) -> dict[str, Any]:
    """Run it in that empty folder; what was measured."""
    import torch
    import torch._dynamo  # the first optimizer of a process imports it, for seconds; one that has trained before has it

    import gpuprof.profiling  # as after `%load_ext gpuprof`
    from benchmarks.observer import stand_ins

    torch.set_num_threads(1)
    _give_back_a_large_block()
    stand_ins.install_torchvision(adapter.images)
    os.chdir(folder)
    adapter.prepare(folder)
    sys.argv = ["program", *adapter.arguments]
    cells = cells_of(text, adapter)
    stopwatch, lines, notebook = Stopwatch(), LineClock(), Notebook()
    turns = Turns(folder / "runs", cells.plain) if variant == TURNS else None
    notebook.namespace.update(
        {
            names.STEP_BEGINS: stopwatch.step_begins,
            names.STEP_ENDS: stopwatch.step_ends if turns is None else turns.step_ends,
            names.TIMED: stopwatch.timed,
            names.PROFILE: functools.partial(
                gpuprof.profile, folder=folder / "runs", **(_TO_THE_END if variant == EXACT else {})
            ),
            AT: lines.at,
            HERE: lines.here,
        }
    )
    timed_lines = variant in (PROFILED, STOPWATCH)
    notebook.run(cells.before, instrumented=1 if timed_lines else None)
    lines.restart()
    text = cells.profiled if variant in (PROFILED, EXACT) else cells.plain
    with _timed_exit() as leaving, _own_time(lines), _hooks_count() if variant == EXACT else contextlib.nullcontext():
        found = _timed(lambda: notebook.run(text, instrumented=0 if timed_lines else None))
    lines.at(None)
    found["iterations"] = stopwatch.to_dict()
    if timed_lines:
        spent = {at: seconds for at, seconds in lines.seconds.items() if at not in (None, _OURS)}
        found["lines"] = folded({at: each / sum(spent.values()) for at, each in spent.items() if at}, cells)
    if turns is not None:
        found["turns"] = turns.finish()
    if variant == EXACT:
        from benchmarks.observer.exact_lines import both_of

        run = notebook.namespace[names.RUN]
        found |= {"both": both_of(run.trace, cells), "notes": list(run.trace.context.notes)}
    if variant == PROFILED:
        found["lines_beside"] = found["lines"]
        found |= {**told(notebook.namespace[names.RUN], cells), "leaving": leaving}
    return found


def _give_back_a_large_block() -> None:
    """A kernel that has loaded data has done this. Until then glibc returns memory to the system whenever a few large
    tensors are freed, and gets it back with page faults: the optimizer of `vae` takes 50% longer. torch's profiler
    frees such blocks, so in a fresh process a program would be faster with gpuprof than without it."""
    import numpy as np

    np.ones(_NEARLY_32_MIB, np.uint8)


def _timed(work: Callable[[], None]) -> dict[str, Any]:
    """By the clock, by the processor in this process, and in processes that it has waited for."""
    children = _children_s()
    cpu, began = time.process_time(), time.perf_counter()
    work()
    wall = time.perf_counter() - began
    return {"wall_s": wall, "cpu_s": time.process_time() - cpu, "children_s": _children_s() - children}


@contextlib.contextmanager
def _timed_exit() -> Iterator[dict[str, Any]]:
    """What leaving the `with` takes, once it has been left."""
    from gpuprof.profiling.context import Profile

    leave, found = Profile.__exit__, dict[str, Any]()

    def timed(profile: Profile, *error: Any) -> None:
        found.update(_timed(lambda: leave(profile, *error)))

    with mock.patch.object(Profile, "__exit__", timed):
        yield found


@contextlib.contextmanager
def _own_time(lines: LineClock) -> Iterator[None]:
    """The end of a recording is no time of the line that it falls on."""
    from gpuprof.capture.session.window import RecordingWindow

    finish = RecordingWindow._finish

    def apart(window: RecordingWindow, reason: str) -> None:
        before = lines.here()
        lines.at(_OURS)
        finish(window, reason)
        lines.at(before)

    with mock.patch.object(RecordingWindow, "_finish", apart):
        yield


@contextlib.contextmanager
def _hooks_count() -> Iterator[None]:
    """Samples in gpuprof's hooks stand at the user's line that they are in, as in the line events, which cannot tell
    them apart."""
    from gpuprof.capture.stacks import memory_sampler

    with mock.patch.object(memory_sampler, "is_ours", lambda stack: False):
        yield


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(run: Any, cells: Cells) -> dict[str, Any]:
    """What gpuprof says of it."""
    from gpuprof.analyses.basics.plain_iterations import PlainIterations
    from gpuprof.analyses.basics.result import Results
    from gpuprof.analyses.lines.cell_time import CellTime

    context, results = run.trace.context, Results(run.trace)
    by_line, iterations = results.get(CellTime), results.get(PlainIterations).plain
    kinds = [each.kind for each in context.stacks.files if each.kind in ("cell", "notebook")] if context.stacks else []
    rows = zip(*(by_line.table[each].tolist() for each in ("source_file", "line", "share")), strict=True)
    shares = {(0 if kinds[file] == "cell" else 1, line): share for file, line, share in rows}
    window, cost = context.window, context.cost
    return {
        "lines": folded(shares, cells),
        "outside_share": by_line.outside_ns / by_line.sampled_ns if by_line.sampled_ns else None,
        "how": context.stacks.how if context.stacks else None,
        "rate_hz": context.stacks.rate_hz if context.stacks else 0.0,
        "sampler_share": (context.stacks.cost_share or 0.0) if context.stacks else 0.0,
        "threads_share": cost.sampler_share,
        "wait_share": iterations.wait_share if iterations else None,
        "optimizer_share": iterations.optimizer_ns / iterations.mean_ns if iterations else None,
        "plain_from": window.first_step + window.steps_recorded,
        "window_s": (window.end_ns - window.start_ns) / 1e9,
        "start_s": cost.start_ns / 1e9,
        "stop_s": cost.stop_ns / 1e9,
        "pause_s": (cost.pause_ns or 0) / 1e9,
        "notes": list(context.notes),
    }


def folded(shares: dict[tuple[int, int], float], cells: Cells) -> dict[str, float]:
    """By statement: `0:12` is the one that begins in line 12 of the measured cell, `1:12` of the cell before."""
    first = (statement_of(cells.plain), statement_of(cells.before))
    by_statement: dict[str, float] = defaultdict(float)
    for (cell, line), share in shares.items():
        by_statement[f"{cell}:{first[cell].get(line, line)}"] += share
    return dict(by_statement)


def main() -> None:
    parser = argparse.ArgumentParser(description="one run of one program")
    parser.add_argument("name")
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("--programs", type=Path, default=default_folder())
    parser.add_argument("--device", default="cpu", choices=("cpu",))
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    text, output = source(programs()[chosen.name], chosen.programs), chosen.output.resolve()
    with tempfile.TemporaryDirectory() as folder:
        adapter = ADAPTERS[chosen.name]
        adapter = adapter.for_a_minute() if chosen.variant == TURNS else adapter
        found = play(text, adapter, chosen.variant, Path(folder))
        os.chdir("/")
    write_json(output, found)


if __name__ == "__main__":
    main()
