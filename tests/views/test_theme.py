"""Colours stay apart for every kind of vision, and text on them stays readable."""

import itertools

import numpy as np
import pytest

from gpuprof.views import theme

# Machado, Oliveira, Fernandes 2009, severity 1.0
VISION = {
    "full": np.eye(3),
    "deuteranope": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanope": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "tritanope": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
DEVICE_CATEGORIES = ["compute", "exposed_copy", "exposed_collective", "memset"]
IDLE_CATEGORIES = [
    "idle_input",
    "idle_host",
    "idle_sync",
    "idle_launch",
    "idle_compile",
    "idle_outside_steps",
    "idle_unrecorded",
    "idle_unexplained",
]
HOST_CATEGORIES = ["operators", "input_wait", "compiling", "host_other", "outside_steps"]


def cielab(colour: str, vision: str) -> np.ndarray:
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ seen / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("hues", [theme.HUES, [theme.LIFTED.get(h, h) for h in theme.HUES]], ids=["light", "dark"])
def test_every_two_hues_can_be_told_apart(vision, hues):
    for first, second in itertools.combinations(hues, 2):
        assert np.linalg.norm(cielab(first, vision) - cielab(second, vision)) >= 10, (first, second)


@pytest.mark.parametrize("kind", [*theme.BUDGET.values(), *theme.EVENTS.values()], ids=lambda k: k.key)
def test_text_on_a_colour_is_readable(kind):
    assert theme.contrast(kind.light, kind.ink()) >= 4.5
    assert theme.contrast(kind.dark, kind.ink(dark=True)) >= 4.5


def test_every_category_of_the_budget_has_a_kind_and_a_meaning():
    assert list(theme.BUDGET) == DEVICE_CATEGORIES + IDLE_CATEGORIES + HOST_CATEGORIES
    assert all(kind.label and kind.meaning for kind in theme.BUDGET.values())


def test_contrast_of_black_and_white_is_21():
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21)
