"""A Track whose times are drawn: for the search, without a cell or a clock."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpuprof.verification.tuning.search import UNCHANGED, Entry


@dataclass
class SimulatedTrack:
    """`speeds`: of each setting alone, how many times as fast it makes the cell; together they multiply.

    `noise` is the relative spread of a block, `drift` how much of the last block's deviation the next one keeps.
    """

    speeds: dict[str, float]
    noise: float = 0.03
    drift: float = 0.0
    heavy: bool = False
    seed: int = 0
    block_s: float = 0.25
    refused: dict[Entry, str] = field(default_factory=dict)
    broken: dict[Entry, str] = field(default_factory=dict)
    interrupt_at_s: float = float("inf")
    now_s: float = 0.0
    said: list[str] = field(default_factory=list)
    timed: dict[Entry, int] = field(default_factory=dict)
    excluded: set[frozenset[str]] = field(default_factory=set)
    _state: float = 0.0

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def seconds(self) -> float:
        return self.now_s

    def most_entries(self, until_s: float) -> int:
        return max(int((until_s - self.now_s) / (8 * self.block_s)) - 2, 1)

    def admit(self, entry: Entry) -> str | None:
        self._pass(3)
        return self.refused.get(entry)

    def confirm(self, entry: Entry) -> str | None:
        self._pass(1)
        return self.broken.get(entry)

    def time(self, entry: Entry) -> float | str:
        self._pass(1)
        self.timed[entry] = self.timed.get(entry, 0) + 1
        drawn = self._random.standard_t(4) / np.sqrt(2) if self.heavy else self._random.normal()
        self._state = self.drift * self._state + self.noise * float(drawn)
        speed = float(np.prod([self.speeds[name] for name in entry])) if entry != UNCHANGED else 1.0
        return 1e7 / speed * float(np.exp(self._state))

    def together(self, entry: Entry, other: Entry) -> Entry | None:
        if set(other) <= set(entry) or frozenset((*entry[-1:], *other)) in self.excluded:
            return None
        return (*entry, *other)

    def say(self, text: str) -> None:
        self.said.append(text)

    def _pass(self, blocks: int) -> None:
        self.now_s += blocks * self.block_s
        if self.now_s > self.interrupt_at_s:
            self.interrupt_at_s = float("inf")
            raise KeyboardInterrupt
