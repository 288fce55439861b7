"""`%gpufix N`: the cell with the change of finding N, put below, to be run and compared."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.magics.messages import MagicUsageError, notice

if TYPE_CHECKING:
    from gpuprof.model.measured import Measured
    from gpuprof.model.tuned import Tuned
    from gpuprof.run import Run


def put_changed_cell(shell: Any, line: str) -> None:
    """Put the last run's cell with the change of the finding that `line` numbers below the calling one.

    Without a number it is what was measured to be fastest: a change, several together, or the settings that `%gputune`
    found. A line says so where that finding has no change to make. UsageError where there is no such finding.
    """
    from gpuprof.profiling import last

    try:
        run = last()
        tuned = best_tuned(run) if not line.strip() else None
        if tuned is not None:
            _put(shell, tuned.source, " + ".join(tuned.settings))
            return
        best = best_measured(run) if not line.strip() else ()
        numbers = best or (finding_number(run, line.strip(), "%gpufix"),)
        changed = combined_source(run, numbers)
    except GpuprofError as error:
        raise MagicUsageError(str(error)) from None
    first = run.findings[numbers[0] - 1]
    name = f"finding {numbers[0]} ({first.rule})" if len(numbers) == 1 else f"findings {' + '.join(map(str, numbers))}"
    if changed is None:
        notice(f"{name} has no change to make for you; its advice: {first.change}")
        return
    if (script := script_of(run)) is not None:
        notice(f"{name} changes {script}, which is no cell; apply the diff of the report there")
        return
    _put(shell, changed, f"the change of {name}")


def _put(shell: Any, changed: str, what: str) -> None:
    """A cell as typed, put below, with `--compare last` on its magic line and without `--try`."""
    from gpuprof.code_edits.syntax.diff import compared_with_last

    source = compared_with_last(changed).rstrip("\n")
    shell.set_next_input(source)
    then = "run it to compare it with this run" if "--compare last" in source else "run it"
    sys.stdout.write(f"gpuprof: the cell with {what} is below; {then}\n")


def finding_number(run: Run, text: str, magic: str) -> int:
    """The finding that a line names, from 1 as in the report; else UsageError, in the name of `magic`."""
    count = len(run.findings)
    if not count:
        raise UsageError(f"{magic}: the last run ({run.report_data.title}) has no findings")
    if not text.isdecimal() or not 1 <= int(text) <= count:
        changes = [str(number) for number, finding in enumerate(run.findings, 1) if finding.diff is not None]
        known = f"those with a change to make are {', '.join(changes)}" if changes else "none has a change to make"
        given = f"{magic} {text}".rstrip()
        raise UsageError(f"{given}: expected the number of a finding of the last run, 1 to {count}; {known}")
    return int(text)


def script_of(run: Run) -> Path | None:
    """The file around `gpuprof.profile()`; a cell's file is none, though JupyterLab's debugger writes one."""
    from gpuprof.capture.base.notebook_files import is_users

    cell = run.trace.context.cell
    if cell is None or not cell.filename or is_users(cell.filename, None):
        return None
    path = Path(cell.filename)
    return path if path.is_file() else None


def changed_source(run: Run, number: int) -> str | None:
    """The cell as it was typed with the change of a finding; None where that has none."""
    from gpuprof.code_edits.syntax.diff import as_typed, changed

    diff, cell = run.findings[number - 1].diff, run.trace.context.cell
    return None if diff is None or cell is None else changed(as_typed(cell.source), diff)


def combined_source(run: Run, numbers: Sequence[int]) -> str | None:
    """The cell as typed with the changes of these findings; None where one has none, or two touch the same lines."""
    from gpuprof.code_edits.syntax.diff import as_typed
    from gpuprof.code_edits.syntax.merged import merged

    cell = run.trace.context.cell
    sources = [changed_source(run, number) for number in numbers]
    known = [source for source in sources if source is not None]
    return None if cell is None or len(known) < len(numbers) else merged(as_typed(cell.source), known)


def best_tuned(run: Run) -> Tuned | None:
    """What `%gputune` found, where no change of a finding was measured to be faster than that."""
    tuned = run.tuned
    if tuned is None or not tuned.settings:
        return None
    others = max(map(_ratio, _faster(run)), default=0.0)
    return tuned if (tuned.ratio or 0.0) >= others else None


def best_measured(run: Run) -> tuple[int, ...]:
    """The findings whose changes, made together, were measured to be fastest; empty where none was faster.

    A ratio of steps and one of the whole cell do not compare: there a change gives way to a faster combination with it.
    """
    faster = _faster(run)
    if not faster:
        return ()
    best = max(faster, key=_ratio)
    wider = [each for each in faster if _numbers(each) > _numbers(best) and _of_cell(each) != _of_cell(best)]
    best = max(wider, key=_ratio, default=best)
    return best.together or (best.number,)


def _ratio(made: Measured) -> float:
    return made.measurement.get("ratio") or 0.0


def _numbers(made: Measured) -> set[int]:
    return set(made.together or (made.number,))


def _of_cell(made: Measured) -> bool:
    return bool(made.measurement.get("whole_cell"))


def _faster(run: Run) -> list[Measured]:
    """Changes of findings that were measured to be faster, and compute the same where they should."""
    faster = [each for each in run.measured if each.measurement.get("outcome") == "faster"]
    return [each for each in faster if (each.measurement.get("guard") or {}).get("status") != "failed"]
