"""A saving is held to the share that its title names, or the title says what is more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Window
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.saving.named_cause import NamedShare, NamedWhole, bounded
from gpuprof.units import percent
from gpuprof.whatif.predict import Range
from tests.support.trace_builder import TraceBuilder

STEPS = "It takes 40 % of the steps’ time"
NO_CHANGE = Range(lambda graph: graph, lambda graph: graph, lambda graph: graph)


def steps(*, plain: bool = False) -> Results:
    """Four steps of 20 ms in a recording of 100 ms; perhaps five more without it."""
    builder = TraceBuilder()
    if plain:
        builder.context(window=Window(end_ns=0, cell_end_ns=10**9))
        for number in range(5):
            builder.iteration(10**6 + number * 10_000, 10_000, plain=True)
    for number in range(4):
        builder.step(number * 20_000, 20_000).operator("aten::mm", number * 20_000, 10)
    return Results(builder.operator("aten::mm", 99_000, 1_000).build())


def finding(title: str, saving: Saving, *, simulated: bool = False) -> Finding:
    return Finding("x", Severity.HIGH, title, "", {}, "", saving=saving, replay_edit=NO_CHANGE if simulated else None)


def held(title: str, saving: Saving, *, simulated: bool = False, plain: bool = False) -> tuple[str, Saving]:
    found, told = bounded(steps(plain=plain), finding(title, saving, simulated=simulated), saving)
    return found.title, told


def of_recorded(low: float, central: float, high: float, grade: str = "C") -> Saving:
    return Saving(low * 1e8, central * 1e8, high * 1e8, central, grade, "")


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("The loop waits for data 67 % of the steps’ time", (0.67, NamedWhole.STEPS)),
        ("Exposed communication: 5.2 % of step time", (0.052, NamedWhole.STEP)),
        ("12 % of the recorded time is spent on double precision", (0.12, NamedWhole.RECORDED)),
        ("Evaluation takes 30 % of the cell", (0.3, NamedWhole.CELL)),
        ("The same computation is repeated: 99.5 % of the operators’ time", (0.995, NamedWhole.OPERATORS)),
        ("9.0 % of the kernel time is fp32 arithmetic", (0.09, NamedWhole.KERNELS)),
    ],
)
def test_the_share_of_a_title(title: str, named: tuple[float, NamedWhole]) -> None:
    found = NamedShare.of(title)
    assert found is not None and (found.share, found.whole) == (pytest.approx(named[0], abs=0.005), named[1])
    assert percent(found.share) == percent(named[0])
    assert found.text in title


@pytest.mark.parametrize(
    "title", ["An embedding uses 1.0 % of its rows at most", "Heat slows it down", "3 % of readings"]
)
def test_other_shares_bound_nothing(title: str) -> None:
    assert NamedShare.of(title) is None
    saving = of_recorded(0.1, 0.5, 0.9)
    assert held(title, saving) == (title, saving)


def test_of_the_steps_it_is_their_part_of_the_recording() -> None:
    title, saving = held(STEPS, of_recorded(0.1, 0.36, 0.6))
    assert title == STEPS
    assert (saving.low_ns, saving.central_ns, saving.high_ns) == pytest.approx((1e7, 3.2e7, 3.2e7), rel=0.02)
    assert saving.share == saving.ceiling_share == pytest.approx(0.4 * 0.8, rel=0.02)
    assert saving.most_share == pytest.approx(0.32, rel=0.02)


def test_what_is_less_stays_with_a_ceiling_for_its_spread() -> None:
    _, saving = held("It takes 40 % of the recorded time", of_recorded(0.1, 0.2, 0.3))
    assert (saving.share, saving.high_ns, saving.ceiling_share) == (0.2, 3e7, pytest.approx(0.4, rel=0.02))


def test_a_simulated_saving_above_what_something_takes_is_held_to_that() -> None:
    for grade, simulated in (("B", True), ("C", True), ("B", False)):
        title, saving = held(STEPS, of_recorded(0.1, 0.55, 0.7, grade), simulated=simulated)
        assert saving.share == saving.most_share == pytest.approx(0.32, rel=0.02)
        assert title == STEPS


def test_a_cause_that_was_measured_without_the_recording_is_named_so() -> None:
    saving = Saving(1e7, 5e7, 7e7, 0.5, "C", "", calibrated=True, ceiling_share=0.6)
    title, told = held(STEPS, saving, plain=True)
    assert title == "It takes 60 % of the time without recording" and told.share == 0.5
    assert told.most_share <= 0.6
    title, told = held(STEPS, Saving(1e7, 2e7, 7e7, 0.2, "C", "", calibrated=True, ceiling_share=0.3), plain=True)
    assert title == STEPS and told.ceiling_share == 0.3


def test_a_ceiling_that_nobody_measured_does_not_raise_the_title() -> None:
    saving = Saving(1e7, 3e7, 7e7, 0.3, "C", "", calibrated=True, ceiling_share=0.6)
    title, told = held(STEPS, saving)
    assert title == STEPS and told.ceiling_share == pytest.approx(0.32, rel=0.02)
    of_steps = Saving(1e7, 1e7, 9e7, 0.1, "C", "", calibrated=True, of_cell=True, per_step=2.0, ceiling_share=0.5)
    title, told = held(STEPS, of_steps, plain=True)
    assert title == STEPS and told.ceiling_share == pytest.approx(0.2, rel=0.02)
    assert held(STEPS, replace(saving, ceiling_share=0.25, share=0.2))[1].ceiling_share == 0.25


def test_of_the_whole_cell_by_what_its_steps_take() -> None:
    saving = Saving(1e7, 3e7, 9e7, 0.15, "C", "", calibrated=True, of_cell=True, per_step=2.0)
    assert held(STEPS, saving)[1].ceiling_share == pytest.approx(0.2, rel=0.02)


def test_without_a_saving_nothing_changes() -> None:
    saving = of_recorded(0, 0, 0)
    assert held(STEPS, saving) == (STEPS, saving)


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Reading from the device leaves it idle for 10 % of the steps’ time", "Reading from the device costs 55 % of"),
        ("The device waits for data 10 % of the steps’ time", "Waiting for data costs 55 % of the recorded time"),
        ("Launching: 10 % of the steps’ time is lost in gaps", "Launching: 55 % of the recorded time is lost"),
    ],
)
def test_more_than_was_seen_is_called_a_cost(title: str, said: str) -> None:
    assert held(title, of_recorded(0.1, 0.55, 0.7, "B"), simulated=True)[0].startswith(said)
    assert held(title, of_recorded(0.1, 0.05, 0.07, "B"), simulated=True)[0] == title


def test_a_measured_bound_above_the_title_is_not_its_share() -> None:
    """What iterations show may be more than the cause: all of their time outside of waits and the optimizer."""
    title, told = held(STEPS, Saving(0, 2e7, 9e7, 0.2, "C", "", calibrated=True, ceiling_share=0.9), plain=True)
    assert title == STEPS and told.most_share <= 0.5


def test_a_saving_just_above_the_title_raises_it_to_what_is_saved_at_most() -> None:
    """And not to a ceiling that holds much besides: a collector's pauses are a part of all Python."""
    title, told = held(STEPS, Saving(0, 4.2e7, 4.5e7, 0.42, "C", "", calibrated=True, ceiling_share=0.9), plain=True)
    assert title == "It takes 45 % of the time without recording" and told.most_share == pytest.approx(0.45)
