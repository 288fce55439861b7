"""What the buttons of a run's card do: what `%gpufix` and `%gputry` do, in a new cell below the card's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpuprof.magics.fix import changed_source, script_of

if TYPE_CHECKING:
    from gpuprof.run import Run
    from gpuprof.views.dashboard.live_card import Insertion


def card_actions(run: Run) -> dict[str, Callable[[int], Insertion]]:
    """The buttons of the card of this run, by the word that asks for each."""
    return {"fix": lambda number: insert_fix(run, number), "try": lambda number: try_it(run, number)}


def insert_fix(run: Run, number: int) -> Insertion:
    """The run's cell with the change of that finding."""
    from gpuprof.code_edits.syntax.diff import compared_with_last
    from gpuprof.views.dashboard.live_card import Insertion

    changed = changed_source(run, number)
    if changed is None:
        return Insertion("", f"Finding {number} has no change to insert; its advice: {run.findings[number - 1].change}")
    if (script := script_of(run)) is not None:
        return Insertion("", f"Finding {number} changes {script}, which is no cell; apply the diff there.")
    return Insertion(compared_with_last(changed).rstrip("\n"), "The changed cell is below; run it to compare.")


def try_it(run: Run, number: int) -> Insertion:
    """A cell with `%gputry`, which runs."""
    from gpuprof.profiling import last
    from gpuprof.views.dashboard.live_card import Insertion

    if last() is not run:
        return Insertion("", "A later run was profiled since, and %gputry measures the last one: run this cell again.")
    return Insertion(f"%gputry {number}", f"%gputry {number} measures it in the cell below.", run=True)
