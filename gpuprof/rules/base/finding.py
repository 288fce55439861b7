"""What a rule says: a Finding, or an Abstention that names the signal it lacked."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from gpuprof.analyses.basics.result import Array
from gpuprof.model.intervals import Intervals
from gpuprof.whatif.predict import Range


class Severity(IntEnum):
    """How much it matters; sorts from low to high."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def label(self) -> str:
        """`low`, `medium` or `high`."""
        return self.name.lower()


@dataclass(frozen=True)
class Saving:
    """What the change would recover of the recorded span, in ns, as a range with the grade of trust.

    `share` is the central saving over the recorded span. `basis` says in words what the number is, e.g.
    "upper bound: all of the wait". Grades A to C carry numbers (docs/design/whatif.md); D has none, so there is no
    Saving.
    `calibrated`: of that span as it would be without the recording, which slows the host. `spread`: by how much what
    the change leaves may take less or more time, of itself; it widens the shares, not the times, which are of this run.
    `ceiling_share`: what the cause takes of the same whole, 0..1, where iterations without the recording or samples of
    its lines measured it.
    `within`: the union of the time that the saving is a part of, where the rule knows it. `of_cell`: the times and
    shares are of the whole cell instead, by what was sampled of it. `per_step`: what a share has to be multiplied by to
    be one of the steps alone, where it was found from them; else 0.
    """

    low_ns: float
    central_ns: float
    high_ns: float
    share: float
    grade: str
    basis: str
    calibrated: bool = False
    spread: float = 0.0
    ceiling_share: float = 1.0
    within: Intervals | None = field(default=None, repr=False, compare=False)
    of_cell: bool = False
    per_step: float = 0.0

    @property
    def whole(self) -> str:
        """What `share` is a share of, in words."""
        if self.of_cell:
            return "the cell"
        return "the time without recording" if self.calibrated else "the recorded time"

    @property
    def least_share(self) -> float:
        """The low end as a share, 0..1, of a run whose rest is longer by `spread`."""
        return _share(self._of_this_run(self.low_ns), 1 + self.spread)

    @property
    def most_share(self) -> float:
        """The high end as a share, 0..1, of a run whose rest is shorter by `spread`; never more than the cause."""
        return min(_share(self._of_this_run(self.high_ns), 1 - self.spread), self.ceiling_share)

    def _of_this_run(self, ns: float) -> float:
        return self.share * ns / self.central_ns if self.central_ns else 0.0


def _share(saved: float, rest_factor: float) -> float:
    rest = (1 - saved) * rest_factor
    return saved / (saved + rest) if saved + rest > 0 else 0.0


@dataclass(frozen=True)
class Where:
    """Where it happens: lines of the cell (1-based) and time ranges `(t0_ns, t1_ns)` on the trace's clock."""

    lines: tuple[int, ...] = ()
    ranges_ns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Finding:
    """One cause, found.

    `title` is one short sentence. `explanation` is one or two sentences with the measured figures in words.
    `evidence` maps a name with its unit to a number or a text (`wait_ms`, `copies`, `bandwidth_gb_per_s`).
    `change` is the advice in words, `diff` a unified diff on the user's cell where one can be given, `leave_it` when
    not to follow it. `replay_edit` is the change on the what-if graph, where the saving was found by simulation.
    `during`: the union of all the time that it speaks of, where the rule knows it; `where` shows the longest of it.
    `looked_rows`: which of the looked operators it speaks of, in whole or in part.
    """

    rule: str
    severity: Severity
    title: str
    explanation: str
    evidence: dict[str, float | int | str]
    change: str
    where: Where = field(default_factory=Where)
    diff: str | None = None
    saving: Saving | None = None
    leave_it: str = ""
    replay_edit: Range | None = field(default=None, repr=False, compare=False)
    during: Intervals | None = field(default=None, repr=False, compare=False)
    looked_rows: Array | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Abstention:
    """A rule that could not be decided: the signal it `needs`, and `how` to get it."""

    rule: str
    needs: str
    how: str
