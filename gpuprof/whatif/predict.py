"""What a change would save: the run simulated with and without it, three ways, with a grade."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.trace import Trace
from gpuprof.whatif.calibration import Calibration, calibrated, calibrated_time
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.fidelity import Fidelity, fidelity
from gpuprof.whatif.grade import Nature, grade, nature
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.retime import frozen, span_ns

# A gain that may be smaller than this share of the run is listed as minor (docs/design/whatif.md).
MINOR_SHARE = 0.03
# Where more operations than this have no known launch, what the host does has next to no effect in the graph.
MOST_UNLAUNCHED_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Replay(Result):
    """A trace's graph and how well it replays: made once, asked for many changes.

    `calibration`: how the host's times in `graph` were scaled to those without the recording; None: as recorded.
    `facts` are those of the graph as recorded. `recorded_replay_ns`: its replayed span, where `graph` is not that.
    """

    graph: Graph
    facts: Fidelity
    calibration: Calibration | None = None
    recorded_replay_ns: int | None = None

    @classmethod
    def of(
        cls, trace: Trace, results: Results | None = None, *, start_ns: int | None = None, end_ns: int | None = None
    ) -> Self:
        """Build the graph of the trace, or of what was called in [start_ns, end_ns), and replay it."""
        graph = build(trace, start_ns, end_ns)
        facts, results = fidelity(trace, graph), results or Results(trace)
        found = Calibration.of(trace, graph, results)
        if found is None:
            return cls(graph, facts)
        plain = calibrated(graph, calibrated_time(results), found.host_factor)
        return cls(plain, facts, found, span_ns(graph))

    @property
    def possible(self) -> bool:
        """Whether host and device were both recorded, and most operations with their launch."""
        facts = self.facts
        return bool(facts.operations and facts.calls) and facts.unlaunched_share <= MOST_UNLAUNCHED_SHARE

    @cached_property
    def baseline_ns(self) -> int:
        """The replayed span, in ns."""
        return span_ns(self.graph)

    @property
    def run_ns(self) -> int:
        """What savings are shares of: the recorded span, without what the recording cost where that is known."""
        recorded = self.graph.recorded_span_ns
        if not self.recorded_replay_ns:
            return recorded
        return round(recorded * self.baseline_ns / self.recorded_replay_ns)

    @cached_property
    def frozen_ns(self) -> int:
        """The replayed span with the unexplained delays kept as recorded, in ns."""
        return span_ns(frozen(self.graph))


@dataclass(frozen=True)
class Range:
    """One change at three strengths, where its effect is uncertain (new kernel times at p80, p50 and p20).

    `last`: among several changes it comes after the others, since it depends on how fast they make the rest.
    """

    pessimistic: GraphEdit
    central: GraphEdit
    optimistic: GraphEdit
    last: bool = field(default=False, kw_only=True)


Change = GraphEdit | Range


@dataclass(frozen=True)
class Prediction:
    """The saving of a change; a negative one is a loss.

    `low_ns`, `central_ns`, `high_ns`: of the run (`Replay.run_ns`), in ns, and `share` the central one over it; None
    under grade D. `grade` A to D with its `reasons`; `basis` says in words what was changed. `baseline_ns` and
    `changed_ns` are the replayed spans of the central case. `minor`: the low end is under 3 % of the run.
    """

    low_ns: float | None
    central_ns: float | None
    high_ns: float | None
    share: float | None
    grade: str
    reasons: tuple[str, ...]
    basis: str
    baseline_ns: int
    changed_ns: int
    minor: bool


def predict(source: Trace | Replay, edit: Change, *, basis: str = "", assumed: str = "") -> Prediction:
    """Re-time with the change: unexplained delays left out (central, optimistic) or kept as recorded (pessimistic).

    The range spans the three results, widened by the replay error, and never promises more than the busiest chain
    leaves. `assumed` says what of the change no record can show (how fast workers are), and makes the grade C at best.
    Give a Replay to ask for several changes of one trace.
    """
    replay = source if isinstance(source, Replay) else Replay.of(source)
    strengths = edit if isinstance(edit, Range) else Range(edit, edit, edit)
    made = {each: each(replay.graph) for each in (strengths.pessimistic, strengths.central, strengths.optimistic)}
    kinds = [nature(replay.graph, each) for each in made.values()]
    removes, models = all(k.removes_only for k in kinds), any(k.models_kernels for k in kinds)
    kind = Nature(removes, models, assumed, calibrated=replay.calibration is not None)
    found = grade(replay.facts, kind)
    worse, changed, better = made[strengths.pessimistic], made[strengths.central], made[strengths.optimistic]
    baseline, after = replay.baseline_ns, span_ns(changed)
    if found.letter == "D" or not baseline:
        return Prediction(None, None, None, None, "D", found.reasons, basis, baseline, after, minor=True)
    central = after / baseline
    most_left = after if better is changed else span_ns(better)
    others = (central, span_ns(frozen(worse)) / max(replay.frozen_ns, 1), most_left / baseline)
    error = replay.facts.error if any(other != 1 for other in others) else 0.0
    most = 1 - min(busy_bound_ns(each) for each in made.values()) / baseline
    gains = [1 - max(others) * (1 + error), 1 - central, min(1 - min(others) * (1 - error), max(most, 1 - central))]
    if max(others) <= 1:
        gains[0] = max(gains[0], 0.0)
    low, middle, high = (gain * replay.run_ns for gain in gains)
    return Prediction(
        low, middle, high, 1 - central, found.letter, found.reasons, basis, baseline, after, gains[0] < MINOR_SHARE
    )


def busy_bound_ns(graph: Graph) -> int:
    """What no change of order or waiting can go below: the durations of the longest chain, in ns."""
    counted = np.where(graph.nodes.first, 0, graph.duration_ns)
    return int(np.bincount(graph.nodes.chain, weights=counted).max())
