"""`%gputry N`: the change of finding N measured against the original cell, in this kernel, with all state put back."""

from __future__ import annotations

import sys
import time
import traceback
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.magic_arguments import argument, magic_arguments

from gpuprof.errors import GpuprofError, VariantError, VerificationError
from gpuprof.magics.fix import changed_source, finding_number, script_of
from gpuprof.magics.messages import MagicUsageError, notice
from gpuprof.magics.progress import ProgressLine
from gpuprof.units import NS_PER_S, duration

if TYPE_CHECKING:
    from gpuprof.run import Run
    from gpuprof.verification import Measurement

_PACKAGE = str(Path(__file__).parents[1])
_ARGUMENTS = (
    argument("number", nargs="?", default="", help="the number of the finding in the last run's report"),
    argument("--budget", type=float, default=60.0, metavar="S", help="measure for at most S seconds (default 60)"),
    argument("--pairs", type=int, default=60, metavar="N", help="measure at most N pairs of blocks (default 60)"),
    argument(
        "--allow-effects",
        action="store_true",
        help="run the cell even where it writes files, starts programs or uses the network: once in every run",
    ),
)


def with_try_arguments(function: Any) -> Any:
    """Give a magic function the options of `%gputry` and their help as its docstring."""
    for decorate in reversed(_ARGUMENTS):
        function = decorate(function)
    return magic_arguments("%gputry")(function)


@with_try_arguments
def _arguments() -> None:
    """Hold the parser."""


def try_change(shell: Any, line: str) -> None:
    """Measure and show; a line says why where it cannot be measured. UsageError where the line is wrong."""
    from gpuprof.profiling import last

    given = _parse(line)
    try:
        run = last()
        number = finding_number(run, given.number, "%gputry")
        sources = _sources(shell, run, number)
    except GpuprofError as error:
        raise MagicUsageError(str(error)) from None
    name = f"finding {number} ({run.findings[number - 1].rule})"
    if sources is None:
        notice(f"{name} has no change to measure; its advice: {run.findings[number - 1].change}")
        return
    if (script := script_of(run)) is not None:
        notice(f"{name} changes {script}, which is no cell; measure it there with gpuprof.verify(a, b)")
        return
    budget = duration(given.budget * NS_PER_S)
    sys.stdout.write(f"gpuprof: measuring the change of {name} against the original, for about {budget} at most\n")
    sys.stdout.flush()
    try:
        with ProgressLine() as progress:
            measurement = _measure(shell, run, number, sources, given, progress)
    except VariantError as error:
        notice(f"not measured: {error}; your variables are as they were")
        show_users_traceback(error.__cause__)
        return
    except VerificationError as error:
        notice(f"not measured: {error}")
        return
    keep(run, (number,), measurement)
    _show(measurement)


def _parse(line: str) -> Namespace:
    try:
        given: Namespace = _arguments.parser.parse_argstring(line)
    except (IPythonUsageError, ValueError) as error:
        raise MagicUsageError(f"{error}; %gputry? lists the options") from None
    if given.budget <= 0 or given.pairs < 1:
        raise MagicUsageError("%gputry: expected a --budget above 0 s and --pairs of 1 or more")
    return given


def _sources(shell: Any, run: Run, number: int) -> tuple[str, str] | None:
    """The cell and the changed cell as plain Python, their magic lines as comments."""
    after = changed_source(run, number)
    cell = run.trace.context.cell
    if after is None or cell is None:
        return None
    return as_plain_python(shell, cell.source), as_plain_python(shell, after)


def as_plain_python(shell: Any, source: str) -> str:
    """A cell as typed, its magic lines as comments or calls."""
    from gpuprof.magics.transformer import comment_out, find_magic_line

    lines = source.splitlines(keepends=True)
    magic = find_magic_line(lines)
    return str(shell.transform_cell(source if magic is None else "".join(comment_out(lines, magic))))


def _measure(
    shell: Any, run: Run, number: int, sources: tuple[str, str], given: Namespace, progress: ProgressLine
) -> Measurement:
    from gpuprof.rules.base.guard import Guard
    from gpuprof.rules.registry import rule
    from gpuprof.verification import measure_cells

    finding = run.findings[number - 1]
    kind = rule(finding.rule)
    return measure_cells(
        *sources,
        shell.user_ns,
        guard=kind.guard or Guard.EXACT,
        tolerance=kind.loss_tolerance,
        whole_cell=kind.whole_cell,
        budget_s=given.budget,
        most_pairs=given.pairs,
        allow_effects=given.allow_effects,
        predicted=predicted(run, number),
        on_progress=progress.say,
    )


def predicted(run: Run, number: int) -> tuple[float, float, float] | None:
    """What the finding shows of its saving, as ratios of times, 1 ÷ (1 − share): low, central and high end.

    Three times the central one where it shows no range; None where it shows no figure. Of the steps where these are
    what is timed and the saving was found from them; else of the whole that the saving is of.
    """
    from gpuprof.report.saving_words import shown
    from gpuprof.rules.registry import rule

    finding = run.findings[number - 1]
    told = shown(run.report_data.results, finding)
    if told is None or not told.about or finding.saving is None:
        return None
    of_timed = 1.0 if rule(finding.rule).whole_cell else finding.saving.per_step or 1.0
    shares = (told.low_share, told.share, told.high_share) if told.hidden is None else (told.share,) * 3
    low, central, high = (1 / max(1 - share * of_timed, 0.01) for share in shares)
    return low, central, high


def keep(run: Run, numbers: tuple[int, ...], measurement: Measurement) -> None:
    """Keep what was measured of these findings together with the run; a line says where it cannot be saved."""
    from gpuprof.model.measured import Measured

    made = Measured(
        number=numbers[0],
        rule=" + ".join(run.findings[number - 1].rule for number in numbers),
        text=str(measurement),
        measurement=measurement.to_dict(),
        created_ns=time.time_ns(),
        together=numbers if len(numbers) > 1 else (),
    )
    if (problem := run._add_measured(made)) is not None:
        notice(problem)


def _show(measurement: Measurement) -> None:
    from IPython.display import display

    text = "\n".join(measurement.lines())
    display({"text/plain": text, "text/html": measurement._repr_html_()}, raw=True)


def show_users_traceback(error: BaseException | None) -> None:
    """The traceback of what the user's own code raised, without our frames."""
    if error is None:
        return
    found = traceback.TracebackException.from_exception(error)
    frames = [frame for frame in found.stack if not frame.filename.startswith(_PACKAGE)]
    found.stack = traceback.StackSummary.from_list(frames)
    found.__cause__ = found.__context__ = None
    sys.stderr.write("".join(found.format()))
