"""A loop computes something in each iteration, and only what the last iteration gives is read.

What it finds
    Statements of which 8% of the cell goes to, with all that they call, in torch or elsewhere, and whose result the
    next iteration overwrites before anybody reads it: an evaluation after each step of which the last one is printed, a
    metric of each epoch that only the final report shows, an attribute that a method computes for each batch and
    another one reads for each epoch, a number that is printed every hundred steps. The text decides; what may have an
    effect of its own (training, printing, writing), or calls what the text does not know, is left out.

Why it costs
    All but the last result are thrown away.

What to do
    Move the statement after the loop, or put it under the condition under which its result is read. Where the loop
    changes later in the iteration what the statement reads, compute it in the last iteration, where it stands. To watch
    it while the loop runs, compute it every so many iterations, and print it or keep it there.

When to leave it
    When the statement is needed for something else that it does: it warms something up, or moves a generator of random
    numbers on so that results stay comparable.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statement_times import StatementTime, StatementTimes
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.timed_calls import times_its_calls
from gpuprof.rules.reads.last_attributes import last_attributes
from gpuprof.rules.reads.last_results import LastResult, last_results
from gpuprof.rules.reads.seldom_read import seldom_read
from gpuprof.rules.saving.scope import graded, worst

_FEWEST = 3
_AT_WORST = 0.7
_TRAINS = frozenset({"backward", "step", "fit", "partial_fit"})


@dataclass(frozen=True)
class LastResultRead(Rule):
    """See the module."""

    guard = Guard.EXACT

    work_share: float = threshold(0.08, "of the cell is computed for results that nobody reads: less is not worth it")
    low_share: float = threshold(0.12, "of the cell is computed for nothing: less matters little")
    high_share: float = threshold(0.30, "of the cell is computed for nothing: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the statement that takes longest."""
        times, cell = results.get(StatementTimes), results.context.cell
        if not times.total_ns:
            return Abstention(
                self.name,
                "samples of the cell’s stack",
                "Profile the cell with `%%gpuprofile`; `gpuprof doctor` tells why none were taken.",
            )
        source = cell.source if cell is not None else ""
        read = (*seldom_read(source), *last_attributes(source), *last_results(source))
        known = {(each.first, each.last): each for each in read if each.known}
        for time in times.statements:
            result = known.get((time.first, time.last))
            turns = len(time.during.starts)
            if result is None or turns < _FEWEST or time.called & _TRAINS or times_its_calls(source):
                continue
            share = time.share * (1 - 1 / (result.every or turns))
            if share >= self.work_share:
                return self._finding(results, time, result, share, turns)
        return None

    def _finding(self, results: Results, time: StatementTime, result: LastResult, share: float, turns: int) -> Finding:
        several = len(result.names) > 1
        gets, them = ("get", "them") if several else ("gets", "it")
        names = " and ".join(f"`{name}`" for name in result.names)
        central_ns = share / time.share * time.ns
        read = "only its last result is read" if result.every is None else "its result is seldom read"
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"`{result.call}` runs in each iteration, but {read}: {units.percent(time.share)} of the cell",
            explanation=f"Line {result.first} (`{result.call}`) takes {units.duration(time.ns)}, "
            f"{units.percent(time.share)} of the cell. {names} {gets} a value in each iteration of the loop in "
            f"line {result.loop}, and {_reading(result, them)}.",
            evidence={"work_ms": units.milliseconds(time.ns), "work_share": round(time.share, 4), "seen": turns},
            where=Where(lines=tuple(range(time.first, time.last + 1)), ranges_ns=worst(time.during)),
            during=time.during,
            change=_change(result, names, them),
            diff=cell_diff(results, lambda source: _edit(source, result)),
            saving=Saving(
                _AT_WORST * central_ns,
                central_ns,
                time.ns,
                share,
                "C",
                "estimate: the sampled time of this statement, less that of the results that are read",
                of_cell=True,
            ),
        )


def _reading(result: LastResult, them: str) -> str:
    if result.every is None:
        return f"nothing reads {them} before the next iteration gives another one"
    if result.of_object:
        return f"is read in line {result.reader}, in one of {units.count(result.every)} iterations"
    return f"line {result.reader} lets only one of {units.count(result.every)} read {them}"


def _change(result: LastResult, names: str, them: str) -> str:
    if result.every is not None and not result.of_object:
        return _under_condition(result)
    watch = f"To watch {names}, compute {them} every so many iterations, and print or keep the value there."
    lines = _moved(result)
    if result.inner:
        reaches = "that reaches them" if result.passed_on else "that reaches it"
        return f"Run {lines} only in the last iteration of the loop in line {result.loop} {reaches}. {watch}"
    if result.reader is None:
        changed = ""
        if result.changed_at is not None:
            changed = (
                f" Where line {result.changed_at} changes what it reads (a step, `zero_grad`), compute it in the last "
                "iteration, before that."
            )
        return f"Move {lines} after the loop in line {result.loop}.{changed} {watch}"
    return (
        f"Compute {names} where it is read (line {result.reader}). In each iteration of the loop in line "
        f"{result.loop}, only keep what that needs. {watch}"
    )


def _under_condition(result: LastResult) -> str:
    stands = "they stand" if result.passed_on else "it stands"
    change = f"Put {_moved(result)} under the same condition where {stands}: `if {result.test}:`."
    if result.test is None:
        change = (
            f"Run {_moved(result)} only in iterations in which the condition in line {result.reader} will hold: the "
            "loop counts on in between."
        )
    if result.after is None:
        return change
    return f"{change} Line {result.after} reads it after the loop: compute it in the last iteration, too."


def _moved(result: LastResult) -> str:
    """`line 5`, `lines 5, 6 and 8`: with the statements that could not run without it."""
    *most, last = map(str, dict.fromkeys((result.first, *result.passed_on)))
    return f"lines {', '.join(most)} and {last}" if most else f"line {last}"


def _edit(source: str, result: LastResult) -> str | None:
    from gpuprof.code_edits.loops.seldom_needed import compute_after_loop, compute_where_read

    if result.of_object:
        return None
    if result.every is not None and result.reader is not None:
        return compute_where_read(source, result.first, result.reader)
    return compute_after_loop(source, result.first) if result.reader is None else None
