"""Whether a prediction may be trusted: A to C carry numbers, D has none; the reasons are sentences to print."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.whatif.fidelity import Fidelity
from gpuprof.whatif.graph.graph import Graph

# Replay error of the worst step and unexplained share of the idle time, at most (docs/design/whatif.md).
LIMITS = {"A": (0.02, 0.05), "B": (0.05, 0.10), "C": (0.10, 0.25)}
# Unexplained time under this share of the span cannot matter, however little idle time there is.
NEGLIGIBLE_SHARE = 0.005
# The same by grade: of a device that is hardly ever idle a large part of the idle time is a small part of the run.
OF_SPAN = {"A": NEGLIGIBLE_SHARE, "B": 0.01, "C": 0.03}
# Operations without a known launch are bound to their stream but not to the host.
MOST_UNLAUNCHED_SHARE = 0.05
# Delays that only inferred waits explain, of the span: an edit may well change who keeps whom out.
MOST_INFERRED_SHARE = 0.05
# Synchronising calls that waited for nothing known, of the span: what is taken for the host's work may be the device's.
MOST_UNEXPLAINED_WAITS_SHARE = 0.05
_ORDER = "ABCD"


@dataclass(frozen=True)
class Grade:
    """`letter` A, B, C or D; `reasons` why it is not better, empty for A."""

    letter: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Nature:
    """What an edit did: `removes_only`, nothing but take things away; `models_kernels`, give operations new times.

    `assumed`: what it takes for granted that no record can show, in words; empty for nothing. `calibrated`: it is made
    to a graph in which the host is as fast as without the recording.
    """

    removes_only: bool
    models_kernels: bool
    assumed: str = ""
    calibrated: bool = False


REMOVAL = Nature(removes_only=True, models_kernels=False)


def nature(before: Graph, after: Graph) -> Nature:
    """Found by comparing the graphs."""
    events = np.flatnonzero((before.event_node >= 0) & (after.event_node >= 0))
    was = before.duration_ns[before.event_node[events]]
    now = after.duration_ns[after.event_node[events]]
    models = bool(((was != now) & (now != 0)).any())
    if after.nodes is not before.nodes or len(after.edges.src) > len(before.edges.src):
        return Nature(removes_only=False, models_kernels=models)
    durations = (after.duration_ns != before.duration_ns) & (after.duration_ns != 0)
    lags = len(after.edges.src) == len(before.edges.src) and (after.edges.lag_ns > before.edges.lag_ns).any()
    return Nature(removes_only=not (durations.any() or lags), models_kernels=models)


def grade(facts: Fidelity, change: Nature = REMOVAL) -> Grade:
    """The worst of all that limits it."""
    found = [*_missing(facts), *_measured(facts)]
    if change.models_kernels:
        found.append(("C", "the new times of device operations are modelled, not recorded"))
    if change.assumed:
        found.append(("C", change.assumed))
    if change.calibrated:
        found.append(("B", "the host's time is scaled, all of it alike, to that of steps without the recording"))
    if not (change.removes_only or change.models_kernels):
        found.append(("B", "the change does more than take recorded work away"))
    letter = max((each for each, _ in found), default="A", key=_ORDER.index)
    return Grade(letter, tuple(reason for _, reason in sorted(found, key=lambda each: -_ORDER.index(each[0]))))


def _missing(facts: Fidelity) -> list[tuple[str, str]]:
    if not facts.operations or not facts.calls:
        return [("D", "no device operations or no calls were recorded")]
    found = []
    if not facts.waits_recorded:
        found.append(("D", "no call such as `cudaStreamSynchronize` was recorded, so the host's gaps may hide waits"))
    if not facts.sync_events:
        found.append(("B", "synchronisation events were not recorded; what each wait waited for is inferred"))
    if facts.unexplained_wait_ns > NEGLIGIBLE_SHARE * facts.span_ns:
        stood = units.duration(facts.unexplained_wait_ns)
        letter = "D" if facts.unexplained_wait_ns > MOST_UNEXPLAINED_WAITS_SHARE * facts.span_ns else "C"
        found.append((letter, f"synchronising calls took {stood} without a recorded operation that they waited for"))
    if facts.unlaunched_share > MOST_UNLAUNCHED_SHARE:
        share = units.percent(facts.unlaunched_share)
        found.append(("C", f"{share} of the device operations have no recorded launch"))
    if facts.inferred_ns > MOST_INFERRED_SHARE * facts.span_ns:
        late = units.duration(facts.inferred_ns)
        found.append(("C", f"{late} of delays are explained only by inferred waits between streams"))
    return found


def _measured(facts: Fidelity) -> list[tuple[str, str]]:
    error, share = facts.error, facts.unexplained_share
    found = []
    by_error = next((letter for letter, (limit, _) in LIMITS.items() if error <= limit), "D")
    by_share = next((letter for letter, (_, limit) in LIMITS.items() if share <= limit), "D")
    of_span = facts.unexplained_ns / facts.span_ns if facts.span_ns else 0.0
    by_share = min(by_share, next((letter for letter, limit in OF_SPAN.items() if of_span <= limit), "D"))
    if by_error != "A":
        where = "the worst step" if facts.step_errors else "the run"
        found.append((by_error, f"the replay of {where} is {units.percent(error)} off"))
    if by_share != "A":
        idle = f"{units.duration(facts.unexplained_ns)} of {units.duration(facts.idle_ns)}"
        part = f"{units.percent(share)} of the device's idle time ({idle})"
        found.append((by_share, f"the simulation does not reproduce {part}"))
    return found
