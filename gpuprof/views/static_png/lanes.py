"""The rows of the picture's timeline: which intervals of which kind each holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.units import plural
from gpuprof.views.theme import BUDGET, EVENTS

MOST_STREAMS = 4


@dataclass(frozen=True)
class PictureLane:
    """One row: its label, disjoint parts by kind of event or of time, and the colour of each kind."""

    label: str
    parts: dict[str, Intervals]
    colours: dict[str, str]
    of_budget: bool = False


def lanes(trace: Trace, results: Results) -> list[PictureLane]:
    """The budget unrolled over time, the busiest streams of its device, and the main host thread."""
    budget = results.get(TimeBudget)
    shown: list[PictureLane] = []
    if budget.parts:
        colours = {category: BUDGET[category].light for category in budget.parts}
        shown.append(PictureLane("where the time went", dict(budget.parts), colours, of_budget=True))
    shown += _streams(trace, budget.device)
    if trace.main_thread >= 0 and budget.device is not None:
        shown.append(_main_thread(trace, results))
    return [lane for lane in shown if lane.parts]


def _streams(trace: Trace, device: int | None) -> list[PictureLane]:
    events = trace.device_events
    if device is None or not len(events):
        return []
    events = events.take(events["device"] == device)
    streams, counts = np.unique(events["stream"], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown, rest = np.sort(streams[order[:MOST_STREAMS]]), streams[order[MOST_STREAMS:]]
    found = [_stream(events.take(events["stream"] == stream), f"stream {stream}") for stream in shown]
    if len(rest):
        found.append(_stream(events.take(np.isin(events["stream"], rest)), plural(len(rest), "more stream")))
    return found


def _stream(events: Table, label: str) -> PictureLane:
    kind, collective = events["kind"], events["collective"]
    kernel = kind == DeviceEventKind.KERNEL
    masks = {
        "kernel": kernel & ~collective,
        "collective": kernel & collective,
        "copy": kind == DeviceEventKind.COPY,
        "memset": kind == DeviceEventKind.MEMSET,
    }
    claims = [(key, intervals.of(events.take(mask))) for key, mask in masks.items() if mask.any()]
    return _lane(label, intervals.union(intervals.of(events)), claims)


def _main_thread(trace: Trace, results: Results) -> PictureLane:
    operators, waits, syncs = trace.operators, results.get(InputPipeline), results.get(SyncWaits)
    top = operators.take((operators["thread"] == trace.main_thread) & (operators["depth"] == 0))
    claims = [
        ("input_wait", Intervals(waits.start_ns, waits.start_ns + waits.duration_ns)),
        ("sync", intervals.of(syncs.table.take(syncs.table["thread"] == trace.main_thread))),
        ("operator", intervals.of(top)),
    ]
    every = Intervals(
        np.concatenate([claim.starts for _, claim in claims]), np.concatenate([claim.ends for _, claim in claims])
    )
    return _lane("main thread", intervals.union(every), claims)


def _lane(label: str, whole: Intervals, claims: list[tuple[str, Intervals]]) -> PictureLane:
    parts = {key: part for key, part in intervals.partition(whole, claims).items() if key and part.total_ns}
    return PictureLane(label, parts, {key: EVENTS[key].light for key in parts})
