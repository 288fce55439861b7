"""Curves show the highest value of each part of the time."""

import re

import numpy as np

from gpuprof.views.blocks import COLUMNS, HEIGHT, WIDTH, curve_block


def heights(block) -> np.ndarray:
    return np.array([[float(n) for n in pair.split(",")] for pair in block.line[1:].split()])


def test_a_short_peak_is_not_lost():
    time = np.arange(100_000)
    value = np.zeros(100_000)
    value[54_321] = 8.0
    block = curve_block("c", "memory", time, value, top=8.0, top_text="8 B")
    points = heights(block)
    assert len(points) == COLUMNS
    assert points[:, 1].min() == 4 and points[:, 1].max() == HEIGHT
    assert abs(points[points[:, 1].argmin(), 0] / WIDTH - 0.54321) < 0.01


def test_a_value_holds_until_the_next_one():
    block = curve_block("c", "memory", np.array([0, 10]), np.array([5.0, 1.0]), top=5.0, top_text="5")
    assert (heights(block)[:-1, 1] == 4).all()
    assert re.fullmatch(r"M[\d., ]+Z", block.area)


def test_a_curve_stands_where_it_was_recorded_and_holds_to_the_end():
    # GIVEN values at 50 and 75 of a recording from 0 to 100
    block = curve_block(
        "c", "memory", np.array([50, 75]), np.array([1.0, 5.0]), top=5.0, top_text="5", within=(0.0, 100.0)
    )
    # THEN nothing is drawn before the first, and the last holds
    points = heights(block)
    assert abs(points[0, 0] / WIDTH - 0.5) < 0.01 and points[-1].tolist() == [WIDTH, 4]
    assert abs(points[points[:, 1].argmin(), 0] / WIDTH - 0.75) < 0.01
    assert block.area.startswith(f"M{points[0, 0]:.1f},{HEIGHT} ") and block.span == "100 ns"
