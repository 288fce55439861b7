"""The stack sampler of a run: from outside over the whole cell, or a thread of ours where that cannot be."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from gpuprof.capture.base.notebook_files import source_file
from gpuprof.capture.stacks.folding import StackTree
from gpuprof.capture.stacks.memory_sampler import MemorySampler
from gpuprof.capture.stacks.spy import SpySampler
from gpuprof.capture.stacks.thread_sampler import ThreadSampler
from gpuprof.errors import CaptureError
from gpuprof.model.context import FollowedLines, SampledFile, SampledStacks, SourceFile
from gpuprof.model.schema import STACK_INSTANTS, STACK_NODES, STACK_SAMPLES
from gpuprof.model.table import Table

# from here on every line is followed while the kernels are recorded
_LINE_EVENTS_FROM = (3, 12)


class StackWatch:
    """From `start` to `finish` or `abandon`; `begin` and `pause` where the kernel recording begins and ends.

    Nothing here raises: where sampling fails the run goes without, and `notes` says why.
    """

    def __init__(self, cell_filename: str | None, namespace: Mapping[str, Any] | None, *, wanted: bool = True):
        self._wanted = wanted
        self._namespace = namespace
        self._tree = StackTree(cell_filename)
        self._outside: MemorySampler | SpySampler | None = None
        # the best first
        self._untried: list[MemorySampler | SpySampler] = [MemorySampler(), SpySampler()] if wanted else []
        self._thread = ThreadSampler()
        self._start_ns = 0
        self.notes: list[str] = []

    def start(self) -> None:
        """Begin to sample the calling thread."""
        self._start_ns = time.time_ns()
        self._guarded(self._start)

    def begin(self) -> None:
        """The kernels are recorded from here on."""
        if self._outside is not None and sys.version_info < _LINE_EVENTS_FROM:
            self._thread.clear()
            self._guarded(self._thread.start)

    def pause(self) -> None:
        """They no longer are."""
        if self._outside is not None:
            self._guarded(self._thread.stop)

    def tick(self) -> None:
        """From time to time, from any thread."""
        self._guarded(self._tick)

    def ask_to_end(self) -> None:
        """The cell has ended: what follows is not sampled."""
        if self._outside is not None:
            self._guarded(self._outside.ask_to_end)

    def abandon(self) -> None:
        """End, and keep nothing."""
        self._guarded(self._thread.stop)
        if self._outside is not None:
            self._outside.abandon()

    def finish(self) -> tuple[SampledStacks | None, tuple[Table, Table, Table]]:
        """End, and return what was seen: how, the nodes, the stretches of time, and the instants in the window."""
        end_ns = time.time_ns()
        rows: list[tuple[int, int, int]] = []
        instants: list[tuple[int, int]] = []
        self._guarded(self._thread.stop)
        if self._wanted:
            rows = self._stretches()
            instants = self._thread.instants(self._tree)
        by = self._outside or self._thread
        samples = _columns(rows, ("start_ns", "end_ns", "node"))
        samples["duration_ns"] = samples.pop("end_ns") - samples["start_ns"]
        tables = (
            self._tree.table(),
            Table(STACK_SAMPLES, samples),
            Table(STACK_INSTANTS, _columns(instants, ("time_ns", "node"))),
        )
        if not rows:
            return None, (Table(STACK_NODES), Table(STACK_SAMPLES), Table(STACK_INSTANTS))
        length_ns = max(end_ns - self._start_ns, 1)
        return SampledStacks(
            how=by.how,
            start_ns=self._start_ns,
            end_ns=end_ns,
            rate_hz=float(by.rate_hz),
            cost_share=(by.cpu_ns + (self._thread.cpu_ns if self._outside else 0)) / length_ns,
            files=tuple(self._with_source(each) for each in self._tree.files),
            functions=tuple(self._tree.functions),
        ), tables

    def _start(self) -> None:
        why = ""
        while self._untried and self._outside is None:
            sampler = self._untried.pop(0)
            try:
                sampler.start()
                self._outside = sampler
            except CaptureError as error:
                why = str(error)
        if self._wanted and self._outside is None:
            self._fall_back(why)
            self._thread.start()

    def _tick(self) -> None:
        if self._outside is None:
            return
        try:
            self._outside.tick()
        except CaptureError:  # it cannot be had here: the next one, for the rest of the cell
            self._outside.abandon()
            self._outside = None
            self._start()

    def _stretches(self) -> list[tuple[int, int, int]]:
        try:
            if self._outside is not None:
                return self._outside.finish(self._tree)
        except CaptureError as error:
            self._outside = None
            self._fall_back(str(error))
        return self._thread.stretches(self._tree)

    def _fall_back(self, why: str) -> None:
        self.notes.append(
            f"lines are less certain in this run: {why}, so a thread sampled them, which does not see code that holds "
            "the GIL"
        )

    def _with_source(self, file: SampledFile) -> SampledFile:
        if file.kind != "notebook":
            return file
        known = source_file(file.filename, self._namespace)
        return msgspec.structs.replace(file, source=known.source, execution_count=known.execution_count)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001  - a fault of ours must not cost the user the run; a Ctrl-C passes
            self.notes.append(f"the stacks could not be sampled ({type(error).__name__}: {error})")


def learned_lines(stacks: SampledStacks | None, start_ns: int, end_ns: int) -> FollowedLines | None:
    """What says that the lines of that part of the cell can be learned from the stacks; None where they cannot."""
    if stacks is None or not start_ns < end_ns or sys.version_info >= _LINE_EVENTS_FROM:
        return None
    own = (each for each in stacks.files if each.kind in ("cell", "notebook"))
    files = tuple(SourceFile(filename=e.filename, source=e.source, execution_count=e.execution_count) for e in own)
    return FollowedLines(how="samples", start_ns=start_ns, end_ns=end_ns, files=files)


def _columns(rows: list[Any], names: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(names, np.array(rows, np.int64).reshape(-1, len(names)).T, strict=True))
