"""Repeated modules become one row."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.modules.module_times import ModuleTimes
from gpuprof.views.module_rows import ModuleRow, flat, module_tree
from tests.support.trace_builder import TraceBuilder


def rows(builder: TraceBuilder) -> list[ModuleRow]:
    return flat(module_tree(Results(builder.build()).get(ModuleTimes).times))


def shown(builder: TraceBuilder) -> list[tuple[str, int]]:
    return [(".".join(row.path), row.copies) for row in rows(builder)]


def model(kinds: tuple[str, ...], part: str = "fc") -> TraceBuilder:
    builder = TraceBuilder().module("Net", 0, 1000)
    for number, kind in enumerate(kinds):
        builder.module(f"Net.layers.{number}", 100 * number, 50, kind=kind)
        builder.module(f"Net.layers.{number}.{part}", 100 * number, 10 + number, kind="Linear")
    return builder


def test_layers_of_one_make_are_one_row() -> None:
    found = rows(model(("Block",) * 4))
    assert [(".".join(row.path), row.copies, row.depth) for row in found] == [
        ("Net", 1, 0),
        ("Net.layers.*", 4, 1),
        ("Net.layers.*.fc", 4, 2),
    ]
    assert (found[1].time.calls, found[1].time.host_ns, found[1].time.own_host_ns) == (4, 200_000, 154_000)
    assert found[2].time.host_ns == 46_000


def test_unlike_neighbours_and_few_stay_apart() -> None:
    assert ("Net.layers.0", 1) in shown(model(("Block", "Block")))
    paths = shown(model(("Block", "Other", "Block", "Block", "Block")))
    assert [path for path, _ in paths] == [
        *("Net", "Net.layers", "Net.layers.0", "Net.layers.0.fc", "Net.layers.1", "Net.layers.1.fc"),
        *("Net.layers.*", "Net.layers.*.fc"),
    ]
    assert ("Net.layers.*", 3) in paths


def test_names_that_end_in_a_number_are_no_copies() -> None:
    builder = TraceBuilder().module("Net", 0, 100)
    for number in range(4):
        builder.module(f"Net.conv{number}", 10 * number, 5, kind="Conv2d")
    assert len(shown(builder)) == 5


def test_frames_fold_by_class_whatever_their_numbers() -> None:
    builder = TraceBuilder().frame("nn.Module: Net_0", 0, 1000)
    for layer in range(3):
        builder.frame(f"nn.Module: Block_{layer}", 100 * layer, 90)
        for part in range(2):
            builder.frame(f"nn.Module: Linear_{2 * layer + part}", 100 * layer + 10 * part, 5)
        builder.frame(f"nn.Module: ReLU_{layer}", 100 * layer + 50, 5)
    assert shown(builder) == [
        ("Net_0", 1),
        ("Net_0.Block_*", 3),
        ("Net_0.Block_*.Linear_*", 3),
        ("Net_0.Block_*.Linear_*", 3),
        ("Net_0.Block_*.ReLU_*", 3),
    ]


def test_own_times_add_up_however_they_are_folded() -> None:
    builder = model(("Block",) * 5)
    times = Results(builder.build()).get(ModuleTimes).times
    assert sum(row.time.own_host_ns for row in rows(builder)) == sum(each.own_host_ns for each in times)
