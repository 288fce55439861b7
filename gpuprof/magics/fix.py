"""`%gpufix N`: the cell with the change of finding N, put below, to be run and compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.magics.messages import MagicUsageError, notice

if TYPE_CHECKING:
    from gpuprof.run import Run


def put_changed_cell(shell: Any, line: str) -> None:
    """Put the last run's cell with the change of the finding that `line` numbers below the calling one.

    A line says so where that finding has no change to make. UsageError where there is no such finding.
    """
    from gpuprof.profiling import last

    try:
        run = last()
        number = finding_number(run, line.strip(), "%gpufix")
        changed = _changed_cell(run, number)
    except GpuprofError as error:
        raise MagicUsageError(str(error)) from None
    name = f"finding {number} ({run.findings[number - 1].rule})"
    if changed is None:
        notice(f"{name} has no change to make for you; its advice: {run.findings[number - 1].change}")
        return
    if (script := script_of(run)) is not None:
        notice(f"{name} changes {script}, which is no cell; apply the diff of the report there")
        return
    shell.set_next_input(changed)
    then = "run it to compare it with this run" if "--compare last" in changed else "run it"
    sys.stdout.write(f"gpuprof: the cell with the change of {name} is below; {then}\n")


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


def _changed_cell(run: Run, number: int) -> str | None:
    """The changed cell as it was typed, with `--compare last` on its magic line."""
    from gpuprof.code_edits.syntax.diff import compared_with_last

    after = changed_source(run, number)
    return None if after is None else compared_with_last(after).rstrip("\n")


def changed_source(run: Run, number: int) -> str | None:
    """The cell as it was typed with the change of a finding; None where that has none."""
    from gpuprof.code_edits.syntax.diff import as_typed, changed

    diff, cell = run.findings[number - 1].diff, run.trace.context.cell
    return None if diff is None or cell is None else changed(as_typed(cell.source), diff)
