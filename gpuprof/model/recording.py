"""A Recording: one profiled run as a folder on disk. Capture writes it, everything else reads it.

    <run id>/
      recording.json       format number, RunContext
      kineto.json.gz       the profiler's own trace, unchanged
      device_readings.json  NVML readings, by column
      host_readings.json    readings of the process, by column
      line_events.npz      which line ran when, by column; absent where no line was followed
      iterations.npz       every iteration of the cell; absent where there were none
      stack_nodes.npz, stack_samples.npz, stack_instants.npz   the sampled stacks; absent where none were
      module_calls.npz     which module of a model ran when; absent where none did
      looked_operators.npz, looked_values.npz, looked_reads.npz, looked_results.npz   the close look; absent without one

A folder without `kineto.json.gz` is a run whose kernel recording failed; the rest still counts.
"""

from __future__ import annotations

import contextlib
import math
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gpuprof.errors import RecordingError
from gpuprof.model.context import RunContext
from gpuprof.model.schema import LARGE_TABLES
from gpuprof.model.table import Table, TableSchema

FORMAT = 1
MANIFEST = "recording.json"
KINETO = "kineto.json.gz"
# as the first recordings named them
_OLD_NAMES = {"device_readings": "device_readings", "host_readings": "host_readings"}
PRODUCER = "gpuprof"
_PART = f"{MANIFEST}.part"
FILES = (
    *(MANIFEST, _PART, KINETO),
    *(
        "device_readings.json",
        "host_readings.json",
        "device_readings.json",
        "host_readings.json",
        *(f"{each.name}.npz" for each in LARGE_TABLES),
        "measured.json",
        "tuned.json",
        "summary.json",
    ),
)  # all that gpuprof writes into a run's folder, and all that it deletes from there
CLOCK_MARK = "gpuprof.clock"  # capture's own user range, to compare clocks; no part of the run
CLOSURE = "gpuprof.closure"  # capture's range around a closure that `Optimizer.step` is given


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What `recording.json` holds. `producer` is None in recordings older than that mark."""

    format: int
    producer: str | None = None
    context: RunContext


def is_recording(path: Path) -> bool:
    """Whether the folder holds a Recording (of any format number)."""
    return (path / MANIFEST).is_file()


def written_by_gpuprof(folder: Path) -> bool:
    """Whether the folder holds a Recording that gpuprof wrote for the run whose id is the folder's name."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    environment = manifest.context.environment
    ours = manifest.producer == PRODUCER or (manifest.producer is None and environment and environment.gpuprof)
    return bool(ours) and manifest.format == FORMAT and manifest.context.run_id == folder.name


def write_context(folder: Path, context: RunContext) -> None:
    """Write `recording.json`, whole or not at all; OSError where the folder cannot be written."""
    manifest = Manifest(format=FORMAT, producer=PRODUCER, context=context)
    part = folder / _PART
    try:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
        part.replace(folder / MANIFEST)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def read_context(folder: Path) -> RunContext:
    """Read `recording.json`.

    RecordingError where it is missing, of another format number, or does not hold what it should.
    """
    path = folder / MANIFEST
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror}); expected a gpuprof recording") from error
    try:
        version = msgspec.json.decode(raw, type=dict[str, Any]).get("format")
        if version != FORMAT:
            raise RecordingError(
                f"{path}: format {version}; this gpuprof reads format {FORMAT}; read it with the version that wrote it"
            )
        return msgspec.json.decode(raw, type=Manifest).context
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"{path}: {error}; expected a gpuprof recording") from error


def write_table(folder: Path, table: Table) -> None:
    """Write a small table as `<name>.json`, by column, NaN as null; OSError where the folder cannot be written."""
    columns = {
        name: [None if isinstance(value, float) and math.isnan(value) else value for value in values]
        for name, values in table.to_dict().items()
    }
    (folder / f"{table.schema.name}.json").write_bytes(msgspec.json.encode(columns))


def read_table(folder: Path, table_schema: TableSchema) -> Table:
    """Read what `write_table` wrote; an absent file is an empty table. RecordingError where it is not such a table."""
    path = folder / f"{table_schema.name}.json"
    if not path.exists() and table_schema.name in _OLD_NAMES:
        path = folder / f"{_OLD_NAMES[table_schema.name]}.json"
    if not path.exists():
        return Table(table_schema)
    try:
        columns = msgspec.json.decode(path.read_bytes(), type=dict[str, list[float | int | bool | None]])
        known = {column.name: column.missing for column in table_schema.columns}
        return Table(
            table_schema,
            {
                name: [known[name] if value is None else value for value in values]
                for name, values in columns.items()
                if name in known
            },
        )
    except (OSError, msgspec.DecodeError, ValueError, OverflowError, RecursionError) as error:
        raise RecordingError(f"{path}: {error}; expected the columns of {table_schema.name}") from error


def write_large_table(folder: Path, table: Table) -> None:
    """Write a table as `<name>.npz`, by column; OSError where the folder cannot be written."""
    columns: dict[str, Any] = {column.name: table[column.name] for column in table.schema.columns}
    np.savez(folder / f"{table.schema.name}.npz", **columns)


def read_large_table(folder: Path, table_schema: TableSchema) -> Table:
    """Read what `write_large_table` wrote; an absent file is an empty table. RecordingError where it is no such one."""
    path = folder / f"{table_schema.name}.npz"
    if not path.exists():
        return Table(table_schema)
    known = {column.name for column in table_schema.columns}
    try:
        with np.load(path, allow_pickle=False) as stored:
            return Table(table_schema, {name: stored[name] for name in stored.files if name in known})
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise RecordingError(f"{path}: {error}; expected the columns of {table_schema.name}") from error


__all__ = [
    "CLOCK_MARK",
    "CLOSURE",
    "FILES",
    "FORMAT",
    "KINETO",
    "MANIFEST",
    "PRODUCER",
    "is_recording",
    "read_context",
    "read_large_table",
    "read_table",
    "write_context",
    "write_large_table",
    "write_table",
    "written_by_gpuprof",
]
