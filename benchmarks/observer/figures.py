"""The figures of the page, from the runs of one program: each beside what was wanted of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.observer.measure import Runs
from benchmarks.observer.worker import PLAIN, PROFILED, STOPWATCH, TURNS

MOST_CELL, MOST_ITERATION, MOST_POINTS, MOST_SAMPLER, MOST_COLLATE = 1.10, 1.01, 5.0, 0.01, 1.15
LONG_LINE = 0.05
# as gpuprof does: iterations with an evaluation in them are not like the others
_UNLIKE = 3.0
# the iteration in which a recording ends holds its saving
_AFTER_END = 2
_SIDES = 1.96


@dataclass(frozen=True)
class Ratio:
    """The median of ratios, with what they lay between, or a 95 % interval."""

    value: float
    low: float
    high: float
    count: int

    @classmethod
    def spread(cls, values: Sequence[float]) -> Ratio:
        """Median, smallest and largest."""
        return cls(statistics.median(values), min(values), max(values), len(values))

    @classmethod
    def interval(cls, values: Sequence[float]) -> Ratio:
        """The geometric mean, and its 95 % interval."""
        logs = np.log(values)
        error = float(logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else float("inf")
        middle = float(logs.mean())
        low, high = np.exp(middle - _SIDES * error), np.exp(middle + _SIDES * error)
        return cls(float(np.exp(middle)), float(low), float(high), len(values))


@dataclass(frozen=True)
class Shares:
    """A share by gpuprof and by a stopwatch, 0..1: medians over the runs. `beside`: by a stopwatch in gpuprof's own
    run, which differs from `stopwatch` by what the machine did."""

    told: float
    stopwatch: float
    beside: float

    @property
    def points(self) -> float:
        """By how many points they differ."""
        return 100 * abs(self.told - self.stopwatch)


@dataclass(frozen=True)
class LineShare:
    """One statement: `0:12` begins in line 12 of the measured cell, `1:12` of the cell before."""

    place: str
    told: float
    stopwatch: float
    beside: float

    @property
    def points(self) -> float:
        """By how many points it differs from the stopwatch of the same run."""
        return 100 * abs(self.told - self.beside)


def cell_ratio(runs: Runs, name: str, clock: str) -> Ratio:
    """The whole cell in a `with` of gpuprof, over plain. `cpu_s` includes the sampler's process."""
    pairs = zip(runs[name, PLAIN], runs[name, PROFILED], strict=False)
    return Ratio.spread([_spent(profiled, clock) / _spent(plain, clock) for plain, profiled in pairs])


def plain_seconds(runs: Runs, name: str, clock: str) -> float:
    """How long the plain cell takes."""
    return _median(_spent(each, clock) for each in runs[name, PLAIN])


@dataclass(frozen=True)
class Added:
    """Processor time that gpuprof added to one cell, in seconds, and by what factor the cell took longer."""

    recording: float
    leaving: float
    sampler: float
    ratio: float


def added(runs: Runs, name: str) -> list[Added]:
    """By each profiled run alone, which leaves out how far two runs of the same work differ.

    Its recorded iterations over its own plain ones, less what the first ones of a plain run take more than later ones;
    and the end of the `with`, by a stopwatch.
    """
    found = []
    for plain, profiled in zip(runs[name, PLAIN], runs[name, PROFILED], strict=False):
        first = profiled["plain_from"] + _AFTER_END
        extra = [_above(each["iterations"]["cpu_s"], first) for each in (profiled, plain)]
        recording, leaving = extra[0] - extra[1], profiled["leaving"]["cpu_s"]
        whole, sampler = _spent(profiled, "cpu_s"), profiled["leaving"]["children_s"]
        found.append(Added(recording, leaving, sampler, whole / (whole - recording - leaving - sampler)))
    return found


def _above(seconds: Sequence[float], first: int) -> float:
    """What the iterations before `first` take more than as many later ones."""
    return sum(seconds[:first]) - first * _mean_alike(seconds[first:])


def iteration_ratio(runs: Runs, name: str, clock: str) -> Ratio:
    """The iterations after the recording, over the same ones of a plain run."""
    found = []
    for plain, profiled in zip(runs[name, PLAIN], runs[name, PROFILED], strict=False):
        first = profiled["plain_from"] + _AFTER_END
        means = [_mean_alike(each["iterations"][clock][first:]) for each in (profiled, plain)]
        found.append(means[0] / means[1])
    return Ratio.spread(found)


def turns_ratio(runs: Runs, name: str, clock: str) -> Ratio:
    """Watched blocks over the plain ones on both sides of them, in one process."""
    return Ratio.interval([ratio for run in runs[name, TURNS] for ratio in block_ratios(run["turns"], clock)])


def block_ratios(blocks: Sequence[dict[str, Any]], clock: str) -> list[float]:
    """Every watched block over the mean of its neighbors; each by its mean iteration."""
    most = _UNLIKE * float(np.median([each for block in blocks for each in block[clock]])) if blocks else 0.0
    means = [statistics.fmean(each for each in block[clock] if each <= most) for block in blocks]
    inner = range(1, len(blocks) - 1)
    return [2 * means[at] / (means[at - 1] + means[at + 1]) for at in inner if blocks[at]["watched"]]


def hook_seconds(blocks: Sequence[dict[str, Any]], clock: str) -> float:
    """What an iteration takes longer where it is watched: the difference of the medians of the blocks' means."""
    sides = [[statistics.fmean(b[clock]) for b in blocks if b["watched"] == watched] for watched in (True, False)]
    return _median(sides[0]) - _median(sides[1])


def threads_share(runs: Runs, name: str) -> float:
    """What gpuprof's own threads took of a core, by their own clock: the median."""
    return _median([each["threads_share"] for each in runs[name, PROFILED] if each.get("threads_share")] or [0.0])


def line_shares(runs: Runs, name: str) -> list[LineShare]:
    """Every line that has more than 5 % by either, the worst first."""
    told, beside = ([each[key] for each in runs[name, PROFILED]] for key in ("lines", "lines_beside"))
    clock = [each["lines"] for each in runs[name, STOPWATCH]]
    places = {place for lines in (*told, *beside) for place in lines}
    found = [LineShare(place, *(_median_of(each, place) for each in (told, clock, beside))) for place in places]
    return sorted((each for each in found if max(each.told, each.beside) > LONG_LINE), key=lambda e: -e.points)


def part_share(runs: Runs, name: str, part: str) -> Shares | None:
    """Of the iterations: `wait` for data, or `optimizer`. None where gpuprof knows none."""
    told = [each[f"{part}_share"] for each in runs[name, PROFILED]]
    if None in told:
        return None
    beside = [stopwatch_share(each, part, each["plain_from"] + _AFTER_END) for each in runs[name, PROFILED]]
    plain = [stopwatch_share(each, part, _AFTER_END) for each in runs[name, PLAIN]]
    return Shares(_median(told), _median(plain), _median(beside))


def stopwatch_share(run: dict[str, Any], part: str, first: int) -> float:
    """What that part takes of the iterations from `first` on, by the program's own stopwatch."""
    wall = np.array(run["iterations"]["wall_s"][first:])
    like = wall <= _UNLIKE * np.median(wall)
    return float(np.array(run["iterations"][f"{part}_s"][first:])[like].sum() / wall[like].sum())


def sampler_share(runs: Runs, name: str) -> float:
    """The most that the sampler took of a core."""
    return max(float(each["sampler_share"]) for each in runs[name, PROFILED])


def collate_ratio(found: Sequence[dict[str, Any]], over: str, clock: int) -> Ratio:
    """A recorded step by gpuprof over one by `over` (`torch`, `plain`), over all rounds; `clock` 0: wall, 1: CPU."""
    ratios = [
        ours[clock] / theirs[clock]
        for run in found
        for ours, theirs in zip(run["medians"]["gpuprof"], run["medians"][over], strict=True)
    ]
    return Ratio.interval(ratios)


def _median(values: Iterable[Any]) -> float:
    return float(statistics.median(values))


def _spent(run: dict[str, Any], clock: str) -> float:
    return float(run[clock]) + (float(run["children_s"]) if clock == "cpu_s" else 0.0)


def _mean_alike(seconds: Sequence[float]) -> float:
    values = np.array(seconds)
    return float(values[values <= _UNLIKE * np.median(values)].mean())


def _median_of(found: Sequence[dict[str, float]], place: str) -> float:
    return _median(lines.get(place, 0.0) for lines in found)
