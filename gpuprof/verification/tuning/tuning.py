"""What a search for settings found: the best with its proof, and everything that was tried."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuprof.units import NS_PER_S, duration, factor, plural
from gpuprof.verification.timing.outcome import Outcome
from gpuprof.verification.tuning.race import Standing
from gpuprof.verification.tuning.search import Found, name_of
from gpuprof.verification.tuning.setting import Candidates

if TYPE_CHECKING:
    from gpuprof.verification.tuning.cell_track import CellTrack

SCHEMA = 1
CONFIDENCE_SHARE = 0.95


@dataclass(frozen=True)
class TriedSettings:
    """One combination that was tried. `ratio` is time unchanged ÷ its time in the race, `low` to `high` the interval at
    the level that all share; None where it did not come so far. `fate` says what became of it."""

    settings: tuple[str, ...]
    turns: int
    ratio: float | None
    low: float | None
    high: float | None
    fate: str
    changes_results: bool = False

    @property
    def name(self) -> str:
        """Its settings; marked where they change results."""
        return name_of(self.settings) + (" (changes results)" if self.changes_results else "")


@dataclass(frozen=True)
class Tuning:
    """`settings` were measured to be faster: `ratio` is time before ÷ time after, `low` to `high` its 95 % interval, in
    `turns` of the unchanged cell (twice) and the changed one. Empty where nothing was; then the figures are those of
    `nearest`, which came nearest, or None.

    `proven`: by turns that did not choose the settings; else by those of the race. `unchanged_again`: the unchanged
    cell against itself in the same turns. `before` and `after` are texts of the cell, `after` with `settings`.
    `step_ns` (before, after): medians of the time of a step, or of the cell where `whole_cell`. `without_place`:
    settings that were not tried, since the cell as it is has no place for them.
    """

    settings: tuple[str, ...]
    nearest: tuple[str, ...]
    ratio: float | None
    low: float | None
    high: float | None
    turns: int
    proven: bool
    unchanged_again: Standing
    same_results: str
    tried: tuple[TriedSettings, ...]
    before: str
    after: str
    seconds: float
    interrupted: bool = False
    whole_cell: bool = False
    changes_results: bool = False
    step_ns: tuple[float, float] | None = None
    without_place: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Found, candidates: Candidates, track: CellTrack, *, seconds: float) -> Tuning:
        """From what the search found and the track kept."""
        best, estimate = found.best or (), found.estimate
        guard = track.guard(best)
        units = [track.unit_ns.get(entry, []) for entry in ((), best)]
        known = bool(best) and all(units)
        tried = {name for each in found.tried for name in each.entry}
        return cls(
            settings=best,
            nearest=found.nearest or (),
            ratio=estimate.ratio if estimate else None,
            low=estimate.low if estimate else None,
            high=estimate.high if estimate else None,
            turns=found.turns,
            proven=found.proven,
            unchanged_again=found.unchanged_again,
            same_results=guard.text if guard is not None else "",
            tried=tuple(
                TriedSettings(
                    each.entry,
                    each.standing.turns,
                    each.standing.ratio,
                    each.standing.low,
                    each.standing.high,
                    each.fate,
                    _changes(candidates, each.entry),
                )
                for each in found.tried
            ),
            before=candidates.source,
            after=candidates.text(best),
            seconds=seconds,
            interrupted=found.interrupted,
            whole_cell=track.plan.steps is None,
            changes_results=_changes(candidates, best),
            step_ns=(float(np.median(units[0])), float(np.median(units[1]))) if known else None,
            without_place=tuple(name for (name,) in candidates.later if name not in tried),
        )

    @property
    def outcome(self) -> Outcome:
        """Faster, or not shown to be."""
        return Outcome.FASTER if self.settings else Outcome.INCONCLUSIVE

    def __str__(self) -> str:
        """In one line: the best settings and their gain, or that none was faster."""
        shown = self._shown()
        if self.settings:
            return f"{name_of(self.settings)}: measured {shown}, {self.same_results}"
        if self.nearest and shown:
            return f"no setting was measured to be faster; {name_of(self.nearest)} came nearest: {shown}"
        return "no setting was measured to be faster than the unchanged cell"

    def lines(self) -> list[str]:
        """That line, then what it rests on."""
        found = [str(self)]
        if self.settings and self.step_ns is not None:
            what = "the cell" if self.whole_cell else "a step"
            found.append(f"{what} takes {duration(self.step_ns[0])} before and {duration(self.step_ns[1])} after")
        if self.changes_results:
            found.append("these settings change results beyond rounding; you allowed that")
        again = self.unchanged_again
        if again.low is not None and again.high is not None and again.ratio is not None:
            words = f"{factor(again.ratio)} ({range_of(again.low, again.high)})"
            found.append(f"the unchanged cell against itself, in the same turns: {words}")
        if self.settings:
            found.append(
                f"confidence {CONFIDENCE_SHARE:.0%}, measured on turns that did not choose the settings"
                if self.proven
                else f"confidence {CONFIDENCE_SHARE:.0%} for all settings together, not yet measured again on its own"
            )
        if self.without_place:
            found.append(f"not tried, since the cell as it is has no place for them: {', '.join(self.without_place)}")
        took = duration(self.seconds * NS_PER_S)
        found.append(
            f"interrupted after {took}: this is what was known by then" if self.interrupted else f"took {took}"
        )
        return found

    def _shown(self) -> str:
        if self.ratio is None:
            return ""
        shown = factor(self.ratio)
        if self.low is not None and self.high is not None:
            shown += f" ({range_of(self.low, self.high)})"
        return f"{shown} in {plural(self.turns, 'turn')}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; ratios are before ÷ after, times ns."""
        named = asdict(self)
        named["tried"] = [asdict(each) | {"settings": list(each.settings)} for each in self.tried]
        lists = {name: list(value) for name, value in named.items() if isinstance(value, tuple)}
        return {"schema": SCHEMA, **named, **lists, "outcome": str(self.outcome), "text": str(self)}


def range_of(low: float, high: float) -> str:
    """`1.79–1.90`."""
    return f"{low:.2f}–{high:.2f}" if high < 100 else f"{low:.2f} and more"


def _changes(candidates: Candidates, entry: tuple[str, ...]) -> bool:
    return any(each.changes_results for each in candidates.settings(entry))
