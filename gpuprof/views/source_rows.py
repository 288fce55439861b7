"""The followed source as rows with their figures, for every view that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.model.trace import Trace
from gpuprof.report.source_place import SourcePlace
from gpuprof.rules.base.finding import Finding
from gpuprof.whatif.line_profile import LineGain, LineProfile

_HOST = (
    "Host: the line’s own time on the main thread, waiting included, without the lines of functions that it called, as "
    "a share of the recorded time."
)
_DEVICE = "Device: the work that was launched from the line, whenever it ran, as a share of all device work."
_CALLS_ONLY = (
    "Before Python 3.12 a line is only known while it asks for a batch, runs backward(), steps an optimizer or makes a "
    "call that waits for the device (.item(), .to(), .cpu(), …): all other time is on no line here."
)
_FROM_SAMPLES = (
    "Before Python 3.12 the line of an operator is learned from looks at the stack, in all iterations together: time "
    "between operators, and operators that nobody looked at, are on no line here."
)
_ALWAYS_WHOLE = 60
_AROUND = 3


@dataclass(frozen=True)
class SourceRow:
    """One line of source: shares are 0..1 of the followed host time and of the device work, None where it has none.

    `number` None stands for lines that are left out. `findings`: the numbers of the findings that name the line.
    `gain`: what the run gains if the line gets faster, for the few costliest lines.
    """

    number: int | None
    text: str
    host_ns: int | None = None
    host_share: float | None = None
    device_ns: int | None = None
    device_share: float | None = None
    findings: tuple[int, ...] = ()
    gain: LineGain | None = None


@dataclass(frozen=True)
class SourceListing:
    """One file: the profiled cell, another cell, or a script."""

    title: str
    rows: tuple[SourceRow, ...]


def listings(results: Results, findings: tuple[Finding, ...]) -> tuple[SourceListing, ...]:
    """Every file in which a line took time, the cell first; of long ones the parts around those lines."""
    trace, lines = results.trace, results.get(LineCosts)
    followed = trace.context.lines
    if followed is None or not lines.table:
        return ()
    found, profile = [], results.get(LineProfile)
    for file in sorted({int(each) for each in lines.table["source_file"]}):
        source = _source(trace, file)
        gains = {each.line: each for each in profile.lines if each.source_file == file}
        rows = tuple(_rows(lines, file, source, findings if file == 0 else (), gains))
        found.append(SourceListing(file_title(trace, file), rows))
    return tuple(found)


def meaning(lines: LineCosts) -> str:
    """What the figures of a listing mean, in sentences."""
    partly = {"calls": (_CALLS_ONLY,), "samples": (_FROM_SAMPLES,)}.get(lines.how or "", ())
    return " ".join((_HOST, *((_DEVICE,) if lines.device_ns else ()), *partly))


def file_title(trace: Trace, file: int) -> str:
    """`the cell`, `the cell, In [7]`, `In [3]`, `another cell`, or the name of a script."""
    place = SourcePlace.of(trace, file)
    return "an unknown file" if place is None else place.title


def _source(trace: Trace, file: int) -> list[str]:
    followed, cell = trace.context.lines, trace.context.cell
    if file == 0:
        return cell.source.splitlines() if cell else []
    return followed.files[file].source.splitlines() if followed and file < len(followed.files) else []


def _rows(
    lines: LineCosts, file: int, source: list[str], findings: tuple[Finding, ...], gains: dict[int, LineGain]
) -> Iterator[SourceRow]:
    table = lines.table.take(lines.table["source_file"] == file)
    at = {int(line): row for row, line in enumerate(table["line"])}
    last = max(len(source), *at)
    whole = last <= _ALWAYS_WHOLE
    shown = {near for line in at for near in range(line - _AROUND, line + _AROUND + 1)}
    left_out = False
    for number in range(1, last + 1):
        text = source[number - 1] if number <= len(source) else ""
        if not whole and number not in shown:
            if not left_out:
                yield SourceRow(None, "⋯")
            left_out = True
            continue
        left_out = False
        naming = tuple(place for place, found in enumerate(findings, 1) if number in found.where.lines)
        if number not in at:
            yield SourceRow(number, text, findings=naming)
            continue
        host_ns, device_ns = int(table["host_ns"][at[number]]), int(table["device_ns"][at[number]])
        yield SourceRow(
            number,
            text,
            host_ns,
            host_ns / lines.within_ns if lines.within_ns else None,
            device_ns,
            device_ns / lines.device_ns if lines.device_ns else None,
            naming,
            gains.get(number),
        )
