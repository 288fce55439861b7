"""A race drops nobody that may still be the fastest, and never puts one first that it has dropped."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.verification.timing.confidence import FEWEST_PAIRS
from gpuprof.verification.timing.outcome import Outcome
from gpuprof.verification.tuning.race import Race

times = st.floats(1e3, 1e9)
turn = st.tuples(times, times, times, times, times)
turns = st.lists(turn, min_size=1, max_size=14)


def raced(rows: list[tuple[float, ...]], *, dropping: bool = True) -> Race[str]:
    race = Race(["a", "b", "c"])
    for one, other, *rest in rows:
        race.add((one, other), {name: ns for name, ns in zip("abc", rest, strict=True) if name in race.running})
        for name in race.behind() if dropping else ():
            race.drop(name)
    return race


@settings(max_examples=150, deadline=None)
@given(turns)
def test_whoever_is_behind_has_an_interval_that_does_not_overlap_the_leaders(rows: list[tuple[float, ...]]) -> None:
    race = raced(rows, dropping=False)
    leader, behind = race.leader(), race.behind()
    assert leader not in behind
    for name, first in behind.items():
        assert first == leader
        lead = race.leads(leader, name) if leader is not None else -race.gains(name)
        assert race.interval(lead).low > 0 and float(np.mean(lead)) > 0
    for name in set(race.running) - set(behind) - {leader}:
        lead = race.leads(leader, name) if leader is not None else -race.gains(name)
        assert race.interval(lead).low <= 0


@settings(max_examples=150, deadline=None)
@given(turns)
def test_the_leader_is_never_one_that_was_dropped_or_is_slower_than_the_unchanged_cell(
    rows: list[tuple[float, ...]],
) -> None:
    race = raced(rows)
    leader = race.leader()
    assert leader is None or (leader in race.running and float(np.median(race.gains(leader))) > 0)
    assert leader is not None or all(float(np.median(race.gains(each))) <= 0 for each in race.running)


@settings(max_examples=150, deadline=None)
@given(turns)
def test_nothing_is_claimed_whose_interval_holds_no_gain_against_both_times(rows: list[tuple[float, ...]]) -> None:
    race = raced(rows, dropping=False)
    for name in race.entered:
        for found in (race.claim(name), race.proof(name)):
            if found.outcome is not Outcome.FASTER:
                continue
            assert race.turns >= FEWEST_PAIRS and found.low is not None and found.low > 1
            own = np.log([row[2 + "abc".index(name)] for row in rows])
            assert all(float(np.mean(np.log([row[at] for row in rows]) - own)) > 0 for at in (0, 1))


def test_a_far_slower_one_is_dropped_after_four_turns_and_a_near_one_is_not() -> None:
    rng = np.random.default_rng(1)
    race = Race(["fast", "near", "slow"])
    for made in range(1, 5):
        noise = np.exp(rng.normal(0, 0.02, 5))
        means = dict(zip(("fast", "near", "slow"), (50, 51, 90), strict=True))
        race.add((100 * noise[0], 100 * noise[1]), {n: means[n] * noise[i + 2] for i, n in enumerate(means)})
        assert race.behind() == ({} if made < 4 else {"slow": "fast"})
    assert race.leader() == "fast"


def test_what_has_no_time_in_a_turn_is_out() -> None:
    race = Race(["a", "b"])
    race.add((10.0, 10.0), {"a": 5.0, "b": 6.0})
    race.add((10.0, 10.0), {"b": 6.0})
    assert race.running == ["b"] and race.standing("a").turns == 1 and race.standing("b").turns == 2


def test_a_standing_is_time_unchanged_over_its_time() -> None:
    race = Race(["a"])
    assert race.standing("a").ratio is None and race.unchanged_again().ratio is None
    for _ in range(FEWEST_PAIRS):
        race.add((8.0, 8.0), {"a": 4.0})
    found = race.standing("a")
    assert (found.turns, found.ratio, found.low, found.high) == (8, *(pytest.approx(2.0),) * 3)
    assert race.unchanged_again().ratio == pytest.approx(1.0)
    assert race.claim("a").outcome is race.proof("a").outcome is Outcome.FASTER


def test_beating_one_of_the_two_times_alone_is_no_gain() -> None:
    race = Race(["a"])
    for at in range(12):
        race.add((12.0 + at % 2 / 10, 10.0), {"a": 10.0 + at % 3 / 100})
    assert race.interval(race.gains("a")).low > 0
    assert race.proof("a").outcome is Outcome.INCONCLUSIVE and race.claim("a").outcome is Outcome.INCONCLUSIVE


def test_the_level_is_shared() -> None:
    assert Race(["a"]).level == 0.05 and Race(list("abcde")).level == pytest.approx(0.01)
    race = Race(list("abcde"))
    assert math.isinf(race.interval(np.array([0.1, 0.1, 0.1])).low)
