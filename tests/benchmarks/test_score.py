from __future__ import annotations

from typing import Any

import pytest

from benchmarks.proving import metrics, tables
from benchmarks.proving.gains import Gain, gain_of
from benchmarks.proving.score import FALSE, MINOR, OPEN, RIGHT, UNMEASURED, Judged, judge

VERDICT = {"ratio": 2.0, "low": 1.8, "high": 2.2}


def finding(
    rule: str,
    severity: str = "high",
    saving: tuple[float, float, float] | None = None,
    line: int = 3,
    span: float = 100.0,
) -> Any:
    low, central, high = saving or (0.0, 0.0, 0.0)
    made = {"low_ms": low, "central_ms": central, "high_ms": high, "grade": "C"}
    made |= {"low_share": low / span, "share": central / span, "high_share": high / span}
    return {"rule": rule, "severity": severity, "where": {"lines": [line]}, "saving": made if saving else None}


def recorded(*findings: Any, abstained: tuple[str, ...] = (), outside_ms: float = 0.0) -> dict[str, Any]:
    return {
        "lines_above": 1,
        "report": {
            "findings": list(findings),
            "abstained": [{"rule": rule, "needs": "", "how": ""} for rule in abstained],
            "source": {"span_ms": 100.0 + outside_ms},
            "time_budget": [{"category": "outside_steps", "ms": outside_ms, "share": 0.0}],
        },
    }


def result(
    bad: Any,
    good: Any | None = None,
    *,
    measured: Any = VERDICT,
    memory: Any = None,
    gain: str = "time",
    pair: str = "made",
    **others: Any,
) -> dict[str, Any]:
    variants = {"bad": bad, "good": good or recorded(), **others}
    labels = {name: {"rules": [], "lines": [], "why": ""} for name in variants}
    labels["bad"] = {"rules": ["input_stall"], "lines": [[2, "input_stall"]], "why": ""}
    return {
        "pair": pair,
        "size": "mini",
        "device": "cpu",
        "label": {
            "number": 1,
            "family": f"family of {pair}",
            "rules": ["input_stall"],
            "gain": gain,
            "variants": labels,
        },
        "variants": variants,
        "measured": measured,
        "memory": memory,
    }


def judged_as(judged: Judged) -> list[tuple[str, str, str]]:
    return [(each.variant, each.rule, each.judged) for each in judged.firings]


def test_a_labelled_finding_with_a_verified_gain_is_right_and_one_on_the_good_cell_is_false() -> None:
    judged = judge([result(recorded(finding("input_stall")), recorded(finding("sync_in_step")))])
    assert judged_as(judged) == [("bad", "input_stall", RIGHT), ("good", "sync_in_step", FALSE)]
    assert (metrics.precision(judged), metrics.recall(judged), metrics.high_on_good(judged)) == (0.5, 1.0, 1)
    assert judged.firings[0].on_line is True and metrics.on_line(judged) == 1.0


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        ({"ratio": 1.01, "low": 1.0, "high": 1.02}, FALSE),
        ({"ratio": 1.03, "low": 1.0, "high": 1.06}, OPEN),
        (None, UNMEASURED),
        ({"error": "it took longer than 240 s"}, UNMEASURED),
    ],
)
def test_without_a_verified_gain_nothing_is_right(measured: Any, verdict: str) -> None:
    judged = judge([result(recorded(finding("input_stall")), measured=measured)])
    assert judged_as(judged) == [("bad", "input_stall", verdict)]
    assert metrics.recall(judged) is None, "a fault that may cost nothing is not to be found"


def test_findings_of_low_severity_are_claims_only_where_all_are_counted() -> None:
    judged = judge([result(recorded(finding("input_stall")), recorded(finding("sync_in_step", "low")))])
    assert judged_as(judged)[1] == ("good", "sync_in_step", MINOR)
    assert (metrics.precision(judged), metrics.precision_of_all(judged)) == (1.0, 0.5)


def test_the_pairs_own_rule_is_false_where_its_fault_is_masked() -> None:
    judged = judge([result(recorded(), masked=recorded(finding("input_stall", "medium")))])
    assert judged_as(judged) == [("masked", "input_stall", FALSE)]


def test_what_is_right_about_the_workload_itself_counts_neither_way() -> None:
    found = result(recorded(finding("input_stall"), finding("launch_bound")), recorded(finding("launch_bound")))
    assert [each for _, _, each in judged_as(judge([found]))] == [RIGHT, FALSE, FALSE]
    found["label"]["besides"] = {"mini": ["launch_bound"]}
    assert [each for _, _, each in judged_as(judge([found]))] == [RIGHT, UNMEASURED, UNMEASURED]
    judged = judge([found])
    assert (metrics.precision(judged), metrics.precision_with_besides(judged)) == (1.0, 1 / 3)
    assert (metrics.high_on_good(judged), metrics.high_on_good_of_all(judged)) == (0, 1)


def test_a_missed_fault_costs_recall_and_regret() -> None:
    bad = recorded(finding("sync_in_step"), finding("input_stall"))
    judged = judge([result(bad), result(recorded(abstained=("input_stall",)), pair="missed")])
    assert (metrics.recall(judged), metrics.hit_at(judged, 1), metrics.hit_at(judged, 3)) == (0.5, 0.0, 0.5)
    assert metrics.regret(judged) == pytest.approx(0.5)
    assert [each.abstained for each in judged.faults] == [False, True]
    rows = {row.rule: row for row in metrics.rule_scores(judged)}
    assert (rows["input_stall"].recall, rows["sync_in_step"].precision) == (0.5, 0.0)


def test_a_fault_that_no_rule_knows_is_missed() -> None:
    unknown = result(recorded())
    unknown["label"]["rules"] = []
    (row,) = metrics.rule_scores(judge([unknown]))
    assert (row.rule, row.missed, row.recall) == (metrics.NO_RULE, 1, 0.0)


def test_a_prediction_is_compared_with_the_steps_that_were_measured() -> None:
    bad = recorded(finding("input_stall", saving=(40.0, 60.0, 70.0), span=200.0), outside_ms=100.0)
    (found,) = judge([result(bad)]).predictions
    assert (found.low, found.central, found.measured.share) == (0.4, 0.6, 0.5)
    assert found.error_points == pytest.approx(10) and found.covered and found.sign_right and not found.harms
    (whole,) = judge([result(bad, measured={**VERDICT, "whole_cell": True})]).predictions
    assert whole.central == 0.3 and not whole.covered


def test_a_promise_that_slows_the_cell_down_is_harm() -> None:
    slower = {"ratio": 0.9, "low": 0.88, "high": 0.92}
    judged = judge([result(recorded(finding("input_stall", saving=(5.0, 20.0, 30.0))), measured=slower)])
    assert (metrics.harm_rate(judged), metrics.sign_accuracy(judged)) == (1.0, 0.0)


def test_memory_is_verified_by_readings_that_lie_apart() -> None:
    memory = {"saved_share": 0.4, "certain": True}
    assert gain_of(result(recorded(), gain="memory", memory=memory)) == Gain(0.4, 0.4, 0.4, "memory")
    unsure = gain_of(result(recorded(), gain="memory", memory={**memory, "certain": False}))
    assert unsure is not None and unsure.verified is None
    assert gain_of(result(recorded(), gain="memory")) is None


def test_an_interval_that_is_open_above_is_one_and_none_at_all_is_none() -> None:
    open_above = gain_of(result(recorded(), measured={"ratio": 4.0, "low": 2.0, "high": None}))
    assert open_above == Gain(0.75, 0.5, 1.0, "step")
    assert gain_of(result(recorded(), measured={"ratio": 4.0, "low": None, "high": None})) is None


def test_what_was_not_measured_is_never_nought() -> None:
    judged = judge([result(recorded(), measured=None)])
    values = [row.split("|")[2].strip() for row in tables.summary(judged).splitlines()[2:]]
    assert set(values) == {tables.NOT_MEASURED}
    assert judged.unmeasured == ["made (mini, cpu)"]


def test_what_failed_is_named() -> None:
    judged = judge([result({"error": "exit status 1: out of memory"})])
    assert judged.failed == ["made (mini, cpu), bad: exit status 1: out of memory"]
    assert not judged.faults and judged.variants == 1


def test_the_interval_widens_with_pairs_that_disagree() -> None:
    alike = [result(recorded(finding("input_stall")), pair=f"pair {n}") for n in range(4)]
    assert metrics.interval(judge(alike), metrics.recall) == (1.0, 1.0)
    mixed = [*alike[:2], *(result(recorded(), pair=f"missed {n}") for n in range(2))]
    low, high = metrics.interval(judge(mixed), metrics.recall) or (1.0, 0.0)
    assert low < 0.5 < high
    assert metrics.interval(judge(alike[:1]), metrics.recall) is None


def test_families_are_scored_apart() -> None:
    judged = judge([result(recorded(finding("input_stall"))), result(recorded(), pair="missed")])
    shown = tables.by_family(judged)
    assert "| family of made | 1 | 100 % | 100 % |" in shown
    assert f"| family of missed | 1 | {tables.NOT_MEASURED} | 0 % |" in shown


def test_what_was_said_at_first_sight_does_not_change() -> None:
    known, later = result(recorded(finding("input_stall")), pair="known"), result(recorded(), pair="later")
    known["label"]["first_sight"] = {"found": False, "false": []}
    assert judge([known, later]).first_sight == {"known": {"found": False, "false": []}}


def test_the_width_of_a_range_is_told() -> None:
    judged = judge([result(recorded(finding("input_stall", saving=(40.0, 60.0, 70.0))))])
    assert metrics.median_width_points(judged) == pytest.approx(30)
