"""Finds every rule of this package, and asks them all."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from gpuprof import rules
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.errors import UsageError
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.framework_words import in_its_words
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.precedence import NEEDLESS, NOT_AFTER, TAKES_MOST, TIMED_BY_LINES
from gpuprof.rules.base.rule import Rule
from gpuprof.rules.saving.named_cause import bounded
from gpuprof.rules.saving.of_the_cell import HIGH_SHARE, of_whole_cell, severity_in_cell
from gpuprof.rules.saving.run_variation import spread_of_the_rest
from gpuprof.rules.saving.shown_saving import NOTHING
from gpuprof.rules.saving.without_profiling import without_recording
from gpuprof.whatif.predict import MINOR_SHARE

# of a finding's time, within a cause that may be elsewhere as well
_MEMORY_WEIGHT = 0.5
# they name the operators that they are about
_OF_OPERATORS = frozenset({*NEEDLESS, "pieces_one_by_one"})
_MAY_BE_NOTHING = 0.5
# of a change of the numbers, within the run-to-run variation
_UNSEEN = 0.2
_MOST = 0.5


@dataclass(frozen=True)
class Judgement:
    """What the rules said: findings best first, and who abstained, by name."""

    findings: tuple[Finding, ...]
    abstained: tuple[Abstention, ...]


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """One instance of every rule, by name: each module below `gpuprof.rules` that defines a subclass of Rule."""
    found = pkgutil.walk_packages(rules.__path__, f"{rules.__name__}.")
    modules = [importlib.import_module(each.name) for each in found]
    kinds = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__
    ]
    return tuple(sorted((kind() for kind in kinds if kind is not Rule), key=lambda known: known.name))


def rule(name: str) -> Rule:
    """The rule of that name; UsageError, with the names there are, where there is none."""
    for known in all_rules():
        if known.name == name:
            return known
    raise UsageError(f"there is no rule {name!r}; the rules are {', '.join(r.name for r in all_rules())}")


def judge(results: Results, *, strict: bool = False) -> Judgement:
    """Ask every rule, let each yield to its root cause, and sort the findings best first.

    A rule that fails by a fault of its own becomes an Abstention that says so, so that the others still speak;
    `strict` raises instead.
    """
    findings: list[Finding] = []
    abstained: list[Abstention] = []
    for asked in all_rules():
        try:
            answer = asked.judge(results)
        except Exception as error:  # the boundary between rules: a fault in one must not cost the whole report
            if strict:
                raise
            answer = Abstention(
                asked.name,
                f"itself: it failed with {type(error).__name__}: {error}",
                "This is a fault in gpuprof; please report it with the trace.",
            )
        if isinstance(answer, Finding):
            findings.append(in_its_words(_foreseen(results, answer), results.context))
        elif answer is not None:
            abstained.append(answer)
    kept = [found for found in findings if not _yields(results, found, findings)]
    return Judgement(best_first(kept), tuple(abstained))


def best_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """By severity, then by what they save: a share of the peak of memory weighs half of the same share of the time.

    A medium one that saves HIGH_SHARE or more is sorted with the high ones: a rule grades by the share that it finds,
    and a change may save more or less than that. A saving that may be nothing counts half, and one of a
    change of the numbers that is within the run-to-run variation a fifth.
    """
    known = tuple(findings)
    wholes = (each.saving.central_ns / each.saving.share for each in known if each.saving and each.saving.share > 0)
    whole_ns = max(wholes, default=1.0)

    def rank(found: Finding) -> tuple[int, float, str]:
        memory = found.evidence.get("saved_share", 0.0) if found.saving is None else 0.0
        severity, saved, name = _rank(found)
        if found.saving is not None:
            counts = _MAY_BE_NOTHING if found.saving.least_share < NOTHING else 1.0
            if found.saving.share < found.saving.spread and rule(found.rule).guard is Guard.NUMERIC:
                counts *= _UNSEEN
            saved *= counts
            if found.severity is Severity.MEDIUM and counts * found.saving.share >= HIGH_SHARE:
                severity = -Severity.HIGH
        return severity, saved - (_MEMORY_WEIGHT * memory * whole_ns if isinstance(memory, float) else 0.0), name

    return tuple(sorted(known, key=rank))


def _foreseen(results: Results, found: Finding) -> Finding:
    if found.saving is None:
        return found
    plain = without_recording(results, found.saving, found.where.ranges_ns)
    plain = of_whole_cell(results, found, plain)
    found, plain = bounded(results, found, plain)
    found = replace(found, severity=severity_in_cell(results, found, plain))
    severity = Severity.LOW if plain.calibrated and 0 < plain.most_share < MINOR_SHARE else found.severity
    return replace(found, severity=severity, saving=replace(plain, spread=spread_of_the_rest(results)))


def _rank(found: Finding) -> tuple[int, float, str]:
    return -found.severity, -(found.saving.central_ns if found.saving else 0.0), found.rule


def _yields(results: Results, found: Finding, findings: list[Finding]) -> bool:
    causes = rule(found.rule).yields_to
    if any(other.rule in causes and _explains(other, found) for other in findings):
        return True
    better = NOT_AFTER.get(found.rule, ())
    if any(other.rule in better and other.severity > Severity.LOW for other in findings):
        return True
    return found.rule in NEEDLESS and any(_same_work(results, other, found) for other in findings)


def _same_work(results: Results, better: Finding, found: Finding) -> bool:
    """Whether the other speaks of most of the same operators, and saves more."""
    if better is found or better.rule not in _OF_OPERATORS or _rank(better) > _rank(found):
        return False
    looked = results.get(LookedTime)
    if not looked.known or better.looked_rows is None or found.looked_rows is None:
        return False
    rows = np.unique(found.looked_rows)
    shared = looked.cell_ns[np.intersect1d(rows, better.looked_rows)].sum()
    return bool(shared > _MOST * looked.cell_ns[rows].sum())


def _explains(cause: Finding, found: Finding) -> bool:
    """Whether the cause is one of the same time; of a cause that stands for many, whether it is of most of it, and
    matters as much."""
    if found.saving is None and found.where.lines and not found.where.ranges_ns and cause.rule in NEEDLESS:
        # memory: what need not be computed needs none
        return cause.severity > Severity.LOW and set(found.where.lines) <= set(cause.where.lines)
    if cause.during is None and cause.rule in TIMED_BY_LINES:
        return False
    if cause.rule not in TAKES_MOST or cause.during is None:
        return _same_time(found, cause)
    if cause.severity < found.severity and not _weighed_by_the_cell(cause):
        return False
    if found.where.lines and set(found.where.lines) <= set(cause.where.lines):
        # samples are far apart: of the same line, theirs may miss the times of the other
        return True
    times = _times(found) if found.during is None else found.during
    return intervals.intersect(times, cause.during).total_ns > _MOST * times.total_ns


def _weighed_by_the_cell(cause: Finding) -> bool:
    """Whether it matters, by another measure: of the whole cell it takes a smaller part than of the steps."""
    return cause.saving is not None and cause.saving.of_cell and cause.severity >= Severity.MEDIUM


def _same_time(left: Finding, right: Finding) -> bool:
    """Whether their times meet; a finding without any speaks of the whole run."""
    first, second = _times(left), _times(right)
    if not len(first.starts) or not len(second.starts):
        return True
    return len(intervals.intersect(first, second).starts) > 0


def _times(found: Finding) -> Intervals:
    """A union: all that the saving is a part of, where that is known; the ranges that are shown are the longest."""
    if found.saving is not None and found.saving.within is not None:
        return found.saving.within
    shown = np.array(found.where.ranges_ns, np.int64).reshape(-1, 2)
    return intervals.union(Intervals(shown[:, 0], shown[:, 1]))
