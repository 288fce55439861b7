"""What names and hooks hold beside the growth of memory, and which lines of the notebook fill it."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.kept_memory import DeviceKept, KeptMemory, KeptTensors, _later
from gpuprof.model.context import Cell, FollowedLines, SourceFile, Window
from gpuprof.model.memory import Allocator, HeldTensors
from tests.rules.memory.memory_runs import GIB, allocator, run

MIB = 1 << 20


def held(graph_bytes: int | None = 0, *, name: str = "kept", device: str = "cuda:0", graphs: int = 9) -> HeldTensors:
    return HeldTensors(
        name=name, kind="global", device=device, bytes=64, tensors=9, graphs=graphs, graph_bytes=graph_bytes
    )


def kept(source: str, *rows: HeldTensors, memory: Allocator | None = None) -> KeptMemory:
    allocators = (memory or allocator(6, 6, allocated_before_bytes=GIB, allocated_after_bytes=5 * GIB),)
    return Results(run(held=rows, cell=Cell(source=source), allocators=allocators).build()).get(KeptMemory)


def only(source: str, *rows: HeldTensors) -> KeptTensors:
    (device,) = kept(source, *rows).devices
    (found,) = device.kept
    return found


def test_growth_peak_and_what_is_free_are_of_the_allocator() -> None:
    (device,) = kept("", held()).devices
    assert (device.device, device.grown_bytes, device.peak_bytes, device.free_bytes) == (
        "cuda:0",
        4 * GIB,
        6 * GIB,
        10 * GIB,
    )
    (other,) = kept("", held(device="cuda:1")).devices
    assert (other.grown_bytes, other.peak_bytes, other.free_bytes) == (None, None, None)


def on_host(*mib: int, **facts: Any) -> DeviceKept:
    """What the process held, every 100 ms from the end of the first 200."""
    builder = run(held=(held(device="cpu"),), cell=Cell(source=""), host_start=facts)
    builder.context(window=Window(cell_start_ns=0, cell_end_ns=10_000_000_000))
    for number, each in enumerate(mib):
        builder.host_sample(200_000 + number * 100_000, resident_bytes=each * MIB)
    (device,) = Results(builder.build()).get(KeptMemory).devices
    return device


def test_on_the_host_they_are_of_the_process() -> None:
    """Growth counts from the least that it held, not from the first reading."""
    device = on_host(300, 200, 500, 900, 700, available_bytes=4 * GIB)
    figures = (device.device, device.grown_bytes, device.peak_bytes, device.free_bytes)
    assert figures == ("cpu", 500 * MIB, 900 * MIB, 4 * GIB)


@pytest.mark.parametrize("facts", [{}, {"available_bytes": None}, {"available_bytes": "much"}])
def test_on_the_host_what_is_free_may_not_be_known(facts: dict[str, Any]) -> None:
    assert (on_host(300, 200, 500, 900, 700, **facts).free_bytes, on_host(300, 200).grown_bytes) == (None, None)


@pytest.mark.parametrize(
    ("body", "lines", "summed"),
    [
        ("kept.append(net(x))", (2,), False),
        ("kept[step] = net(x)", (2,), False),
        ("kept += net(x)", (2,), True),
        ("kept = kept + net(x)", (2,), True),
        ("kept = net(x) + kept", (2,), True),
        ("kept = net(x)", (), False),
        ("kept = kept - net(x)", (), False),
        ("other.append(kept)", (), False),
    ],
)
def test_lines_that_fill_it(body: str, lines: tuple[int, ...], summed: bool) -> None:
    found = only(f"for step, x in data:\n    {body}\n", held())
    assert (found.lines, found.summed, found.filled) == (lines, summed, bool(lines))


HOOK = """def keep(module, inputs, output):
    kept['first'].append(output)
def other(module, inputs, output):
    rest.append(output)
net.register_forward_hook({given})
"""


@pytest.mark.parametrize("given", ["keep", "partial(keep)", "hook=keep"])
def test_a_hook_in_the_text_and_its_line(given: str) -> None:
    found = only(HOOK.format(given=given), held(graphs=0))
    assert (found.hook, found.hooked, found.lines, found.filled) == ("keep", None, (2,), True)


def test_a_function_that_is_no_hook() -> None:
    assert kept(HOOK.format(given="other"), held(graphs=0)).devices == ()


def test_graphs_that_keep_memory_of_another_device_are_counted_there() -> None:
    rows = (held(0, device="cpu"), held(4 * GIB, graphs=0))
    found = {each.device: each.kept[0] for each in kept("", *rows).devices}
    assert found["cuda:0"].graphs == found["cpu"].graphs == 9
    assert (found["cuda:0"].graph_bytes, found["cpu"].graph_bytes) == (4 * GIB, 0)


def test_an_older_recording_or_none_is_not_known() -> None:
    assert not kept("", held(None)).known
    assert kept("", held(None, graphs=0)).known
    assert not Results(run().build()).get(KeptMemory).known


def levels(*mib: float, refilled: bool = False, held: float = 500) -> float:
    device = DeviceKept("cpu", 0, int(max(mib)), None, (), tuple(int(each) for each in mib))
    return device.saved_bytes(int(held), refilled=refilled)


def test_what_is_saved_of_the_peak() -> None:
    assert levels(100, 200, 400, 600) == 500
    assert levels(100, 200, 400, 600, held=200) == 200
    # freed before the name was filled
    assert levels(100, 900, 100, 400, 600) == 0
    assert levels(100, 900, 300, 400, 600) == 200
    # what was there before
    assert levels(500, 600, 600) == 100
    # filled in each of two epochs
    assert levels(100, 600, 100, 600) == 0
    assert levels(100, 600, 100, 600, refilled=True) == 500


def test_without_readings_what_has_grown_is_saved() -> None:
    assert DeviceKept("cuda:0", 300, 900, None, ()).saved_bytes(500) == 300
    assert DeviceKept("cuda:0", 600, 900, None, ()).saved_bytes(500) == 500
    assert DeviceKept("cuda:0", None, None, None, ()).saved_bytes(500) == 0


def test_a_single_graph_has_the_line_that_makes_it() -> None:
    found = only("net = Net()\nkept = sample(20)\n", held(5, graphs=1))
    assert (found.made, found.lines, found.filled, found.refilled) == ((2,), (), False, False)


@pytest.mark.parametrize(
    ("facts", "known"),
    [
        ({}, True),
        ({"shape": ()}, False),
        ({"graphs": 3}, False),
        ({"kind": "attribute"}, False),
        ({"name": "net.kept"}, False),
        ({"kind": "frame", "name": "kept in train()"}, False),
    ],
)
def test_what_is_read_later_is_asked_of_plain_names_of_tensors_without_graphs(
    facts: dict[str, Any], known: bool
) -> None:
    source = "kept = []\nfor x in data:\n    kept.append(net(x))\nprint(torch.cat(kept).mean(1))\n"
    row = HeldTensors(**{
        "name": "kept", "kind": "global", "device": "cuda:0", "bytes": 64, "tensors": 9, "shape": (8, 4), **facts
    })  # fmt: skip
    assert (_later(row, {"": source}) is not None) is known


def test_the_variable_of_a_function_is_read_there() -> None:
    source = "def train():\n    kept = [net(x) for x in data]\n    return torch.cat(kept).mean(1)\n"
    row = HeldTensors(name="kept in train()", kind="frame", device="cpu", bytes=64, tensors=9, shape=(8, 4))
    assert _later(row, {"": source}) is not None
    assert _later(row, {"": source.replace("train", "test")}) is None


def test_what_any_cell_of_the_notebook_sums_up_is_summed() -> None:
    """The profiled cell fills it, another one adds to it what may be a number."""
    filling, summing = "for x in data:\n    kept.append(net(x))\n", "for x in data:\n    kept += criterion(net(x))\n"

    def summed(own: str, other: str) -> bool:
        lines = FollowedLines(how="monitoring", start_ns=0, end_ns=1, files=(SourceFile(filename="o", source=other),))
        builder = run(held=(held(),), cell=Cell(source=own), allocators=(allocator(6, 6),), lines=lines)
        (device,) = Results(builder.build()).get(KeptMemory).devices
        return device.kept[0].summed

    assert summed(filling, summing) and summed(summing, filling)
    assert not summed(filling, filling)
