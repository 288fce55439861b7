"""Bounds that no case reaches: what a loop saves at least, a run of some nanoseconds, devices that nobody shares."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.python_loops import PythonLoops
from gpuprof.model.kinds import ValueKind
from gpuprof.model.readings import DeviceFacts, DeviceProcess
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.cell.callback_text import callback_text
from gpuprof.rules.cell.unchanged_calls import unchanged_calls
from gpuprof.rules.host.python_loop_over_weights import _left
from gpuprof.rules.registry import rule
from tests.rules.cases.host.python_loop_over_weights import fires
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder

HELPERS = """
def ask(x):
    return first(x)

def first(x):
    return second(x) + 1

def second(x):
    return third(x) * 2

def third(x):
    return {last}

def fourth(x):
    return x + 4
"""


@pytest.mark.parametrize(("last", "arithmetic"), [("x - 1", True), ("fourth(x)", False), ("first(x)", False)])
def test_helpers_are_read_three_deep_and_no_further(last: str, arithmetic: bool) -> None:
    found = callback_text(HELPERS.format(last=last), "ask", 3)
    assert found is not None and found.is_arithmetic is arithmetic


@pytest.mark.parametrize(
    "before",
    [
        "copied = points.copy()",
        "sample = rng.choice(points)",
        "size = len(points)",
        "scaled = np.sqrt(weights); scaled += place",
        "part = place + cKDTree(points).n",
        "moved = np.sort(place)",
    ],
)
def test_what_stands_before_a_call_that_never_changes_does_not_hide_it(before: str) -> None:
    source = (
        "import numpy as np\nfrom scipy.spatial import cKDTree\npoints = np.load('points.npy')\n"
        "weights = np.load('weights.npy')\n"
        f"rng = np.random.default_rng(0)\n\ndef near(place):\n    {before}\n    tree = cKDTree(points)\n"
        "    return tree.query(place)\n\nfor place in np.load('places.npy'):\n    near(place)\n"
    )
    assert [each.call for each in unchanged_calls(source) if each.function] == ["cKDTree"]


def test_one_call_may_take_as_long_as_the_loop_but_no_longer() -> None:
    results = Results(fires())
    finding = rule("python_loop_over_weights").check(results)
    assert isinstance(finding, Finding) and finding.saving is not None and finding.saving.low_ns == 0
    most, usual, least = _left([(each, list(each.runs)) for each in results.get(PythonLoops).loops])
    assert most == 1.0 > usual > least


@pytest.mark.parametrize(
    ("held", "others", "held_bytes"),
    [
        (((), (5,)), 1, 5),
        (((), (None,)), 1, None),
        (((None,), (1,)), 1, 1),
        (((5,), (2, 2)), 2, 4),
        (((5,), (None, None)), 2, None),
    ],
)
def test_the_device_with_most_others_is_told(
    held: tuple[tuple[int | None, ...], ...], others: int, held_bytes: int | None
) -> None:
    """Of as many others those that hold more; each time it is the second device."""
    devices = []
    for number, sizes in enumerate(held):
        listed = (
            DeviceProcess(pid=1, used_bytes=9),
            *(DeviceProcess(pid=7 + at, used_bytes=size) for at, size in enumerate(sizes)),
        )
        facts = DeviceFacts(nvml_index=number, torch_index=number, processes_start=listed, processes_end=listed)
        devices.append(msgspec.to_builtins(facts))
    builder = TraceBuilder().kernel("gemm", 0, 100, launch_at_us=0)
    for number in range(len(held)):
        builder.sample(number, device=number, utilisation_percent=50.0)
    finding = rule("device_shared").check(Results(builder.context(sampling={"static": devices}).build()))
    assert isinstance(finding, Finding)
    told = finding.evidence["other_processes"], finding.evidence.get("other_processes_bytes")
    assert told == (others, held_bytes)


def test_a_run_of_a_few_nanoseconds_without_steps_abstains() -> None:
    builder = TraceBuilder().operator("_compile.compile_inner (dynamo_timed)", 0, 0.012)
    said = rule("recompiles_in_steady_state").check(Results(builder.build()))
    assert isinstance(said, Abstention)
    assert rule("recompiles_in_steady_state").check(Results(TraceBuilder().build())) is None


def test_the_share_of_double_weights_has_four_places() -> None:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).operator("aten::addmm", at, 700).operator("aten::relu", at + 700, 300)
    look = LookBuilder(builder).tensor("w", shape=(64, 64), dtype="float64", kind=ValueKind.PARAMETER)
    for each in range(3):
        look.tensor(f"x{each}", content=each + 1, shape=(64, 64), dtype="float64")
        facts: dict[str, Any] = {"shape": (64, 64), "iteration": each}
        look.operator("aten::addmm", 70, reads=f"w x{each}", makes="y", dtype="float64", **facts)
        look.operator("aten::relu", 29, reads="y", makes="z", dtype="float64", **facts)
    finding = rule("float64_compute").check(Results(look.build()))
    assert isinstance(finding, Finding)
    assert finding.evidence["float64_weights_share"] == 0.7071
