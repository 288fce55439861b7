"""The door: the settings of one cell, searched in the namespace where it ran, with all state put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpuprof.errors import VerificationError
from gpuprof.verification.cells.hooks import Hooks
from gpuprof.verification.cells.variable_reads import read_names
from gpuprof.verification.effects.unseen import refuse_awaiting, refuse_resets
from gpuprof.verification.protected import roots_of, run_protected
from gpuprof.verification.state.snapshot import Snapshot
from gpuprof.verification.tuning.cell_track import CellTrack
from gpuprof.verification.tuning.search import Search
from gpuprof.verification.tuning.setting import Candidates
from gpuprof.verification.tuning.tuning import Tuning


def tune_cell(
    candidates: Candidates,
    namespace: dict[str, Any],
    *,
    plain: Callable[[str], str] = str,
    seconds: float = 60.0,
    seed: int | None = None,
    allow_effects: bool = False,
    on_progress: Callable[[str], None] = lambda text: None,
) -> Tuning:
    """Search the settings of `candidates` for about so many seconds; an interrupt ends it with what is known.

    `plain` makes plain Python of the text of a cell. Whatever the variants change is put back, and what would act on
    the world is stopped, as `measure_cells` does. VerificationError where the cell cannot be measured, VariantError
    where the unchanged cell raised. UsageError is the caller's: there must be something to try.
    """
    names = _names([plain(candidates.text(entry)) for entry in ((), *candidates.singles)], resets=not allow_effects)

    def search(snapshot: Snapshot, hooks: Hooks) -> Tuning:
        track = CellTrack(candidates, namespace, plain, snapshot, hooks, seconds, on_progress)
        track.prepare()
        found = Search(track, candidates.singles, seconds, candidates.later, seed).run()
        return Tuning.of(found, candidates, track, seconds=track.seconds())

    return run_protected(search, roots_of(names, namespace), [namespace], allow_effects=allow_effects)


def _names(sources: list[str], *, resets: bool) -> set[str] | None:
    """Every name that one of them reads or changes; None where that cannot be told."""
    found = set[str]()
    for source in sources:
        try:
            names = read_names(source)
            refuse_awaiting(source)
        except SyntaxError as error:
            raise VerificationError(f"the cell is not plain Python (line {error.lineno}: {error.msg})") from error
        if resets:
            refuse_resets(source)
        if names is None:
            return None
        found |= names
    return found
