"""Where the time goes, in the user's terms: phases, hot spots, and what the CPU did while the device was idle."""

from __future__ import annotations

import textwrap

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.cell_phases import CellPhases, PhaseTime
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.idle_work import DeviceIdleWork
from gpuprof.analyses.accounts.memory_by_phase import MemoryByPhase
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_spots import DeviceSpot, DeviceSpots
from gpuprof.model.kernel_names import function_name
from gpuprof.report.device_shares import kernel, ran, where
from gpuprof.report.growth_words import change, growth_words, memory_parts_of, memory_place
from gpuprof.report.spot_words import memory_words, place, spot_phase, what
from gpuprof.units import duration, percent
from gpuprof.views.blocks import Sentence, TableBlock, TableCell, Value

_LEAST_PHASE = 0.01
_DEVICE_WORK = "Where the device’s work comes from"
_DEVICE_NOTE = (
    "Of the durations of its kernels and copies in the steady steps. Each stands at the line that launched it; work of "
    "the backward pass stands at the line of its forward operator."
)


def phase_words(results: Results) -> str:
    """`forward 41 %, backward 30 %, optimizer 12 %, set-up 10 %`: those of 1 % at least."""
    phases = [each for each in results.get(CellPhases).phases if each.share >= _LEAST_PHASE]
    if [each.phase for each in phases] == [Phase.OTHER]:
        return ""
    return ", ".join(f"{each.phase.value} {percent(each.share)}" for each in phases)


def whole(results: Results) -> str:
    """What the shares are of: `the whole cell (12.1 s)`, `the recorded 1.20 s`."""
    found = results.get(HotSpots)
    return (
        f"the whole cell ({duration(found.total_ns)})" if found.sampled else f"the recorded {duration(found.total_ns)}"
    )


def spots_are(results: Results) -> str:
    """What hot spots are that are no samples of a stack, where there is a device; else empty."""
    on_device = results.get(DeviceActivity).primary is not None
    if not on_device or results.get(HotSpots).sampled:
        return ""
    return ", by device work, and CPU work while it is idle"


def phases_are(results: Results) -> str:
    """The name of the phases, which are the CPU's: where there is a device this has to be said."""
    return "Phases of the CPU" if results.get(DeviceActivity).primary is not None else "Phases"


def account_blocks(results: Results) -> list[TableBlock]:
    """Tables: hot spots, the device's work, idle work, phases; only those that have rows."""
    found = (_spots(results), _device_work(results), _idle(results), _phases(results), _growth(results))
    return [table for table in found if table.rows]


def account_sentences(results: Results) -> list[Sentence]:
    """What stands below them: the memory of the process."""
    found = (memory_words(results.get(CellMemory)), growth_words(results.get(MemoryByPhase)))
    return [Sentence(words) for words in found if words]


def _spots(results: Results) -> TableBlock:
    spots = results.get(HotSpots).spots
    placed = any(place(spot) for spot in spots)
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (
            *([place(spot)] if placed else []),
            what(spot),
            spot_phase(spot),
            TableCell(duration(spot.ns), spot.ns),
            _share(spot.share, spot.error),
        )
        for spot in spots
    )
    heads = (*(["where"] if placed else []), "what ran", "phase", "time", "share")
    return TableBlock(f"Hot spots{spots_are(results)}", heads, rows, _note(results))


def _idle(results: Results) -> TableBlock:
    idle = results.get(DeviceIdleWork)
    heads = ("the CPU was in", "time", "share of the recording", "cell line")
    rows = tuple(
        (
            function_name(each.what),
            TableCell(duration(each.ns), each.ns),
            TableCell(percent(each.share), each.share),
            "" if each.line is None else str(each.line),
        )
        for each in idle.work
    )
    note = f"{duration(idle.idle_ns)} in all. An operator counts with its own time."
    return TableBlock("What the CPU did while the device was idle", heads, rows, note)


def _phases(results: Results) -> TableBlock:
    phases = results.get(CellPhases)
    told = [each.phase for each in phases.phases] != [Phase.OTHER]
    rows = tuple(_phase_row(each) for each in phases.phases if told)
    return TableBlock(phases_are(results), ("phase", "time", "share"), rows, _phase_note(phases))


def _growth(results: Results) -> TableBlock:
    found = results.get(MemoryByPhase).places
    rows = tuple(
        (memory_place(each), part, TableCell(change(number), number))
        for each in found
        for part, number in memory_parts_of(each)
    )
    note = (
        "Growth by what the cell was in for most of the time between two readings, and what is known of its end. The "
        "rest: activations, data, libraries, and free memory that the allocator keeps."
    )
    return TableBlock("Growth of memory by phase", ("memory of", "phase or part", "bytes"), rows, note)


def _phase_row(each: PhaseTime) -> tuple[str | TableCell, ...]:
    return each.phase.value, TableCell(duration(each.ns), each.ns), _share(each.share, each.error)


def _share(share: float, error: float | None) -> TableCell:
    text = percent(share) if error is None else f"{percent(share)} ± {percent(error)}"
    return TableCell(text, share)


def _note(results: Results) -> str:
    if results.get(HotSpots).sampled:
        return (
            "Shares are of the whole cell, from samples of its stack. A line's time is the time with it as the "
            "innermost line of your code. ± is one standard error."
        )
    return (
        "Shares are of the recorded time. No stack was sampled in this run, so operators take the place of lines, and "
        "kernels that no operator launched stand by their own names."
    )


def _phase_note(phases: CellPhases) -> str:
    if not phases.sampled:
        return "Of the recorded time, by its ranges: the rest is Python and waits, whose phase is not known."
    return (
        "Of the whole cell. Evaluation: a pass over a DataLoader in which no optimizer steps, code without gradients, "
        "or functions whose name says so, in a cell that trains."
    )


def device_lines(results: Results, width: int) -> list[str]:
    """A heading and a line for each spot, wrapped; nothing without a device."""
    found = results.get(DeviceSpots)
    if not found.spots:
        return []
    told = [f"{_DEVICE_WORK} ({duration(found.total_ns)} of kernels and copies):"]
    for spot in found.spots:
        place = where(results, spot)
        text = f"  {percent(spot.share):>7}  {f'{place}: ' if place else ''}{ran(spot)}{_of_it_backward(spot)}"
        told += textwrap.wrap(text, width, subsequent_indent=" " * 11, break_on_hyphens=False)
    return told


def _device_work(results: Results) -> TableBlock:
    """A row for each spot; no rows without a device."""
    rows = tuple(
        (
            where(results, spot),
            ran(spot),
            kernel(spot),
            TableCell(duration(spot.ns), spot.ns),
            TableCell(percent(spot.share), spot.share),
            TableCell(percent(spot.backward_share), spot.backward_share),
        )
        for spot in results.get(DeviceSpots).spots
    )
    heads = ("where", "operator", "heaviest kernel", "time", "share", "of it backward")
    return TableBlock(_DEVICE_WORK, heads, rows, _DEVICE_NOTE)


def _of_it_backward(spot: DeviceSpot) -> str:
    return f" ({percent(spot.backward_share)} of it backward)" if spot.backward_share > 0 else ""
