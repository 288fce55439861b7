"""Curves show the highest value of each part of the time."""

import re

import numpy as np

from gpuprof.views.html.blocks import COLUMNS, HEIGHT, WIDTH, curve_block


def heights(block) -> np.ndarray:
    return np.array([[float(n) for n in pair.split(",")] for pair in block.line[1:].split()])


def test_a_short_peak_is_not_lost():
    time = np.arange(100_000)
    value = np.zeros(100_000)
    value[54_321] = 8.0
    block = curve_block("c", "memory", time, value, 8.0, "8 B", "100 µs")
    points = heights(block)
    assert len(points) == COLUMNS
    assert points[:, 1].min() == 4 and points[:, 1].max() == HEIGHT
    assert abs(points[points[:, 1].argmin(), 0] / WIDTH - 0.54321) < 0.01


def test_a_value_holds_until_the_next_one():
    block = curve_block("c", "memory", np.array([0, 10]), np.array([5.0, 1.0]), 5.0, "5", "10")
    assert (heights(block)[:-1, 1] == 4).all()
    assert re.fullmatch(r"M[\d., ]+Z", block.area)
