"""The first iterations over the usual one."""

from __future__ import annotations

import pytest

from benchmarks.observer.first_iterations import ratios


def test_the_usual_iteration_is_one_of_the_second_half() -> None:
    assert ratios([5.0, 3.0] + [2.0] * 8 + [1.0] * 30) == pytest.approx([4.0, 2.8, 2.4])
