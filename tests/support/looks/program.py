"""The programs by name, and what was recorded of them.

`python -m tests.support.looks.program` records all of them anew, with the torch that is there; then the kept figures
are to be written as well. Times are not those of a clock: they follow from the sizes, so that they are the same again.
"""

from __future__ import annotations

import functools
import gzip
import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.ingest.looked import with_look
from gpuprof.model.context import Cell, RunContext
from gpuprof.model.look import Look
from gpuprof.model.look_schema import LOOKED
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables
from tests.support.trace_builder import CELL_FILE, TraceBuilder

FOLDER = Path(__file__).parents[2] / "data" / "looks"
MODULES = ("training", "sequences", "loops", "arithmetic")
LEAST_NS = 100


class Iterations(Protocol):
    """What a program may tell the look."""

    def iteration_ended(self) -> None: ...


class Turns:
    """Counts them."""

    def __init__(self) -> None:
        self.ended = 0

    def iteration_ended(self) -> None:
        self.ended += 1


PROGRAMS: dict[str, Callable[[Iterations], Any]] = {}


def program(code: Callable[[Iterations], Any]) -> Callable[[Iterations], Any]:
    """Put it among the programs."""
    PROGRAMS[code.__name__] = code
    return code


def recorded() -> list[str]:
    """The names of those that were recorded."""
    return sorted(path.name.partition(".")[0] for path in FOLDER.glob("*.json.gz"))


ON_DEVICE = (
    *("products_in_a_costly_order", "same_work_again", "same_work_within", "hardly_read", "bias_before_a_norm"),
    *("gradients_row_by_row", "embeddings_with_padding", "masks_of_losses", "columns_picked", "all_pairs", "adversary"),
    *("mostly_zeros", "chosen_by_a_mask", "graph_is_dropped", "round_trips", "written_attention", "two_sided"),
)
"""What is judged as if a GPU had done the work, too."""


def judged(name: str, *, device: bool = False) -> Results:
    """A cell whose four steps each ran the operators of that look, on the host or with a kernel for each.

    Of every second program stacks were sampled, too.
    """
    trace, builder, at = looked(name), TraceBuilder(), 0.0
    operators, places = trace.tables["looked_operators"], trace.context.look.places  # type: ignore[union-attr]
    rows = list(zip(*(operators[each].tolist() for each in ("name", "place", "duration_ns")), strict=True))
    for _ in range(4):
        begin = at
        for called, place, long in rows:
            line = places[place].line if place >= 0 else 1
            builder.line(line, at).operator(trace.names[called], at, long / 1000)
            if device:
                kernel = f"kernel of {trace.names[called]}"
                builder.kernel(kernel, at + 3, long / 1000, launch_at_us=at, launch_for_us=0.05)
            elif len(rows) % 2:
                builder.stack(at, long / 1000, (CELL_FILE, "<module>", line))
            at += long / 1000
        if device:
            builder.sync(at, 5)
            at += 5
        builder.step(begin, at - begin)
    run = builder.context(cell=Cell(source=_told(name)["source"], filename=CELL_FILE)).build()
    looked_names = msgspec.structs.replace(trace.context.look, names=trace.names)
    tables = {**run.tables, **{schema.name: trace.tables[schema.name] for schema in LOOKED}}
    tables, names = with_look(tables, run.names, looked_names)
    context = msgspec.structs.replace(run.context, look=trace.context.look)
    return Results(replace(run, tables=tables, names=names, context=context))


@functools.cache
def _told(name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    return told


def looked(name: str) -> Trace:
    """A program's look, as a Trace with nothing else."""
    told = _told(name)
    tables = {schema.name: Table(schema, _floats(told["tables"][schema.name])) for schema in LOOKED}
    context = RunContext(look=msgspec.convert(told["look"], Look))
    return Trace(Source("look"), tuple(told["names"]), {**empty_tables(), **tables}, 0, 1, context=context)


def _floats(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """NaN was written as null."""
    return {
        name: [np.nan if each is None else each for each in values] if None in values else values
        for name, values in columns.items()
    }


def _columns(table: Table) -> dict[str, list[Any]]:
    columns = {}
    for column in table.schema.columns:
        values = table[column.name].tolist()
        columns[column.name] = [None if each != each else each for each in values]
    return columns


def _timed(tables: Mapping[str, Table]) -> dict[str, Table]:
    """With durations by size, one operator after the other."""
    operators = tables["looked_operators"]
    elements = np.zeros(len(operators), np.int64)
    for side in ("looked_reads", "looked_results"):
        np.add.at(elements, tables[side]["operator"], tables[side]["elements"])
    durations = LEAST_NS + (np.maximum(elements, 0) ** 1.5).astype(np.int64)
    return {
        **tables,
        "looked_operators": operators.replace(duration_ns=durations, start_ns=np.cumsum(durations) - durations),
    }


def write() -> None:
    """All of them anew."""
    import torch

    from tests.support.looked_runs import looked_at

    for module in MODULES:
        importlib.import_module(f"tests.support.looks.{module}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, code in PROGRAMS.items():
        turns = Turns()
        code(turns)
        torch.manual_seed(0)
        trace = looked_at(code, file=code.__code__.co_filename, iterations=turns.ended or None)
        look = trace.context.look
        assert look is not None
        tables = _timed({schema.name: trace.tables[schema.name] for schema in LOOKED})
        places = tuple(each._replace(file=Path(each.file).name) for each in look.places)
        steady = msgspec.structs.replace(look, places=places, cost_ns=0, start_ns=0, end_ns=1, names=())
        told = {
            "look": msgspec.to_builtins(steady),
            "source": "\n" * (code.__code__.co_firstlineno - 1) + inspect.getsource(code),
            "names": trace.names,
            "tables": {name: _columns(table) for name, table in tables.items()},
        }
        text = json.dumps(told, separators=(",", ":")).encode()
        (FOLDER / f"{name}.json.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    from tests.support.looks import program as own

    own.write()
