from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.idle_work import PYTHON
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import SampledStacks
from gpuprof.report import Report
from gpuprof.report.spot_words import in_short, place, spot_phase
from gpuprof.report.spot_words import what as words
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import BACKWARD, CALL, ENDS, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture
STEP = ("/lib/torch/optim/adam.py", "Adam.step", 9)
WRAPPER = ("/lib/torch/optim/optimizer.py", "Optimizer.profile_hook_step.<locals>.wrapper", 5)
NET = ("/home/me/net.py", "Net.forward", 4)
IMPORT = ("<frozen importlib._bootstrap>", "_find_and_load", 7)


def spots(builder: TraceBuilder) -> tuple[HotSpot, ...]:
    return Results(cell(builder, ends_ms=ENDS)).get(HotSpots).spots


def test_the_innermost_lines_of_the_user_come_first_with_what_they_called() -> None:
    builder = TraceBuilder().stack(30_000, 40_000, line(5), CALL, NET)
    builder.stack(70_000, 30_000, line(6), BACKWARD).stack(100_000, 20_000, line(7), WRAPPER, STEP)
    builder.stack(120_000, 8_000, line(8)).stack(128_000, 2_000, line(9))
    first, second, third, fourth = spots(builder)

    assert (first.share, first.line, first.function, first.what) == (0.4, 4, "Net.forward", "")
    assert first.phase is Phase.FORWARD and not first.is_cell and first.cell_line == 5
    assert place(first) == "line 4 of net.py (called from line 5 of the cell)"
    assert (second.share, second.line, second.what) == (0.3, 6, "torch._tensor.Tensor.backward")
    assert second.is_cell and second.execution_count == 7 and second.phase is Phase.BACKWARD
    assert in_short(second) == "30 % line 6 of the cell (backward, torch._tensor.Tensor.backward)"
    assert (third.what, third.phase) == ("torch.optim.adam.Adam.step", Phase.OPTIMIZER)
    assert (fourth.share, fourth.what) == (0.08, "")


def test_one_line_is_one_spot_whatever_it_calls() -> None:
    builder = TraceBuilder().stack(30_000, 30_000, line(7), BACKWARD).stack(60_000, 10_000, line(7), STEP)
    (spot,) = spots(builder)
    assert spot.share == 1.0 and spot.phase is Phase.BACKWARD and spot.what == "torch._tensor.Tensor.backward"


def test_a_line_of_the_model_counts_for_training_and_for_an_evaluation_by_itself() -> None:
    # GIVEN a line of a model that training and a function that validates both run, called from line 3 of the cell
    train, validate = line(54, "train"), line(82, "validate")
    builder = TraceBuilder().stack(30_000, 60_000, line(3), train, CALL, NET)
    builder.stack(130_000, 40_000, line(3), validate, CALL, NET)
    first, second = Results(cell(builder, ends_ms=(*ENDS, 180.0))).get(HotSpots).spots
    assert (first.phase, first.share, place(first)) == (
        Phase.FORWARD, 0.6, "line 4 of net.py (called from line 54 of the cell)"
    )  # fmt: skip
    assert (second.phase, second.share, place(second)) == (
        Phase.EVALUATION, 0.4, "line 4 of net.py (called from line 82 of the cell)"
    )  # fmt: skip
    assert first.called_from is not None and first.called_from.line == 54 and first.cell_line in (3, 54)


def test_a_caller_on_the_first_line_is_named_as_well() -> None:
    (spot,) = spots(TraceBuilder().stack(30_000, 90_000, line(1), CALL, NET))
    assert spot.called_from is not None and spot.called_from.line == 1


def test_a_line_that_called_the_model_itself_names_no_caller() -> None:
    (spot,) = spots(TraceBuilder().stack(30_000, 90_000, line(5), CALL))
    assert spot.line == 5 and spot.called_from is None


def test_a_line_of_a_function_names_the_line_that_calls_it() -> None:
    inner = (line(20), line(9, "augment"), line(4, "blurred"))
    (spot,) = spots(TraceBuilder().stack(50_000, 60_000, *inner))
    assert spot.function == "blurred" and place(spot) == "line 4 of the cell (called from line 9 of the cell)"


def test_of_several_callers_that_with_half_of_the_time_is_named_or_none() -> None:
    def called(first_us: float) -> HotSpot:
        builder = TraceBuilder().stack(20_000, first_us, line(20), line(4, "blurred"))
        builder.stack(50_000, 10_000, line(21), line(4, "blurred")).stack(70_000, 10_000, line(22), line(4, "blurred"))
        return spots(builder)[0]

    most, none = called(20_000).called_from, called(10_000).called_from
    assert most is not None and most.line == 20
    assert none is None


def test_an_import_is_called_so() -> None:
    assert spots(TraceBuilder().stack(1_000, 10_000, line(1), IMPORT))[0].what == "import"


def test_an_import_names_the_module_that_takes_the_time() -> None:
    """Also where a library makes it, as torch does for its first optimizer."""
    compiler = ("/lib/torch/_dynamo/__init__.py", "<module>", 3)
    builder = TraceBuilder().stack(30_000, 50_000, line(3), WRAPPER, IMPORT, IMPORT, compiler, IMPORT)
    builder.stack(80_000, 10_000, line(3), WRAPPER, IMPORT)
    assert spots(builder)[0].what == "import of torch._dynamo"


def test_code_of_libraries_alone_is_at_no_line() -> None:
    builder = TraceBuilder().stack(30_000, 90_000).stack(120_000, 10_000, line(3))
    assert [(each.line, each.share) for each in spots(builder)] == [(3, 0.1)]


def test_a_cell_whose_stack_never_showed_the_users_code_has_none() -> None:
    trace = cell(TraceBuilder().operator("aten::mm", 0, 10).stack(0, 90_000))
    stacks = SampledStacks(how="py-spy", start_ns=0, end_ns=90_000_000, rate_hz=10.0)
    trace = replace(trace, context=msgspec.structs.replace(trace.context, stacks=stacks))
    assert Results(trace).get(HotSpots).spots == ()
    assert "No rule applies" in Report.of(trace).verdict.advice


def test_operators_of_a_recording_by_their_own_time_and_phase() -> None:
    builder = TraceBuilder().operator("aten::linear", 0, 50).operator("aten::addmm", 5, 40)
    builder.operator("autograd::engine::evaluate_function: AddmmBackward0", 50, 40).operator("aten::mm", 50, 35)
    builder.operator("aten::tiny", 98, 2)
    found = Results(builder.build()).get(HotSpots)
    assert not found.sampled and found.total_ns == 100_000
    assert [(each.what, each.share, each.phase) for each in found.spots] == [
        ("aten::addmm", pytest.approx(0.4), Phase.FORWARD),
        ("aten::mm", pytest.approx(0.35), Phase.BACKWARD),
        ("aten::linear", pytest.approx(0.1), Phase.FORWARD),
        (PYTHON, pytest.approx(0.08), None),
        ("autograd::engine::evaluate_function: AddmmBackward0", pytest.approx(0.05), Phase.BACKWARD),
    ]


def test_with_a_device_by_the_work_that_they_launched() -> None:
    builder = TraceBuilder().operator("aten::linear", 0, 30).operator("aten::addmm", 5, 20)
    builder.kernel("gemm", 40, 50, launch_at_us=10).kernel("alone", 92, 8)
    found = Results(builder.build()).get(HotSpots).spots
    first, second = (spot for spot in found if not spot.idle)
    assert (first.what, first.share, first.phase) == ("aten::linear", pytest.approx(0.5), Phase.FORWARD)
    assert (second.what, second.phase) == ("alone", None)
    assert in_short(second) == "8.0 % alone" and place(second) == ""
    # what the CPU did while the device was idle stands with it: the operators by their own time, launches apart
    assert [in_short(spot) for spot in found if spot.idle] == [
        "15 % aten::addmm (GPU idle)",
        "12 % Python between operators (GPU idle)",
        "10 % aten::linear (GPU idle)",
    ]


def test_nothing_recorded_has_no_spot() -> None:
    assert Results(TraceBuilder().build()).get(HotSpots).spots == ()


def test_the_first_line_of_the_cell_is_a_line() -> None:
    assert [each.line for each in spots(TraceBuilder().stack(30_000, 90_000, line(1)))] == [1]


def test_a_line_that_runs_several_things_says_so() -> None:
    # GIVEN one line that spends 60 ms in backward and 40 ms in an optimizer's step, and one that does nothing else
    builder = TraceBuilder().stack(30_000, 60_000, line(6), BACKWARD).stack(90_000, 40_000, line(6), STEP)
    one = TraceBuilder().stack(30_000, 100_000, line(6), BACKWARD)
    (several,), (single,) = spots(builder), spots(one)
    assert several.what == single.what == "torch._tensor.Tensor.backward"
    assert (several.what_share, single.what_share) == (0.6, 1.0)
    assert "mostly torch._tensor.Tensor.backward" in in_short(several) and "mostly" not in in_short(single)


def test_a_line_that_runs_in_two_phases_says_so() -> None:
    """Its share of the cell may be more than that of the phase, which would contradict each other."""
    builder = TraceBuilder().stack(30_000, 60_000, line(6), BACKWARD).stack(90_000, 40_000, line(6), WRAPPER, STEP)
    (spot,) = spots(builder)
    assert (spot.phase, spot.phase_share) == (Phase.BACKWARD, 0.6)
    assert "(mostly backward, " in in_short(spot)
    nearly, less, unknown = (replace(spot, phase_share=each) for each in (0.95, 0.94, None))
    assert [spot_phase(each) for each in (nearly, less, unknown)] == ["backward", "mostly backward", "backward"]
    assert spot_phase(replace(spot, phase=None)) == ""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("s = torch.FloatTensor(s)", "torch.FloatTensor"),
        ("s = np.array(rows)", "numpy.array"),
        ("s = stack(rows)", "torch.stack"),
        ("out.append(torch.FloatTensor(s))", "torch.FloatTensor"),
        ("out.append(s)", "out.append"),
        ("s = rows[0].tolist()", "tolist"),
        ("s = deepcopy(torch.FloatTensor(s))", "torch.FloatTensor"),
        ("s = own(torch.FloatTensor(s))", "torch.FloatTensor"),
        ("s = torch.FloatTensor(np.sin(s))", ""),
        ("a, b = torch.tensor(a), torch.tensor(b)", ""),
        ("s = s * 2 + s", ""),
    ],
)
def test_what_no_function_was_seen_in_is_named_by_the_text(text: str, what: str) -> None:
    """Of the line's time a tenth is in a function below it."""
    head = "import numpy as np, torch\nfrom torch import stack\ndef own(x):\n    return x\n"
    builder = (
        TraceBuilder().stack(30_000, 45_000, line(5)).stack(75_000, 5_000, line(5), ("/lib/copy.py", "deepcopy", 9))
    )
    builder.stack(80_000, 20_000, line(5))
    (spot,) = Results(cell(builder, ends_ms=ENDS, source=head + text)).get(HotSpots).spots
    assert (spot.what, spot.by_text) == (what, bool(what))
    assert spot.what_share == (pytest.approx(65 / 70) if what else None)
    assert words(spot) == (f"its call of {what}" if what else "its own code")


def test_a_function_that_takes_most_is_not_named_by_the_text() -> None:
    builder = TraceBuilder().stack(30_000, 60_000, line(1), STEP).stack(90_000, 30_000, line(1))
    (spot,) = Results(cell(builder, ends_ms=ENDS, source="torch.FloatTensor(s)")).get(HotSpots).spots
    assert spot.what == "torch.optim.adam.Adam.step" and not spot.by_text


def test_a_wait_for_data_is_a_spot_of_a_recording_without_stacks() -> None:
    builder = TraceBuilder().operator("aten::empty", 0, 1).data_wait(1, 60).operator("aten::mm", 61, 19).step(0, 80)
    spots = Results(builder.build()).get(HotSpots).spots
    assert [(each.what, each.phase, round(each.share, 2)) for each in spots][:1] == [
        ("DataLoader.__next__", Phase.DATA, 0.75)
    ]


def head(*milliseconds: float, at_us: float = 20_000, name: str = "Head.forward") -> TraceBuilder:
    """Lines 4, 5, … of a function of the cell, one after the other."""
    builder = TraceBuilder()
    for number, each in enumerate(milliseconds, 4):
        builder.stack(at_us, each * 1000, line(20), line(number, name))
        at_us += each * 1000
    return builder


def test_small_lines_of_one_function_are_one_spot() -> None:
    """Which of them is among the first five by itself is chance."""
    builder = head(4, 3, 5, 2, 4).stack(38_000, 82_000, line(30), BACKWARD)
    first, second = spots(builder)
    assert first.line == 30 and not first.lines
    assert second.share == pytest.approx(0.18) and second.ns == 18_000_000
    assert (second.line, second.function, second.more_lines) == (6, "Head.forward", 0)
    assert [each for each, _ in second.lines] == [4, 5, 6, 7, 8]
    assert sum(share for _, share in second.lines) == pytest.approx(second.share)
    assert place(second) == "lines 4, 5, 6, 7 and 8 of Head.forward in the cell (called from line 20 of the cell)"


def test_of_many_small_lines_the_six_largest_are_told() -> None:
    spot = spots(head(1, 2, 3, 4, 5, 6, 7, 7.5).stack(55_500, 64_500, line(30), BACKWARD))[1]
    assert [each for each, _ in spot.lines] == [6, 7, 8, 9, 10, 11] and spot.more_lines == 2
    assert place(spot).startswith("lines 6, 7, 8, 9, 10, 11 and 2 more of Head.forward in the cell")


@pytest.mark.parametrize(
    ("lasted", "lines"),
    [
        ((4, 5), [4, 5]),
        # one has most of it
        ((2, 7), []),
        # each of these is a spot by itself
        ((10, 9), []),
        # less than 1 % each is not worth naming
        ((0.9, 4), []),
    ],
)
def test_lines_are_joined_where_none_of_them_stands_for_the_others(lasted: tuple[float, ...], lines: list[int]) -> None:
    builder = head(*lasted).stack(20_000 + 1000 * sum(lasted), 1000 * (100 - sum(lasted)), line(30), BACKWARD)
    assert [[each for each, _ in spot.lines] for spot in spots(builder)[1:2]] == [lines]


def test_lines_of_two_functions_or_of_the_cell_itself_stay_apart() -> None:
    builder = head(4, 4).stack(28_000, 4_000, line(20), line(40, "Other.forward"))
    builder.stack(32_000, 5_000, line(30)).stack(37_000, 5_000, line(31)).stack(42_000, 78_000, line(32), BACKWARD)
    found = spots(builder)
    assert [[each for each, _ in spot.lines] for spot in found] == [[], [4, 5], [], [], []]


def test_lines_of_two_phases_stay_apart() -> None:
    train = (line(20), line(4, "train"), BACKWARD)
    builder = TraceBuilder().stack(20_000, 5_000, *train).stack(25_000, 5_000, line(20), line(5, "train"), CALL)
    builder.stack(30_000, 70_000, line(32), BACKWARD)
    assert all(not spot.lines for spot in spots(builder))
