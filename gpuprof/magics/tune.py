"""`%gputune`: the settings of the last profiled cell that make it fastest, searched by races in this kernel."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.magic_arguments import argument, magic_arguments

from gpuprof.errors import GpuprofError, UsageError, VariantError, VerificationError
from gpuprof.magics.fix import best_tuned, script_of
from gpuprof.magics.messages import MagicUsageError, notice
from gpuprof.magics.progress import ProgressLine
from gpuprof.magics.try_change import as_plain_python, show_users_traceback
from gpuprof.units import NS_PER_S, duration, plural

if TYPE_CHECKING:
    from gpuprof.run import Run
    from gpuprof.verification.tuning.setting import Candidates
    from gpuprof.verification.tuning.tuning import Tuning

_LEAST_S, _MOST_S = 5.0, 86_400.0
_ARGUMENTS = (
    argument("--seconds", type=float, default=60.0, metavar="S", help="search for about S seconds (default 60)"),
    argument(
        "--only",
        default="",
        metavar="NAMES",
        help="try only these, joined by commas: batches, workers, prefetch, pinning, threads, optimizer, layout, "
        "convolutions, compile, autocast, tf32",
    ),
    argument(
        "--allow-autocast",
        action="store_true",
        help="also try autocast to bfloat16 and TF32, which change results",
    ),
    argument(
        "--allow-effects",
        action="store_true",
        help="run the cell even where it writes files, starts programs or uses the network: once in every run",
    ),
)


def with_tune_arguments(function: Any) -> Any:
    """Give a magic function the options of `%gputune` and their help as its docstring."""
    for decorate in reversed(_ARGUMENTS):
        function = decorate(function)
    return magic_arguments("%gputune")(function)


@with_tune_arguments
def _arguments() -> None:
    """Hold the parser."""


def tune(shell: Any, line: str) -> None:
    """Search, show what was found and keep it with the run; a line says why where the cell cannot be tuned.

    UsageError where the line is wrong or there is no run. An interrupt ends the search with what is known.
    """
    from gpuprof.profiling import last

    given = _parse(line)
    only = _groups(given)
    try:
        run = last()
        source = _source(run)
    except GpuprofError as error:
        raise MagicUsageError(str(error)) from None
    candidates = _candidates(shell, run, source, only, allow_changing=given.allow_autocast)
    if not candidates.singles:
        notice(_nothing_to_try(run, only))
        return
    count, budget = plural(len(candidates.singles), "setting"), duration(given.seconds * NS_PER_S)
    sys.stdout.write(f"gpuprof: trying {count} of the cell for about {budget}; interrupt to end with what is known\n")
    sys.stdout.flush()
    try:
        with ProgressLine() as progress:
            tuning = _search(shell, candidates, given, progress)
    except KeyboardInterrupt:  # while the unchanged cell was looked at, or again while all was put back
        notice("interrupted before any setting was measured; your variables are as they were")
        return
    except VariantError as error:
        notice(f"not tuned: {error}; your variables are as they were")
        show_users_traceback(error.__cause__)
        return
    except VerificationError as error:
        notice(f"not tuned: {error}")
        return
    _keep(run, tuning)
    _show(run, tuning)


def _parse(line: str) -> Namespace:
    try:
        given: Namespace = _arguments.parser.parse_argstring(line)
    except (IPythonUsageError, ValueError) as error:
        raise MagicUsageError(f"{error}; %gputune? lists the options") from None
    if not _LEAST_S <= given.seconds <= _MOST_S:
        raise MagicUsageError(f"%gputune --seconds {given.seconds:g}: expected {_LEAST_S:g} s or more")
    return given


def _groups(given: Namespace) -> tuple[str, ...]:
    """What `--only` names; UsageError for other names, and for those that are not allowed without another option."""
    from gpuprof.verification.tuning.setting import CHANGING, GROUPS

    only = tuple(name.strip() for name in given.only.split(",") if name.strip())
    for name in only:
        if name not in GROUPS:
            raise MagicUsageError(f"%gputune --only {name}: expected one of {', '.join(GROUPS)}")
        if name in CHANGING and not given.allow_autocast:
            raise MagicUsageError(f"%gputune --only {name}: it changes results; add --allow-autocast")
    return only


def _source(run: Run) -> str:
    if (script := script_of(run)) is not None:
        raise UsageError(f"%gputune: the last run profiled {script}, which is no cell; profile a cell first")
    cell = run.trace.context.cell
    if cell is None:
        raise UsageError(f"%gputune: the last run ({run.report_data.title}) is of no cell; profile a cell first")
    return cell.source


def _candidates(shell: Any, run: Run, source: str, only: Collection[str], *, allow_changing: bool) -> Candidates:
    from gpuprof.verification.tuning.facts import CellFacts
    from gpuprof.verification.tuning.offers import offers
    from gpuprof.verification.tuning.setting import Candidates

    facts = CellFacts.of(run.report_data.results, source, shell.user_ns)
    return Candidates(source, offers(facts, only=only, allow_changing=allow_changing))


def _nothing_to_try(run: Run, only: Collection[str]) -> str:
    elsewhere = any(loader.line is not None for loader in run.trace.context.loaders)
    where = (
        "; a DataLoader or optimizer is changed only where the cell itself makes it: put those lines into the cell"
        if elsewhere or run.trace.context.optimizers
        else ""
    )
    named = f" of {', '.join(only)}" if only else ""
    return f"the cell has no setting{named} that could be tried{where}"


def _search(shell: Any, candidates: Candidates, given: Namespace, progress: ProgressLine) -> Tuning:
    from gpuprof.code_edits.syntax.diff import as_typed
    from gpuprof.verification.tuning.tune import tune_cell

    return tune_cell(
        candidates,
        shell.user_ns,
        plain=lambda source: as_plain_python(shell, as_typed(source)),
        seconds=given.seconds,
        allow_effects=given.allow_effects,
        on_progress=progress.say,
    )


def _keep(run: Run, tuning: Tuning) -> None:
    """Keep it with the run; a line says where it cannot be saved."""
    from gpuprof.code_edits.syntax.diff import as_typed
    from gpuprof.model.tuned import Tuned

    made = Tuned(
        settings=tuning.settings,
        source=as_typed(tuning.after),
        ratio=tuning.ratio,
        text=str(tuning),
        tuning=tuning.to_dict(),
        created_ns=time.time_ns(),
    )
    if (problem := run._keep_tuned(made)) is not None:
        notice(problem)


def _show(run: Run, tuning: Tuning) -> None:
    from IPython.display import display

    from gpuprof.views.notebook_report.tuned import tuned_html, tuned_text

    insert = best_tuned(run) is not None
    display({"text/plain": tuned_text(tuning, insert=insert), "text/html": tuned_html(tuning, insert=insert)}, raw=True)
