"""How wide the predicted ranges are, and how often they hold what was measured: recomputed, nothing is measured.

    python -m benchmarks.proving.ranges [FOLDER] [--add] [--keep NOTE]

FOLDER holds recordings (`benchmarks.proving.foreseen` says how they are named): today's rules judge them again. Without
it, what docs/evidence/data/predictions/cpu.json keeps is taken; `--keep` writes that file from FOLDER.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.proving.foreseen import Foreseen, of_recordings
from benchmarks.proving.fresh import ROOT, write_json
from benchmarks.proving.packed import read_packed
from benchmarks.proving.tables import markdown, percent
from gpuprof.model.table import Array
from gpuprof.rules.saving.measured_spread import Fit
from gpuprof.rules.saving.shown_saving import COVERED, NOTHING, expected_shares, log_odds, narrow, shown_saving
from gpuprof.units import plural

DATA = ROOT / "docs" / "evidence" / "data"
KEPT = DATA / "predictions" / "cpu.json"
# changes of no rule in particular that count with those of each
_ALIKE = 2.0
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True)
class Spread:
    """How ranges do over some changes: shares 0..1; None for none of them. `width`: the median, in shares."""

    count: int
    covered: float | None
    width: float | None

    @classmethod
    def of(cls, rows: Sequence[Foreseen], ranges: Sequence[tuple[float, float]]) -> Spread:
        """Of the range in each row."""
        if not rows:
            return cls(0, None, None)
        held = [low <= row.measured <= high for row, (low, high) in zip(rows, ranges, strict=True)]
        return cls(len(rows), statistics.fmean(held), statistics.median(high - low for low, high in ranges))


def main() -> None:
    parser = argparse.ArgumentParser(description="how wide predicted ranges are, and how often they hold")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--add", action="store_true", help="to what is kept of changes without a recording here")
    parser.add_argument("--keep", metavar="NOTE", help="keep what the recordings give, with what the reader must know")
    chosen = parser.parse_args()
    rows, _ = read_kept()
    if chosen.folder is not None:
        packed = read_packed(DATA.glob("*.json"))
        known = rows
        rows = of_recordings(chosen.folder, [result for each in packed for result in each["results"]])
        if chosen.add:
            names = {each.name for each in rows}
            rows = [*(each for each in known if each.name not in names), *rows]
    if chosen.folder is not None and chosen.keep:
        write_json(KEPT, {"note": chosen.keep, "rows": [asdict(row) for row in rows]})
    print(page(rows))


def read_kept(path: Path = KEPT) -> tuple[list[Foreseen], str]:
    """The rows that are kept, and what the reader must know of them; both empty where there are none."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"note": "", "rows": []}
    return [Foreseen(**row) for row in kept["rows"]], kept["note"]


def error_of(row: Foreseen) -> float:
    """How much more was measured than the central share says, in log odds; negative for less."""
    return log_odds(row.measured) - log_odds(row.central)


def fit_of(rows: Sequence[Foreseen], covered: float = COVERED) -> Fit:
    """What `shown_saving` says; infinite ends for too few changes to tell."""
    errors = np.array([error_of(row) for row in rows])
    rules = [row.rule for row in rows]
    parts = [_spreads(np.delete(errors, at), [*rules[:at], *rules[at + 1 :]]) for at in range(len(rows))]
    scores = sorted(
        (error - middle) / by_rule.get(rule, usual)
        for error, rule, (middle, usual, by_rule) in zip(errors.tolist(), rules, parts, strict=True)
    )
    part = (1 - covered) / 2
    first, last = math.floor((len(rows) + 1) * part), math.ceil((len(rows) + 1) * (1 - part))
    known = first >= 1 and last <= len(rows)
    low, high = (scores[first - 1], scores[last - 1]) if known else (-math.inf, math.inf)
    middle, usual, by_rule = _spreads(errors, rules)
    return Fit(middle, low, high, usual, by_rule)


def _spreads(errors: Array, rules: Sequence[str]) -> tuple[float, float, dict[str, float]]:
    """The median error, and the spread around it: of all changes, and of those of each rule."""
    if not len(errors):
        return 0.0, 1.0, {}
    middle = float(np.median(errors))
    apart = (errors - middle) ** 2
    usual = max(float(apart.mean()), _LEAST_SPREAD**2)
    of_rule = {rule: apart[[each == rule for each in rules]] for rule in set(rules)}
    found = {rule: (float(own.sum()) + _ALIKE * usual) / (len(own) + _ALIKE) for rule, own in of_rule.items()}
    return middle, math.sqrt(usual), {rule: math.sqrt(each) for rule, each in sorted(found.items())}


def within(rows: Sequence[Foreseen], covered: float = COVERED) -> float:
    """How far, in shares, the central share was off at most in so many of these changes."""
    errors = sorted(abs(row.measured - row.central) for row in rows)
    return errors[min(math.ceil((len(errors) + 1) * covered), len(errors)) - 1]


def without_each(rows: Sequence[Foreseen], alike: Callable[[Foreseen], Hashable]) -> list[tuple[float, float]]:
    """The range of each row, by those that are not `alike` it."""
    others = [[each for each in rows if alike(each) != alike(row)] for row in rows]
    return [expected_shares(row.saving, row.rule, fit_of(left)) for row, left in zip(rows, others, strict=True)]


def page(rows: Sequence[Foreseen]) -> str:
    """All of it as Markdown: the sums, where the width of the ranges comes from, and a row for each change."""
    if not rows:
        return "No recording of a measured change is kept."
    pairs, cells = [row for row in rows if not row.cell], [row for row in rows if row.cell]
    told = [shown_saving(row.finding, on_device=False) for row in rows]
    hidden = sum(each is not None and each.hidden is not None for each in told)
    counted = f"{plural(len(pairs), 'pair')} and {plural(len(cells), 'cell')} of the rounds"
    known = (
        f"{counted}. 8 of 10 central shares are within {100 * within(rows):.0f} points of what was measured. *Measure "
        f"it* stands in place of the range in {hidden} of {len(rows)} findings ({percent(hidden / len(rows))}). gpuprof"
        f" uses this fit (`gpuprof/rules/saving/measured_spread.py`): `{_written(fit_of(rows))}`."
    )
    return "\n\n".join((known, _sums(rows, pairs, cells), _by_rule(rows), _table(rows)))


def then(rows: Sequence[Foreseen]) -> str:
    """A sentence on ranges that were made of these changes alone."""
    if not rows:
        return ""
    own = Spread.of(rows, [(row.low, row.high) for row in rows])
    left_out = Spread.of(rows, without_each(rows, lambda row: row.name))
    return (
        f"These ranges hold {percent(own.covered)} and are {_points(own.width)} wide at the median. Ranges of these "
        f"changes alone by the method below, each made without its own pair, hold "
        f"{percent(left_out.covered)} and are {_points(left_out.width)} wide."
    )


def _written(fit: Fit) -> str:
    ends = f"Fit({fit.middle:.3f}, {fit.low:.3f}, {fit.high:.3f}, {fit.usual:.3f}"
    return f"{ends}, {{{', '.join(f'{rule!r}: {spread:.3f}' for rule, spread in fit.by_rule.items())}}})"


def _sums(rows: Sequence[Foreseen], pairs: Sequence[Foreseen], cells: Sequence[Foreseen]) -> str:
    seen = [row for row in rows if _is_shown(row)]
    own, expected = [(row.low, row.high) for row in rows], [expected_shares(row.saving, row.rule) for row in rows]
    said = [
        ("ranges that findings are ranked by", Spread.of(rows, own)),
        ("expected ranges", Spread.of(rows, expected)),
        ("each made without its own pair or cell", Spread.of(rows, without_each(rows, lambda row: row.name))),
        ("pairs, each made without its whole family", Spread.of(pairs, without_each(pairs, lambda row: row.family))),
        ("cells, made by the pairs alone", Spread.of(cells, _by_others(pairs, cells))),
        ("shown ranges", Spread.of(seen, [expected_shares(row.saving, row.rule) for row in seen])),
        ("shown ranges, each made without its own pair or cell", _left_out_and_shown(rows)),
    ]
    return markdown(
        ("ranges", "changes", "hold what was measured", "median width"),
        [(name, each.count, percent(each.covered), _points(each.width)) for name, each in said],
    )


def _by_others(known: Sequence[Foreseen], rows: Sequence[Foreseen]) -> list[tuple[float, float]]:
    fit = fit_of(known)
    return [expected_shares(row.saving, row.rule, fit) for row in rows]


def _left_out_and_shown(rows: Sequence[Foreseen]) -> Spread:
    made = zip(rows, without_each(rows, lambda row: row.name), strict=True)
    kept = [(row, ends) for row, ends in made if narrow(*ends)]
    return Spread.of([row for row, _ in kept], [ends for _, ends in kept])


def _by_rule(rows: Sequence[Foreseen]) -> str:
    """Of the ranges that findings are ranked by: how much of the width is assumed, the rest being other runs."""
    told = []
    for rule in sorted({row.rule for row in rows}):
        mine = [row for row in rows if row.rule == rule]
        told.append(
            (
                f"`{rule}`",
                len(mine),
                _points(statistics.median(row.high - row.low for row in mine)),
                _points(statistics.median(row.run_high - row.run_low for row in mine)),
                sum(row.low < NOTHING for row in mine),
                sum(row.low <= row.measured <= row.high for row in mine),
                _points(statistics.median(abs(row.central - row.measured) for row in mine)),
            )
        )
    head = ("rule", "changes", "median width", "of it assumed", "from 0", "hold what was measured", "median error")
    return markdown(head, told)


def _table(rows: Sequence[Foreseen]) -> str:
    told = []
    for row in sorted(rows, key=lambda row: abs(error_of(row))):
        low, high = expected_shares(row.saving, row.rule)
        told.append(
            (
                row.name,
                f"`{row.rule}`",
                row.severity,
                f"{100 * row.central:.0f} % ({100 * row.low:.0f} to {100 * row.high:.0f})",
                f"{100 * low:.0f} to {100 * high:.0f}",
                "shown" if _is_shown(row) else "measure it",
                f"{100 * row.measured:.0f} %",
                "yes" if low <= row.measured <= high else "no",
            )
        )
    head = ("pair or cell", "rule", "severity", "central (ranked by)", "expected", "range", "measured", "in it")
    return markdown(head, told)


def _is_shown(row: Foreseen) -> bool:
    told = shown_saving(row.finding, on_device=False)
    return told is not None and told.hidden is None


def _points(share: float | None) -> str:
    return percent(None) if share is None else f"{100 * share:.0f} points"


if __name__ == "__main__":
    main()
