"""Opens what a path names: a Kineto file, a Recording, or a folder of ranks."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from gpuprof.errors import ForeignFileError, TraceError, UnreadableError
from gpuprof.ingest.assemble import assemble
from gpuprof.ingest.kineto import CHUNK_BYTES, read_kineto
from gpuprof.ingest.looked import with_look, without_names
from gpuprof.ingest.snapshot import is_pickle, load_snapshot
from gpuprof.ingest.stream import KINETO
from gpuprof.model.context import RunContext
from gpuprof.model.readings import ReadingLog
from gpuprof.model.recording import KINETO as RECORDED
from gpuprof.model.recording import is_recording, read_context, read_large_table, read_table
from gpuprof.model.schema import DEVICE_READINGS, HOST_READINGS, LARGE_TABLES
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables

_RANK = re.compile(r"rank[-_]?(\d+)", re.IGNORECASE)
_WANTED = f"{KINETO}, a gpuprof recording, or a folder with the traces of several ranks"


class CapturedFiles(Protocol):
    """What a capture session brought back, as far as reading it goes; `kineto` None: nothing was recorded."""

    @property
    def folder(self) -> Path | None:
        """Where it was saved."""

    @property
    def kineto(self) -> Path | None:
        """The profiler's own trace."""

    @property
    def context(self) -> RunContext:
        """What only the live run knew."""

    @property
    def device_readings(self) -> ReadingLog:
        """NVML readings."""

    @property
    def large(self) -> tuple[Table, ...]:
        """What else was noted over the whole cell: tables of `schema.LARGE_TABLES`."""

    @property
    def host_readings(self) -> Table:
        """Readings of the process."""


def load_trace(path: Path | str, *, rank: int | None = None) -> Trace:
    """The Trace of a `*.json` or `*.json.gz` Kineto file, a Recording folder, or one rank of a folder of ranks.

    Of a folder of ranks the wanted one, by default the lowest. TraceError or RecordingError, with one clear line,
    where the path cannot be read or holds no such rank.
    """
    path = Path(path)
    if not _is_folder_of_ranks(path):
        trace = _load_one(path)
        if rank is not None and trace.source.rank not in (None, rank):
            raise UnreadableError(path, f"this is rank {trace.source.rank}", expected=f"rank {rank}")
        return trace
    if rank is None:
        return load_ranks(path)[0]
    there = []
    for trace in _each(path, sorted(_trace_files(path), key=lambda file: _rank_in(file) != rank)):
        if trace.source.rank == rank:
            return trace
        there.append(trace.source.rank)
    ranks = ", ".join(str(known) for known in sorted(known for known in there if known is not None))
    raise UnreadableError(path, f"there is no rank {rank} in this folder", expected=f"one of {ranks or 'none'}")


def load_ranks(path: Path | str) -> list[Trace]:
    """Every rank of a folder, lowest first (those without a number last, by name); of anything else its one Trace."""
    path = Path(path)
    if not _is_folder_of_ranks(path):
        return [_load_one(path)]
    traces = list(_each(path, _trace_files(path)))
    return sorted(traces, key=lambda trace: (trace.source.rank is None, trace.source.rank or 0, trace.source.path))


def load_captured(captured: CapturedFiles) -> Trace:
    """The Trace of what a capture session brought back, whether it could be saved or not."""
    folder = captured.folder or Path("unsaved recording")
    samples = {
        "device_readings": captured.device_readings.table,
        "host_readings": captured.host_readings,
        **{table.schema.name: table for table in captured.large},
    }
    return _recorded(folder, captured.kineto, captured.context, samples)


def _is_folder_of_ranks(path: Path) -> bool:
    try:
        if not path.exists():
            raise UnreadableError(path, "there is no such file or folder", expected=_WANTED)
        return path.is_dir() and not is_recording(path)
    except OSError as error:
        raise UnreadableError(path, f"cannot be opened ({error.strerror})", expected=_WANTED) from error


def _each(folder: Path, files: Iterable[Path]) -> Iterator[Trace]:
    """The traces among the files; UnreadableError or ForeignFileError where there is none."""
    foreign, any_trace = None, False
    for file in files:
        try:
            trace = _load_one(file)
        except ForeignFileError as error:
            foreign = foreign or error
            continue
        any_trace = True
        yield trace
    if not any_trace:
        raise foreign or UnreadableError(folder, "the folder holds no trace", expected=_WANTED)


def _load_one(path: Path) -> Trace:
    if path.is_dir():
        kineto = path / RECORDED
        samples = {schema.name: read_table(path, schema) for schema in (DEVICE_READINGS, HOST_READINGS)}
        samples |= {schema.name: read_large_table(path, schema) for schema in LARGE_TABLES}
        return _recorded(path, kineto if kineto.exists() else None, read_context(path), samples)
    return load_snapshot(path) if is_pickle(path) else read_trace_file(path)


def read_trace_file(path: Path, *, chunk_bytes: int = CHUNK_BYTES) -> Trace:
    """The Trace of one Kineto file, read in pieces of about `chunk_bytes` (which changes the speed, never the Trace).

    The rank is what the file says, else the `rank3` in its name. TraceError where it cannot be read.
    """
    file = read_kineto(path, chunk_bytes=chunk_bytes)
    source = file.source if file.source.rank is not None else dataclasses.replace(file.source, rank=_rank_in(path))
    return assemble(file.tables, file.names, source, external_ids=file.external_ids, devices=file.devices)


def _recorded(folder: Path, kineto: Path | None, context: RunContext, samples: Mapping[str, Table]) -> Trace:
    """A Recording whose trace is missing or unreadable still counts: the rest of it is kept, and the reason noted."""
    environment = context.environment
    look, context = context.look, without_names(context)
    torch = environment.torch or None if environment else None
    devices = environment.devices if environment else ()
    source = Source(path=str(folder), kind="recording", torch=torch)
    try:
        file = read_kineto(kineto) if kineto else None
        problem = "No kernel recording was saved with this run."
    except TraceError as error:
        file, problem = None, f"The kernel recording could not be read: {error.problem}."
    if file is None:
        source = dataclasses.replace(source, kernels_saved=False, notes=(problem,))
        tables, names = with_look({**empty_tables(), **samples}, (), look)
        return assemble(tables, names, source, devices=devices, context=context)
    source = dataclasses.replace(file.source, path=source.path, kind=source.kind, torch=torch or file.source.torch)
    tables, names = with_look({**file.tables, **samples}, file.names, look)
    devices = file.devices or devices
    return assemble(tables, names, source, external_ids=file.external_ids, devices=devices, context=context)


def _trace_files(folder: Path) -> list[Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.is_file() and file.name.endswith((".json", ".json.gz")))
    except OSError as error:
        raise UnreadableError(folder, f"cannot be opened ({error.strerror})", expected=_WANTED) from error


def _rank_in(path: Path) -> int | None:
    found = _RANK.search(path.name)
    return int(found[1]) if found else None
