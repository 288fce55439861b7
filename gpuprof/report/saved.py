"""The runs on disk, known by their contexts and summaries: none is read whole where that can be helped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gpuprof.errors import RecordingError
from gpuprof.model.context import Cell
from gpuprof.model.recording import read_context
from gpuprof.model.run_store import list_runs
from gpuprof.report.summary import Summary, read_summary


@dataclass(frozen=True)
class RunOnDisk:
    """One run on disk.

    `number` counts the runs of its folder. `created_ns` counts from 1970, `cell_ns` is the wall-clock time of the whole
    cell.
    """

    run_id: str
    number: int | None
    folder: Path
    cell: Cell | None
    created_ns: int | None
    cell_ns: int | None
    error: str | None

    @property
    def name(self) -> str | None:
        """What `--name` gave it."""
        return self.cell.name if self.cell else None

    @classmethod
    def read(cls, folder: Path) -> Self:
        """From a run folder; RecordingError where it cannot be read."""
        context = read_context(folder)
        cell, window, outcome = context.cell, context.window, context.outcome
        return cls(
            run_id=context.run_id or folder.name,
            number=context.run_number,
            folder=folder,
            cell=cell,
            created_ns=context.created_ns,
            cell_ns=window.cell_end_ns - window.cell_start_ns if window else None,
            error=outcome.error if outcome else None,
        )

    @classmethod
    def all_in(cls, folder: Path) -> tuple[list[Self], int]:
        """Those of a folder, oldest first, and how many could not be read; OSError where it cannot be listed."""
        runs: list[Self] = []
        unreadable = 0
        for path in list_runs(folder):
            try:
                runs.append(cls.read(path))
            except RecordingError:
                unreadable += 1
        runs.sort(key=lambda run: run.created_ns or 0)
        return runs, unreadable

    def summary(self) -> Summary:
        """The one kept beside it, else taken from the whole run; RecordingError or TraceError where it cannot be."""
        kept = read_summary(self.folder)
        if kept is not None:
            return kept
        from gpuprof.ingest.load import load_ranks
        from gpuprof.report.report import Report

        trace, *others = load_ranks(self.folder)
        return Summary.of(Report.of(trace, others=tuple(others)))
