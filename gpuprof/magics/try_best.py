"""`%%gpuprofile --try`: the changes of the best findings measured right after the run, alone and together."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpuprof.errors import VariantError, VerificationError
from gpuprof.magics.fix import best_measured, changed_source, combined_source, script_of
from gpuprof.magics.messages import notice
from gpuprof.magics.progress import ProgressLine
from gpuprof.magics.try_change import as_plain_python, keep, predicted
from gpuprof.units import NS_PER_S, duration, plural

if TYPE_CHECKING:
    from gpuprof.rules.base.rule import Rule
    from gpuprof.run import Run
    from gpuprof.verification import Measurement

# more would leave each too little of the budget
_MOST_TRIED = 3
_LEAST_BUDGET_S = 5.0


@dataclass(frozen=True)
class _Change:
    """The cell as typed with the changes of these findings."""

    numbers: tuple[int, ...]
    source: str

    @property
    def words(self) -> str:
        return _named(self.numbers)


def try_best(shell: Any, run: Run, budget_s: float) -> None:
    """Measure at most _MOST_TRIED changes within `budget_s`, then those that help together.

    Each result is kept with the run and said in one line, as is why one was not measured. KeyboardInterrupt passes on,
    with the user's variables as they were, what was measured until then kept, and the best of it said.
    """
    changes = _changes(run)
    if not changes:
        notice("--try: no finding above low severity has a change to measure")
        return
    if left := changes[_MOST_TRIED:]:
        numbers = tuple(change.numbers[0] for change in left)
        notice(f"--try: {plural(_MOST_TRIED, 'change')} at most; %gputry measures {_named(numbers, ', ')}")
    try:
        _measure_all(shell, run, changes[:_MOST_TRIED], budget_s)
    finally:
        if best := best_measured(run):
            sys.stdout.write(f"gpuprof: measured best: {_named(best)}; %gpufix puts that cell below\n")


def _measure_all(shell: Any, run: Run, changes: Sequence[_Change], budget_s: float) -> None:
    began = time.perf_counter()
    helped: list[_Change] = []
    shares = len(changes) + (len(changes) > 1)
    for number, change in enumerate(changes):
        left_s = budget_s - (time.perf_counter() - began)
        made = _measure(shell, run, change, left_s / (shares - number))
        if made is not None and helps(made):
            helped.append(change)
    together = _together(run, helped)
    if together is not None:
        _measure(shell, run, together, budget_s - (time.perf_counter() - began))


def helps(made: Measurement) -> bool:
    """Whether it was measured to be faster, and computes the same where it should."""
    from gpuprof.verification.guards import Status
    from gpuprof.verification.timing.outcome import Outcome

    return made.outcome is Outcome.FASTER and made.guard.status is not Status.FAILED


def _changes(run: Run) -> list[_Change]:
    from gpuprof.rules.base.finding import Severity

    if script_of(run) is not None:
        return []
    found = []
    for number, finding in enumerate(run.findings, 1):
        source = changed_source(run, number) if finding.severity > Severity.LOW else None
        if source is not None:
            found.append(_Change((number,), source))
    return found


def _together(run: Run, changes: Sequence[_Change]) -> _Change | None:
    numbers = tuple(change.numbers[0] for change in changes)
    source = combined_source(run, numbers) if len(changes) > 1 else None
    return None if source is None else _Change(numbers, source)


def _measure(shell: Any, run: Run, change: _Change, budget_s: float) -> Measurement | None:
    """One line says what came of it; None where it was not measured."""
    if budget_s < _LEAST_BUDGET_S:
        notice(f"--try: {change.words} not measured: the time given to --try is used up; %gputry measures one alone")
        return None
    sys.stdout.write(f"gpuprof: measuring {change.words}, for about {duration(budget_s * NS_PER_S)} at most\n")
    sys.stdout.flush()
    try:
        with ProgressLine() as progress:
            made = _compared(shell, run, change, budget_s, lambda text: progress.say(f"{change.words}: {text}"))
    except VariantError as error:
        notice(f"--try: {change.words} not measured: {error}; your variables are as they were")
    except VerificationError as error:
        notice(f"--try: {change.words} not measured: {error}")
    else:
        keep(run, change.numbers, made)
        sys.stdout.write(f"gpuprof: {change.words}: {made}\n")
        return made
    return None


def _compared(
    shell: Any, run: Run, change: _Change, budget_s: float, on_progress: Callable[[str], None]
) -> Measurement:
    from gpuprof.rules.base.guard import Guard
    from gpuprof.verification import measure_cells

    cell = run.trace.context.cell
    rules = [_rule(run, number) for number in change.numbers]
    order = (Guard.EXACT, Guard.NUMERIC, Guard.SEMANTIC)
    return measure_cells(
        as_plain_python(shell, cell.source if cell is not None else ""),
        as_plain_python(shell, change.source),
        shell.user_ns,
        guard=max((each.guard or Guard.EXACT for each in rules), key=order.index),
        tolerance=max(each.loss_tolerance for each in rules),
        whole_cell=any(each.whole_cell for each in rules),
        budget_s=budget_s,
        predicted=predicted(run, change.numbers[0]) if len(change.numbers) == 1 else None,
        on_progress=on_progress,
    )


def _named(numbers: Sequence[int], joined: str = " + ") -> str:
    return f"finding{'s' if len(numbers) > 1 else ''} {joined.join(map(str, numbers))}"


def _rule(run: Run, number: int) -> Rule:
    from gpuprof.rules.registry import rule

    return rule(run.findings[number - 1].rule)
