"""The thresholds of rules that go by what values hold: made again, subnormal, kept for one backward pass."""

from __future__ import annotations

import pytest

from tests.rules.base.threshold_edge import ABSTAINS, Edge, outcome
from tests.rules.cases import case_of
from tests.rules.test_thresholds import HIGH, LOW, MEDIUM

SUMMED, SUBNORMAL, AGAIN = "losses_summed", "subnormal_numbers", "value_made_again"
EDGES = (
    # of 1000 MiB, of the 600 that it grew by
    Edge(SUMMED, "saved_share", lambda c, x: c.summed(x / 3, peak_mib=2000), 199, 201, None, LOW),
    Edge(SUMMED, "saved_mib", lambda c, x: c.summed(x / 3, peak_mib=900), 99, 101, None, LOW),
    Edge(SUMMED, "losses", lambda c, x: c.summed(300, int(x)), 2, 3, None, HIGH),
    Edge(SUMMED, "medium_share", lambda c, x: c.summed(x / 3), 179, 181, LOW, MEDIUM),
    Edge(SUMMED, "high_share", lambda c, x: c.summed(x / 3), 299, 301, MEDIUM, HIGH),
    # of 800 µs, half of which four of them take; compared with others of 10 µs
    Edge(SUBNORMAL, "work_share", lambda c, x: c.looked(100, 1, whole_us=x), 4001, 3999, None, LOW),
    Edge(SUBNORMAL, "saved_share", lambda c, x: c.looked(100, x, whole_us=3990), 50.2, 49.8, None, LOW),
    Edge(SUBNORMAL, "low_share", lambda c, x: c.looked(100, x, whole_us=2000), 50.1, 49.9, LOW, MEDIUM),
    Edge(SUBNORMAL, "saved_part", lambda c, x: c.looked(100, x), 70.1, 69.9, None, MEDIUM),
    Edge(SUBNORMAL, "high_share", lambda c, x: c.looked(100, x), 40.1, 39.9, MEDIUM, HIGH),
    Edge(SUBNORMAL, "medium_share", lambda c, x: c.not_compared(slow_us=x), 59.9, 60, LOW, MEDIUM),
    Edge(SUBNORMAL, "slowdown_factor", lambda c, x: c.not_compared(x), 1.99, 2, None, MEDIUM),
    Edge(SUBNORMAL, "compared_part", lambda c, x: c.looked(whole_us=x, rest_share=0.5), 841, 839, MEDIUM, HIGH),
    Edge(SUBNORMAL, "seen_share", lambda c, x: c.looked(operators_share=x), 0.79, 0.8, ABSTAINS, HIGH),
    # of ten trials of 100 ms, of which nine are made again
    Edge(AGAIN, "work_share", lambda c, x: c.trials(x / 0.99), 7.9, 8.1, None, LOW),
    Edge(AGAIN, "low_share", lambda c, x: c.trials(x / 0.99), 9.9, 10.1, LOW, MEDIUM),
    Edge(AGAIN, "high_share", lambda c, x: c.trials(x / 0.99), 29.9, 30.1, MEDIUM, HIGH),
)


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.rule}-{edge.threshold}")
def test_just_under_a_threshold_and_at_it(edge: Edge) -> None:
    case = case_of(edge.rule)
    before, after = (outcome(edge.rule, edge.build(case, value)) for value in (edge.under, edge.at))
    assert (before, after) == (edge.before, edge.after)
