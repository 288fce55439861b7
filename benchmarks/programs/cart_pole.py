"""The cart with a pole in place of gymnasium's `CartPole-v1`: Barto, Sutton and Anderson's equations, Euler steps."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace
from typing import Any

import numpy as np

_GRAVITY, _CART_KG, _POLE_KG, _HALF_POLE_M, _FORCE_N, _STEP_S = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
_FARTHEST_M, _WIDEST = 2.4, 12 * math.pi / 180
_LONGEST = 500


class CartPole:
    """Position, speed, angle, angular speed."""

    def __init__(self) -> None:
        self.spec = SimpleNamespace(reward_threshold=475.0)
        self._draw = random.Random()
        self._state = [0.0] * 4
        self._steps = 0

    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._draw = random.Random(seed)
        self._state = [self._draw.uniform(-0.05, 0.05) for _ in range(4)]
        self._steps = 0
        return np.array(self._state, np.float32), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        position, speed, angle, turn = self._state
        force = _FORCE_N if action else -_FORCE_N
        mass = _CART_KG + _POLE_KG
        pushed = (force + _POLE_KG * _HALF_POLE_M * turn**2 * math.sin(angle)) / mass
        turned = (_GRAVITY * math.sin(angle) - math.cos(angle) * pushed) / (
            _HALF_POLE_M * (4 / 3 - _POLE_KG * math.cos(angle) ** 2 / mass)
        )
        moved = pushed - _POLE_KG * _HALF_POLE_M * turned * math.cos(angle) / mass
        self._state = [
            position + _STEP_S * speed,
            speed + _STEP_S * moved,
            angle + _STEP_S * turn,
            turn + _STEP_S * turned,
        ]
        self._steps += 1
        fell = abs(self._state[0]) > _FARTHEST_M or abs(self._state[2]) > _WIDEST
        return np.array(self._state, np.float32), 1.0, fell, self._steps >= _LONGEST, {}


def make(name: str, render_mode: str | None = None) -> CartPole:
    """The same for every name."""
    return CartPole()
