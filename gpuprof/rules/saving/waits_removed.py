"""Adds to a finding about many waits what is saved without one of their places, without half, without all.

A wait that goes leaves the next one longer, as the device has as much to do as before: often only the last of them
brings the saving.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Array, Results, Table
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.rules.base.finding import Finding
from gpuprof.whatif.predict import Replay
from gpuprof.whatif.removal import saved_by_number

# A curve in which the costliest half brings less than this of all is worth a sentence: half the work is no use.
_LITTLE = 0.4


def with_curve(results: Results, finding: Finding, waits: Table) -> Finding:
    """The finding with the saving over the number of places that wait no more, the costliest first.

    `waits`: the rows of `SyncWaits.table` that the finding's edit removes. As it is where that was not simulated, or
    where they are all in one place.
    """
    places = wait_places(results, waits)
    if finding.replay_edit is None or finding.saving is None or len(places) < 2:
        return finding
    count = len(places)
    numbers = sorted({1, max(count // 2, 1), count - 1, count})
    saved = [max(ns, 0.0) for ns in saved_by_number(results.get(Replay), places, numbers)]
    told = [
        f"{number if number < count else f'all {count}'}: {_words(ns)}"
        for number, ns in zip(numbers, saved, strict=True)
    ]
    evidence = finding.evidence | {"saving_by_places_removed": ", ".join(told)}
    explanation, half = finding.explanation, numbers.index(max(count // 2, 1))
    if count > 2 and saved[half] < _LITTLE * saved[-1]:
        explanation += (
            f" They have to go together: without the costliest {_half(numbers[half], count)} of the {count} places "
            f"that wait, the run saves {_words(saved[half])}, without all of them {_words(saved[-1])}."
        )
    return replace(finding, evidence=evidence, explanation=explanation)


def wait_places(results: Results, waits: Table) -> list[Array]:
    """Rows of calls by the place in the code that waits, the one that waits longest first.

    A place is a line of the notebook where it is known, else the n-th operator of its name in the step.
    """
    if not len(waits):
        return []
    lines = results.get(LinePlaces)
    row = lines.at(waits["thread"], waits["start_ns"])
    known = row >= 0
    keys = np.full((len(waits), 3), -1, np.int64)
    keys[known, 1] = lines.events["source_file"][row[known]]
    keys[known, 2] = lines.events["line"][row[known]]
    keys[~known, 0] = waits["operator_name"][~known] + 2
    keys[~known, 1] = _rank(waits)[~known]
    _, place = np.unique(keys, axis=0, return_inverse=True)
    place = place.reshape(-1)
    longest = np.argsort(-np.bincount(place, weights=waits["duration_ns"]), kind="stable")
    return [waits["call"][place == each] for each in longest.tolist()]


def _rank(waits: Table) -> Array:
    """The how-manieth of its operator's name in its step each wait is; waits of one operator are one."""
    operator = np.where(waits["operator"] >= 0, waits["operator"], -2 - np.arange(len(waits)))
    _, first, of_operator = np.unique(operator, return_index=True, return_inverse=True)
    chosen = waits.take(first)
    order = np.lexsort((chosen["start_ns"], chosen["operator_name"], chosen["step"]))
    step, name = chosen["step"][order], chosen["operator_name"][order]
    opens = np.concatenate(([True], (np.diff(step) != 0) | (np.diff(name) != 0)))
    position = np.arange(len(order))
    rank = np.empty(len(order), np.int64)
    rank[order] = position - np.maximum.accumulate(np.where(opens, position, 0))
    found: Array = rank[of_operator.reshape(-1)]
    return found


def _half(number: int, count: int) -> str:
    return "half" if 2 * number == count else str(number)


def _words(ns: float) -> str:
    return units.duration(ns) if ns > 0 else "nothing"
