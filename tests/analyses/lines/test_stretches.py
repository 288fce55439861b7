"""Exact lines take the place of samples while kernels are recorded."""

from __future__ import annotations

import sysconfig

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.accounts.line_operators import LineOperators
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.context import FollowedLines, Loader, SourceFile
from gpuprof.model.trace import Trace
from tests.support.trace_builder import CELL_FILE, TraceBuilder

A, B, ELSEWHERE = (CELL_FILE, "<module>", 5), (CELL_FILE, "<module>", 6), (CELL_FILE, "<module>", 9)
LIBRARIES = sysconfig.get_paths()["purelib"]
KNOWN_NS = 9 * 90_000
NET = ("/home/me/net.py", "Net.forward", 4)


def learned(builder: TraceBuilder, until_us: int = 1_000) -> Trace:
    lines = FollowedLines(how="samples", start_ns=0, end_ns=until_us * 1000, files=(SourceFile(filename=CELL_FILE),))
    return builder.context(lines=lines).build()


def by_line(trace: Trace) -> dict[int, int]:
    found = Results(trace).get(Stretches)
    line = np.where(found.node >= 0, trace.stack_nodes["line"][found.node], -1)
    return {int(each): int(found.duration_ns[line == each].sum()) for each in np.unique(line)}


def looped() -> TraceBuilder:
    """Ten iterations of 100 µs: 60 in an operator of line 5, 30 in one of line 6, 10 in neither. The first and the last
    operators have other neighbors than those that were looked at: their line is not learned."""
    builder = TraceBuilder()
    for at in range(0, 1_000, 100):
        builder.operator("aten::mm", at, 60).operator("aten::relu", at + 60, 30)
    return builder.look(230, A).look(270, B).look(530, A).look(570, B)


def test_known_lines_replace_what_was_sampled_there() -> None:
    # GIVEN samples of the whole cell of 2 ms that saw line 6 alone while kernels were recorded, and line 9 after it
    builder = looped().stack(0, 1_000, B).stack(1_000, 1_000, ELSEWHERE)
    trace = learned(builder)
    assert by_line(trace) == {5: 540_000, 6: 270_000 + 190_000, 9: 1_000_000}
    found = Results(trace).get(Stretches)
    assert found.total_ns == 2_000_000 and found.duration_ns[found.exact].sum() == KNOWN_NS


def test_a_line_is_shared_out_among_the_stacks_that_were_seen_in_it() -> None:
    builder = looped().look(130, A, NET).look(330, A, NET).look(630, A, NET).look(730, A, NET).look(830, A, NET)
    builder.look(930, A).stack(0, 1_000, B)
    trace = learned(builder)
    found = Results(trace).get(Stretches)
    in_net = trace.stack_nodes["line"][found.node] == 4
    assert found.duration_ns[in_net].sum() / 540_000 == pytest.approx(5 / 8, abs=0.1)


def test_a_stay_has_the_stack_that_was_looked_at_nearest_in_time() -> None:
    # GIVEN looks at line 5 that saw the model in the third and the eighth iteration alone
    trace = learned(looped().look(255, A, NET).look(735, A, NET).stack(0, 1_000, B))
    found = Results(trace).get(Stretches)
    in_net = trace.stack_nodes["line"][found.node] == 4
    begins = sorted((found.start_ns[in_net] // 1_000).tolist())
    # THEN the stays nearer to them than to the looks at 230 and 530 µs, which saw the line itself
    assert begins == [300, 700, 800, 900]


def test_a_cell_that_began_before_the_first_sample_is_whole() -> None:
    assert by_line(learned(looped().stack(500, 500, B))) == {5: 540_000, 6: 270_000 + 80_000}


def test_only_sampled_time_has_an_error() -> None:
    # GIVEN half of the cell known and half of it sampled, or all of it known
    half = learned(looped().stack(0, 1_000, B).stack(1_000, 1_000, ELSEWHERE))
    whole = learned(looped().stack(90, KNOWN_NS // 1_000, B))
    shares = np.array([0.3, 0.5]), np.array([0.3, 0.0])
    known, sampled = Results(half).get(Stretches).error(*shares, half)
    assert 0 < known < sampled < 0.5
    assert Results(whole).get(Stretches).exact.sum()
    assert list(Results(whole).get(Stretches).error(*shares, whole)) < [known, sampled]


def test_a_wait_is_the_time_of_the_datasets_lines_where_looks_saw_them() -> None:
    # GIVEN waits of line 5 for a dataset of the cell, whose line 20 was seen by nine looks of ten, and torch by one
    fetch, torch_s = (CELL_FILE, "Set.__getitem__", 20), (f"{LIBRARIES}/torch/utils/data/dataloader.py", "__next__", 7)
    loader = Loader(workers=0, line=5, iterations_started=1)

    def waited(*seen: int) -> dict[int, int]:
        builder = TraceBuilder()
        for at in range(0, 1_000, 100):
            builder.data_wait(at, 80).operator("aten::mm", at + 80, 20)
            builder.look(at + 40, A, torch_s, *([fetch] if at in seen else []))
        builder.stack(0, 900, A, torch_s, fetch).stack(900, 100, A, torch_s).context(loaders=(loader,))
        return by_line(learned(builder))

    # THEN what was sampled stands; where no look saw a line of the dataset, the wait is that of the loop's line
    assert waited(*range(100, 1_000, 100)) == {7: 100_000, 20: 900_000}
    assert waited()[7] == 9 * 80_000 + 20_000  # the first wait is before the recorded span


def test_without_looks_samples_stand_alone() -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 10).stack(0, 10, A).stack(10, 20, B).build()
    assert by_line(trace) == {5: 10_000, 6: 20_000} and not Results(trace).get(Stretches).exact.any()


def test_without_samples_there_is_nothing() -> None:
    found = Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(Stretches)
    assert found.total_ns == 0 and len(found.node) == 0


def test_the_operator_of_a_line_is_named() -> None:
    assert Results(learned(looped().stack(0, 10, A))).get(LineOperators).names == {
        (CELL_FILE, 5): "aten::mm",
        (CELL_FILE, 6): "aten::relu",
    }
    assert Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(LineOperators).names == {}


@given(st.lists(st.tuples(st.integers(0, 1_200), st.integers(1, 300)), min_size=1, max_size=12))
def test_nothing_is_counted_twice(samples: list[tuple[int, int]]) -> None:
    builder, at = looped(), 0
    for gap, lasted in samples:
        at += gap
        builder.stack(at, lasted, B)
        at += lasted
    trace = learned(builder)
    found = Results(trace).get(Stretches)
    assert (found.duration_ns >= 0).all()
    assert found.duration_ns[found.exact].sum() == KNOWN_NS
    assert found.duration_ns[~found.exact].sum() <= trace.stack_samples["duration_ns"].sum()


def test_lines_that_were_followed_outside_the_recorded_span_are_left_to_samples() -> None:
    # GIVEN lines followed only after the last recorded operator
    lines = FollowedLines(how="samples", start_ns=5_000_000, end_ns=6_000_000, files=(SourceFile(filename=CELL_FILE),))
    trace = looped().stack(0, 1_000, B).context(lines=lines).build()
    assert by_line(trace) == {6: 1_000_000}
