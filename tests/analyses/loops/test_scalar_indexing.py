"""Runs of reads and writes of single numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.scalar_indexing import Accesses, ScalarIndexing
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace
from tests.support.trace_builder import SINGLE_PROCESS_NEXT, TraceBuilder

SELECT, NUMBER, COPY, ITEM = "aten::select", "aten::lift_fresh", "aten::copy_", "aten::item"
WRITE, READ = (NUMBER, SELECT, COPY), (SELECT, ITEM)


def accesses(trace: Trace) -> ScalarIndexing:
    return Results(trace).get(ScalarIndexing)


def _sequence(*names: str, every_us: float = 2, dims: str | None = None) -> TraceBuilder:
    """Operators of 1 µs; `dims` are those of every last one of an access."""
    builder = TraceBuilder().step(0, every_us * len(names) + 1)
    for place, name in enumerate(names):
        shown = {"dims": dims, "types": '["float", "float", "Scalar"]'} if dims and name == COPY else {}
        builder.operator(name, every_us * place, 1, **shown)
    return builder


def _told(found: Accesses) -> list[tuple[int, int]]:
    return list(zip(found.number.tolist(), found.writes.tolist(), strict=True))


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (WRITE, [(10, 10)]),
        (READ, [(10, 0)]),
        ((SELECT, *WRITE), [(10, 10)]),
        ((*READ, *WRITE), [(20, 10)]),
        ((SELECT, COPY), []),
        ((NUMBER, SELECT, "aten::fill_"), []),
        ((ITEM,), []),
        ((*WRITE, "aten::mm"), []),
        ((SELECT, "aten::mm"), []),
        ((SELECT, SELECT, "aten::eq", "aten::is_nonzero"), [(10, 0)]),
        ((SELECT, "aten::eq", "aten::sum", ITEM), []),
    ],
    ids=[
        "write",
        "read",
        "of a row",
        "both",
        "perhaps rows",
        "rows",
        "losses",
        "with other work",
        "rows taken",
        "compared",
        "counted",
    ],
)
def test_a_run_is_made_of_accesses_and_what_leads_to_them(turn: tuple[str, ...], told: list[tuple[int, int]]) -> None:
    assert _told(accesses(_sequence(*turn * 10).build()).known) == told


def test_a_run_lasts_from_its_first_slice_to_its_last_access() -> None:
    found = accesses(_sequence("aten::mm", *WRITE * 12, SELECT, "aten::mm").build()).known
    assert (found.within.starts.tolist(), found.within.ends.tolist()) == ([2_000], [73_000])
    assert (found.operators_ns.tolist(), found.step.tolist(), found.per_step(1).tolist()) == ([36_000], [0], [12])


@pytest.mark.parametrize(("dims", "known"), [("[[], [], []]", 12), ("[[5], [], []]", 0)])
def test_shapes_tell_numbers_from_rows(dims: str, known: int) -> None:
    found = accesses(_sequence(*(SELECT, COPY) * 12, dims=dims).build())
    assert (found.known.number.sum(), found.possible.number.sum()) == (known, known)


def test_without_shapes_a_copy_to_a_slice_is_possible() -> None:
    assert _told(accesses(_sequence(*(SELECT, COPY) * 12).build()).possible) == [(12, 12)]


def test_what_was_unbound_is_read_number_by_number() -> None:
    assert _told(accesses(_sequence("aten::unbind", *[ITEM] * 12).build()).known) == [(12, 0)]


def test_nine_are_none_and_long_breaks_end_a_run() -> None:
    assert _told(accesses(_sequence(*READ * 9).build()).known) == []
    assert _told(accesses(_sequence(*READ * 12, every_us=30).build()).known) == []


def test_accesses_while_a_batch_is_made_are_the_loaders() -> None:
    assert _told(accesses(_sequence(*READ * 12).span(SINGLE_PROCESS_NEXT, 0, 60).build()).known) == []


def test_a_run_ends_with_the_step() -> None:
    builder = TraceBuilder()
    for at in (0, 30):
        builder.step(at, 30)
        for place, name in enumerate(READ * 7):
            builder.operator(name, at + 2 * place, 1)
    assert _told(accesses(builder.build()).known) == []


def test_every_shared_trace_is_read(any_shared_trace: Any) -> None:
    found = accesses(any_shared_trace)
    assert found.known.number.sum() <= found.possible.number.sum()
    for runs in (found.known, found.possible):
        assert (runs.within.ends > runs.within.starts).all() and (runs.writes <= runs.number).all()
        assert (runs.operators_ns <= runs.within.ends - runs.within.starts).all()


@pytest.mark.parametrize("shapes", [True, False], ids=["shapes", "no shapes"])
@pytest.mark.parametrize(
    ("access", "reads", "writes", "needs_shapes"),
    [
        (lambda x, i: x.__setitem__((i, 2), 1.5), 0, 1, False),
        (lambda x, i: x[i].__setitem__(2, 1.5), 0, 1, False),
        (lambda x, i: x[i, 2].item(), 1, 0, False),
        (lambda x, i: float(x[i][2]), 1, 0, False),
        (lambda x, i: bool(x[i, 2] > x[i, 1]), 1, 0, False),
        (lambda x, i: x.__setitem__((i, 2), x[i - 1, 2] * 2), 0, 1, True),
        (lambda x, i: x.__setitem__(i, 1.5), 0, 0, False),
        (lambda x, i: x[i].sum().item(), 0, 0, False),
        (lambda x, i: x[i].tolist(), 0, 0, False),
    ],
    ids=["x[i, j] =", "x[i][j] =", "item", "float", "if", "recurrence", "row =", "sum of a row", "tolist"],
)
def test_torch_records_accesses_as_they_are_read_here(
    tmp_path: Path, access: Callable[[Any, int], Any], reads: int, writes: int, needs_shapes: bool, shapes: bool
) -> None:
    import torch
    from torch.profiler import ProfilerActivity, profile

    x = torch.zeros(16, 4)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=shapes) as recorded:
        for index in range(1, 15):
            access(x, index)
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    found = _without_breaks(load_trace(tmp_path / "trace.json"))
    known = shapes or not needs_shapes
    assert (sum(n for n, _ in found), sum(w for _, w in found)) == (14 * (reads + writes) * known, 14 * writes * known)


def _without_breaks(trace: Trace) -> list[tuple[int, int]]:
    """The same operators as built ones: how long the machine paused between them must not matter."""
    builder, top = TraceBuilder(), trace.operators.take(trace.operators["parent"] < 0)
    for place in range(len(top)):
        dims, types = int(top["input_dims"][place]), int(top["input_types"][place])
        builder.operator(
            trace.names[top["name"][place]],
            2 * place,
            1,
            dims=trace.names[dims] if dims >= 0 else None,
            types=trace.names[types] if types >= 0 else None,
        )
    return _told(accesses(builder.build()).known)
