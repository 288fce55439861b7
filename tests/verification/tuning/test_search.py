"""The search over simulated times: it finds what is faster, claims next to nothing of noise, and keeps to its time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.verification.tuning.search import Found, Search
from tests.verification.tuning.simulated import SimulatedTrack


def searched(track: SimulatedTrack, *, later: tuple[str, ...] = (), seed: int = 0, budget_s: float = 60.0) -> Found:
    singles = [(name,) for name in track.speeds if name not in later]
    return Search(track, singles, budget_s, [(name,) for name in later], seed).run()


@pytest.mark.parametrize("noise", ["normal", "heavy", "drifting"])
def test_of_60_searches_among_equals_at_most_5_percent_claim_a_gain(noise: str) -> None:
    claims = 0
    for seed in range(60):
        track = SimulatedTrack(
            dict.fromkeys("abcdef", 1.0), seed=seed, heavy=noise == "heavy", drift=0.5 if noise == "drifting" else 0.0
        )
        claims += searched(track, seed=seed).best is not None
    assert claims <= 3


def test_what_helps_is_found_alone_and_together_with_its_proof() -> None:
    track = SimulatedTrack({"a": 3.0, "b": 1.3, "c": 0.8, "d": 1.0, "e": 0.5})
    found = searched(track)
    assert found.best is not None and set(found.best) == {"a", "b"} and found.proven and not found.interrupted
    assert found.estimate is not None and found.estimate.low is not None and found.estimate.high is not None
    assert found.estimate.low <= 3.9 <= found.estimate.high
    fates = {row.entry: row.fate for row in found.tried}
    assert fates[found.best] == "best" and fates[("e",)].startswith("slower than ")
    assert track.timed[("e",)] < track.timed[()] / 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.5, 3.0), min_size=1, max_size=6), st.integers(0, 1000))
def test_the_best_is_never_one_that_is_slower(speeds: list[float], seed: int) -> None:
    track = SimulatedTrack({f"s{at}": speed for at, speed in enumerate(speeds)}, noise=0.01, seed=seed)
    found = searched(track, seed=seed)
    product = 1.0
    for name in found.best or ():
        product *= track.speeds[name]
    assert product >= 1.0 and (found.best is None or product >= max(speeds) * 0.9)
    assert found.best is not None or max(speeds) < 1.1


def test_settings_for_later_are_tried_with_the_best() -> None:
    found = searched(SimulatedTrack({"workers": 2.0, "prefetch": 1.3}), later=("prefetch",))
    assert found.best == ("workers", "prefetch")


def test_settings_that_exclude_each_other_are_not_tried_together() -> None:
    track = SimulatedTrack({"one": 2.0, "two": 1.9}, excluded={frozenset(("one", "two"))})
    assert searched(track).best == ("one",)


def test_what_differs_is_dropped_and_said() -> None:
    found = searched(SimulatedTrack({"a": 3.0, "b": 1.5}, refused={("a",): "results differ: losses differ by 0.3"}))
    assert found.best == ("b",)
    assert next(row for row in found.tried if row.entry == ("a",)).fate == "results differ: losses differ by 0.3"


def test_what_does_less_in_all_is_not_proposed_and_the_next_is() -> None:
    track = SimulatedTrack({"a": 2.0, "b": 1.9}, excluded={frozenset("ab")}, broken={("a",): "one batch less"})
    found = searched(track, budget_s=40.0)
    assert found.best == ("b",)
    assert next(row for row in found.tried if row.entry == ("a",)).fate == "one batch less"


def test_nothing_faster_is_no_best() -> None:
    found = searched(SimulatedTrack({"a": 0.7, "b": 0.9}))
    assert found.best is None and found.estimate is None and found.unchanged_again.ratio is not None


@pytest.mark.parametrize("at_s", [1.0, 5.0, 12.0, 20.0, 30.0])
def test_an_interrupt_ends_it_with_what_is_known(at_s: float) -> None:
    track = SimulatedTrack({"a": 3.0, "b": 1.3, "c": 0.8}, interrupt_at_s=at_s, block_s=0.5)
    found = searched(track)
    assert found.interrupted and track.now_s <= at_s + 1
    assert found.best is None or "a" in found.best
    assert at_s < 12 or (found.estimate is not None and found.nearest is not None)


@pytest.mark.parametrize("block_s", [0.1, 0.5, 1.0])
def test_it_keeps_to_its_time(block_s: float) -> None:
    track = SimulatedTrack({name: 1.0 + at / 20 for at, name in enumerate("abcdefgh")}, block_s=block_s)
    searched(track)
    assert track.now_s <= 60 + 30 * block_s


def test_progress_says_the_turn_and_the_fastest_so_far() -> None:
    track = SimulatedTrack({"a": 3.0, "b": 1.0})
    searched(track)
    assert any("turn 4" in text and "fastest so far a, 3." in text for text in track.said)
