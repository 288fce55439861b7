"""One line about a cell that was not profiled, from samples of its stack and readings of the GPUs."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.hot_spot import HotSpot, is_import
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.report.spot_words import OWN_CODE, place, what
from gpuprof.units import percent

_MORE = "`%%gpuprofile` for details"
# of the cell: a shorter wait, or a smaller line, is not worth a line below it
_WORTH_WAIT = 0.15
_WORTH_LINE = 0.30
# a GPU that is busier than this is used
_IDLE_BELOW = 0.70
# what training and inference are there for: that they take the time is no news
_WANTED = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER, Phase.TRAINING, Phase.INFERENCE)


def hint(trace: Trace, results: Results) -> str:
    """`72% waiting for data (line 4) · GPU 23% busy · …`; empty where there is nothing to say."""
    waits, busy = _waits(results), _busy_share(trace)
    line = "" if waits else _line(results, busy)
    if not (waits or line):
        return ""
    gpu = "" if busy is None else f"GPU {percent(busy)} busy"
    return " · ".join(each for each in (waits, line, gpu, _MORE) if each)


def _waits(results: Results) -> str:
    """The share of the cell that goes to getting batches, with the line that waits longest."""
    share = results.get(CellPhases).share(Phase.DATA)
    if share < _WORTH_WAIT:
        return ""
    spots = [spot for spot in results.get(HotSpots).spots if spot.phase is Phase.DATA and place(spot)]
    return f"{percent(share)} waiting for data{f' ({place(spots[0])})' if spots else ''}"


def _line(results: Results, busy: float | None) -> str:
    """The largest line that is not the training itself, or that where a GPU is idle meanwhile. Imports, which happen
    once, are left out."""
    idle = busy is not None and busy < _IDLE_BELOW
    spots = [
        spot
        for spot in results.get(HotSpots).spots
        if place(spot) and not is_import(spot) and (idle or spot.phase not in _WANTED)
    ]
    if not spots or spots[0].share < _WORTH_LINE:
        return ""
    return f"{percent(spots[0].share)} in {place(spots[0])}{_does(spots[0])}"


def _does(spot: HotSpot) -> str:
    did = what(spot)
    return "" if did == OWN_CODE else f", {did}"


def _busy_share(trace: Trace) -> float | None:
    """The mean over its readings of the busiest GPU, 0..1; None without one, or where none of it was ever used."""
    readings = trace.device_readings
    percents = readings["utilisation_percent"]
    known = percents >= 0
    if not known.any():
        return None
    devices = np.unique(readings["device"][known])
    shares = [float(percents[known & (readings["device"] == device)].mean()) / 100 for device in devices]
    return max(shares) or None
