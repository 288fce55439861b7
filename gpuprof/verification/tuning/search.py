"""The search: every setting alone, then the promising ones together, then the best against the unchanged cell again.

The claim rests on the last part only, whose turns chose nothing. What is timed, and how, is the Track's; here are only
decisions, so that all of it can be tried out on simulated times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from gpuprof.verification.timing.confidence import FEWEST_PAIRS
from gpuprof.verification.timing.outcome import Estimate, Outcome
from gpuprof.verification.tuning.race import Race, Standing

# the names of settings, in the order in which they were added; without any it is the unchanged cell
Entry = tuple[str, ...]
UNCHANGED: Entry = ()

ALONE_SHARE, TOGETHER_SHARE = 0.5, 0.75  # of the budget: when these parts end
MOST_TURNS = 60
_FEWEST_TURNS = 4
_NOT_BEST = "undecided: its time was up"
_NO_TIME = "not tried: the time was up"


class Track(Protocol):
    """Where entries run. Texts say why one cannot, or did not."""

    def seconds(self) -> float:
        """Since the search began."""

    def most_entries(self, until_s: float) -> int:
        """How many can be raced until then."""

    def admit(self, entry: Entry) -> str | None:
        """Check that it computes the same, and warm it up; why it may not race."""

    def confirm(self, entry: Entry) -> str | None:
        """Check the whole of what it does; why it must not be proposed."""

    def time(self, entry: Entry) -> float | str:
        """One block of it: ns of a step; or why there is none."""

    def together(self, entry: Entry, other: Entry) -> Entry | None:
        """An entry with the settings of both; None where they exclude each other or nothing is added."""

    def say(self, text: str) -> None:
        """Show how far it is."""


@dataclass(frozen=True)
class Tried:
    """One entry that was tried: how it stood at the end of its last race, and what became of it."""

    entry: Entry
    standing: Standing
    fate: str


@dataclass(frozen=True)
class Found:
    """`best` was measured to be faster; None where nothing was. `estimate` is of it, or of the one that came nearest.

    `proven`: on turns of its own, after it was chosen; else on those of the race, which was interrupted.
    """

    best: Entry | None
    nearest: Entry | None
    estimate: Estimate | None
    proven: bool
    turns: int
    unchanged_again: Standing
    tried: tuple[Tried, ...]
    interrupted: bool


@dataclass
class Search:
    """`singles` are raced alone; `later` are tried only together with what is best by then. `seed` orders the turns."""

    track: Track
    singles: Sequence[Entry]
    budget_s: float
    later: Sequence[Entry] = ()
    seed: int | None = None
    interrupted: bool = False
    _races: list[Race[Entry]] = field(default_factory=list)
    _fates: dict[Entry, str] = field(default_factory=dict)
    _ranking: list[Entry] = field(default_factory=list)
    _proof: Race[Entry] | None = None

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def run(self) -> Found:
        """All of it; an interrupt ends it with what is known by then."""
        try:
            self._alone()
            self._together()
            self._prove()
        except KeyboardInterrupt:
            self.interrupted = True
        return self._found()

    def _alone(self) -> None:
        """In as many heats as it takes; the fastest of each goes on to the next."""
        leader: Entry | None = None
        left = list(self.singles)
        while left and (not self._races or self.track.seconds() < ALONE_SHARE * self.budget_s):
            most = max(self.track.most_entries(ALONE_SHARE * self.budget_s) - (leader is not None), 1)
            heat, left = left[:most], left[most:]
            race = self._race([leader, *heat] if leader else heat, ALONE_SHARE, "settings alone", known=leader)
            leader = race.leader()
            others = [each for each in race.running if each != leader and float(np.median(race.gains(each))) > 0]
            others = sorted(others, key=lambda each: -float(np.median(race.gains(each))))
            self._ranking = [leader, *others] if leader is not None else []

    def _together(self) -> None:
        """Greedily: to the best so far each other promising one is added, and the best of these is gone on with."""
        others = self._promising()
        while self._ranking and self.track.seconds() < TOGETHER_SHARE * self.budget_s:
            best = self._ranking[0]
            made = {self.track.together(best, other): other for other in others}
            entries = [entry for entry in made if entry is not None and entry not in self._fates]
            if not entries:
                return
            race = self._race([best, *entries], TOGETHER_SHARE, "settings together", known=best)
            leader = race.leader()
            if leader is None or leader == best or not race.ahead(leader, best):
                return
            helped = [e for e in race.entered if e not in (best, leader) and float(np.median(race.leads(e, best))) > 0]
            others = [made[entry] for entry in helped]
            self._ranking = [leader, *self._ranking]

    def _promising(self) -> list[Entry]:
        """Those that may be faster than the unchanged cell, the fastest first; then those that were kept for later."""
        known = {entry: self._standing(entry) for entry in self.singles}
        hopeful = [e for e, s in known.items() if (s.ratio or 0.0) > 1 and (s.high is None or s.high > 1)]
        hopeful = [entry for entry in hopeful if entry not in self._ranking[:1]]
        return [*sorted(hopeful, key=lambda each: -(known[each].ratio or 0.0)), *self.later]

    def _standing(self, entry: Entry) -> Standing:
        """At the end of its last race."""
        races = [race for race in self._races if entry in race.entered]
        return races[-1].standing(entry) if races else Standing(0)

    def _race(self, entries: Sequence[Entry], share: float, words: str, known: Entry | None = None) -> Race[Entry]:
        """Race those that may; `known` was admitted before."""
        until_s, admitted = share * self.budget_s, list[Entry]()
        for entry in entries:
            if admitted and self.track.seconds() >= until_s:
                self._fates[entry] = _NO_TIME
                continue
            self.track.say(f"{words}: checking {name_of(entry)}")
            problem = None if entry == known else self.track.admit(entry)
            if problem is None:
                admitted.append(entry)
            else:
                self._fates[entry] = problem
        race: Race[Entry] = Race(admitted)
        self._races.append(race)
        while self._goes_on(race, until_s):
            self._turn(race)
            for entry, leader in race.behind().items():
                race.drop(entry)
                self._fates[entry] = f"slower than {name_of(leader or UNCHANGED)}"
            self._report(race, words)
        return race

    def _goes_on(self, race: Race[Entry], until_s: float) -> bool:
        if not race.running or race.turns >= MOST_TURNS:
            return False
        if race.turns < _FEWEST_TURNS:
            return True
        return len(race.running) > 1 and self.track.seconds() < until_s

    def _turn(self, race: Race[Entry]) -> None:
        """The unchanged cell twice and every entry once, in random order; every second turn mirrors the one before."""
        slots: list[int] = list(range(len(race.running) + 2))
        if race.turns % 2 == 0 or sorted(race.order) != slots:
            race.order = [int(each) for each in self._random.permutation(slots)]
        else:
            race.order.reverse()
        entries = [UNCHANGED, UNCHANGED, *race.running]
        times = dict[int, float]()
        for slot in race.order:
            made = self.track.time(entries[slot])
            if isinstance(made, str):
                self._fates[entries[slot]] = made
            else:
                times[slot] = made
        race.add((times[0], times[1]), {entries[slot]: ns for slot, ns in times.items() if slot > 1})

    def _prove(self) -> None:
        """The best against the unchanged cell, on turns that did not choose it."""
        raced = [entry for entry in self._promising() if self._standing(entry).turns]
        self._ranking = list(dict.fromkeys([*self._ranking, *raced]))
        while self._ranking:
            best = self._ranking[0]
            self.track.say(f"the best, {name_of(best)}, against the unchanged cell")
            problem = self.track.confirm(best)
            if problem is None:
                break
            self._fates[best] = problem
            self._ranking = self._ranking[1:]
        else:
            return
        race = self._proof = Race([best])
        while race.running and race.turns < MOST_TURNS:
            if race.turns >= FEWEST_PAIRS and self.track.seconds() >= self.budget_s:
                return
            self._turn(race)
            if race.turns >= FEWEST_PAIRS and race.proof(best).outcome is not Outcome.INCONCLUSIVE:
                return
            self._report(race, "proof")

    def _report(self, race: Race[Entry], words: str) -> None:
        leader = race.leader()
        standing = race.standing(leader) if leader is not None else None
        best = (
            f"fastest so far {name_of(leader)}, {standing.ratio:.2f}×"
            if leader is not None and standing is not None
            else "nothing is faster so far"
        )
        self.track.say(f"{words}: turn {race.turns}, {len(race.running)} left, {best}")

    def _found(self) -> Found:
        nearest, estimate = (self._ranking[0] if self._ranking else None), None
        race = self._races[-1] if self._races else None
        proven = self._proof is not None and self._proof.turns > 0
        if self._proof is not None and nearest is not None and proven:
            race = self._proof
            estimate = race.proof(nearest)
        elif race is not None and self.interrupted:
            nearest = race.leader() or nearest
            tried = nearest is not None and nearest in race.entered and nearest not in self._fates
            estimate = race.claim(nearest) if nearest is not None and tried else None
        faster = estimate is not None and estimate.outcome is Outcome.FASTER
        return Found(
            best=nearest if faster else None,
            nearest=nearest,
            estimate=estimate,
            proven=proven,
            turns=race.turns if race is not None else 0,
            unchanged_again=race.unchanged_again() if race is not None else Standing(0),
            tried=tuple(self._tried(nearest if faster else None)),
            interrupted=self.interrupted,
        )

    def _tried(self, best: Entry | None) -> list[Tried]:
        entries = dict.fromkeys([*self.singles, *(each for race in self._races for each in race.entered)])
        entries |= dict.fromkeys(self._fates)
        rows = []
        for entry in entries:
            standing = self._standing(entry)
            if entry == best:
                fate = "best"
            elif best is not None and set(entry) < set(best):
                fate = self._fates.get(entry, "part of the best")
            else:
                fate = self._fates.get(entry, _NOT_BEST if standing.turns else _NO_TIME)
            rows.append(Tried(entry, standing, fate))
        return sorted(rows, key=lambda row: -(row.standing.ratio or 0.0))


def name_of(entry: Entry) -> str:
    """As it is shown."""
    return " + ".join(entry) if entry else "the unchanged cell"
