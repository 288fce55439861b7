"""How often `%gputune` claims a gain that is not there, and finds one that is, over simulated times.

python benchmarks/tuning_search.py

Searches of 60 s with blocks that vary by 3%: six settings without an effect under three kinds of noise, and one setting
that makes the cell faster among five without an effect.
"""

from __future__ import annotations

from gpuprof.verification.tuning.search import Search
from tests.verification.tuning.simulated import SimulatedTrack

_SEEDS = 200
_NOISES = {"normal": {}, "heavy-tailed": {"heavy": True}, "drifting": {"drift": 0.5}}


def claimed(speeds: dict[str, float], seed: int, **noise: float) -> tuple[str, ...] | None:
    """What one search proposes."""
    track = SimulatedTrack(speeds, seed=seed, **noise)
    return Search(track, [(name,) for name in speeds], 60.0, [], seed).run().best


def main() -> None:
    """Print one line for each kind of search."""
    equals = dict.fromkeys("abcdef", 1.0)
    for name, noise in _NOISES.items():
        claims = sum(claimed(equals, seed, **noise) is not None for seed in range(_SEEDS))
        print(f"no effect, {name} noise: {claims} gains claimed in {_SEEDS} searches", flush=True)
    for speed in (1.10, 1.05):
        found = sum("a" in (claimed({**equals, "a": speed}, seed) or ()) for seed in range(100))
        print(f"one setting at {speed:.2f}×: found in {found} of 100 searches", flush=True)


if __name__ == "__main__":
    main()
