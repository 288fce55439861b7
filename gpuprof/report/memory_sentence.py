"""What the verdict says of memory over the whole cell, where it is what limits the run or where it grew."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.memory_by_phase import BY_GRAPHS, MemoryByPhase, PlaceGrowth
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.memory.peak_lines import PeakLines
from gpuprof.model.trace import Trace
from gpuprof.report.growth_words import variable
from gpuprof.report.spot_words import place

# of what there is: less leaves room for the next run
_NEAR = 0.8
# less is a batch, or a library that was loaded
_LEAST_GROWTH = 128 * 1024**2
# CUDA's context, libraries and kernels took 0.3 to 0.7 GiB of the process on an H100
_LEAST_GROWTH_BESIDE_DEVICE = 1024**3
# of what was there before: less is no news
_GROWN = 0.5
# of the growth: then the line, or the phase, is its place
_MOST = 0.5
_PART = 0.2
# Servers fill the device with their cache of keys and values on purpose.
# of the growth
_OWN = 0.25
_PREALLOCATE = frozenset({KindOfRun.SERVING, KindOfRun.CAPTURE})
_MODEL = ("parameters", "gradients", "optimizer state", "buffers")


def memory_sentence(trace: Trace, results: Results) -> str:
    """One sentence per memory, of a device and of the process; empty where neither is near its limit nor grew much."""
    return " ".join(filter(None, (_of_device(results), _of_process(trace, results))))


def _of_device(results: Results) -> str:
    if results.get(RunKind).kind in _PREALLOCATE:
        return ""
    use = results.get(MemoryPeak).primary
    peak = (use.peak_reserved_bytes or use.whole_peak_bytes) if use else None
    if use and peak and use.limit_bytes and peak >= _NEAR * use.limit_bytes:
        lines = results.get(PeakLines).of_device(use.device)
        most = f", most of it from line {lines[0]}" if len(lines) == 1 else ""
        return f"GPU memory peaks at {units.percent(peak / use.limit_bytes)} of {units.size(use.limit_bytes)}{most}."
    devices = (each for each in results.get(MemoryByPhase).places if each.place != "process")
    grown = max(devices, key=_beyond_the_model, default=None)
    if grown is None or _beyond_the_model(grown) < max(_LEAST_GROWTH, _GROWN * (grown.end_bytes - grown.grown_bytes)):
        return ""
    return f"GPU memory grows by {units.size(grown.grown_bytes)}{_phase_of(grown)}{_kept(grown)}."


def _beyond_the_model(grown: PlaceGrowth) -> int:
    return grown.grown_bytes - sum(held for part, held in grown.parts if part in _MODEL)


def _of_process(trace: Trace, results: Results) -> str:
    """Of the resident memory, as far as the recording itself did not take it."""
    found, environment = results.get(CellMemory), trace.context.environment
    if found.start_bytes is None or found.peak_bytes is None:
        return ""
    peak = found.peak_bytes if found.rest_bytes is None else found.rest_bytes
    rose = peak - found.start_bytes - found.gaps_bytes
    limit = environment.host_memory_bytes if environment else None
    near = bool(limit and peak >= _NEAR * limit)
    least = _LEAST_GROWTH if results.get(DeviceActivity).primary is None else _LEAST_GROWTH_BESIDE_DEVICE
    if not near and rose < max(least, _GROWN * found.start_bytes):
        return ""
    of = f" of {units.size(limit)}" if near and limit else ""
    if rose < least:
        return f"The memory of the process peaks at {units.size(peak)}{of}."
    grown = next((each for each in results.get(MemoryByPhase).places if each.place == "process"), None)
    line = next((each for each in found.grown if each.bytes >= _MOST * (found.peak_bytes - found.start_bytes)), None)
    where = "" if grown is None else _phase_of(grown)
    name = "" if grown is None else _name_of(grown)
    if line is not None and place(line) and not name:
        where = f", {units.size(line.bytes)} of it in {place(line)} ({line.phase.value})"
    kept = "" if grown is None else name or _kept(grown)
    rises = f"rises from {units.size(found.start_bytes)} to {units.size(peak)}{of}"
    if found.gaps_bytes > _OWN * (peak - found.start_bytes):
        # where it grew is where the recording took it, as likely as not
        rises = f"{rises}; the recording may have taken {units.size(found.gaps_bytes)} of that"
        return f"The memory of the process {rises}{kept}."
    return f"The memory of the process {rises}{where}{kept}."


def _phase_of(grown: PlaceGrowth) -> str:
    phase, most = grown.phases[0] if grown.phases else (None, 0)
    if phase is None or phase is Phase.OTHER or most < _MOST * grown.grown_bytes:
        return ""
    return f", most of it in {phase.value}"


def _kept(grown: PlaceGrowth) -> str:
    kept = dict(grown.parts).get(BY_GRAPHS, 0)
    return f"; autograd graphs keep {units.size(kept)}" if kept >= _MOST * grown.grown_bytes else _name_of(grown)


def _name_of(grown: PlaceGrowth) -> str:
    """The name that holds most of it. What grew at a line may reuse what others gave back: then the name tells more."""
    name, held = grown.names[0] if grown.names else ("", 0)
    if held >= _MOST * grown.grown_bytes:
        return f"; at the end `{name}` holds {units.size(held)}"
    earlier = [(name, held) for name, held in grown.earlier if held >= _PART * grown.grown_bytes]
    if sum(held for _, held in earlier) < _MOST * grown.grown_bytes:
        return ""
    held_by = " and ".join(f"{variable(name)} held {units.size(held)}" for name, held in earlier)
    return f"; before the end {held_by}"
