"""The answer to a person's own question: what the run would take with some of it faster, or gone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.validity import Validity
from gpuprof.errors import UsageError
from gpuprof.model import intervals
from gpuprof.rules.saving.run_variation import spread_of_the_rest
from gpuprof.rules.saving.scope import Scope
from gpuprof.rules.saving.without_profiling import without_recording
from gpuprof.whatif.changes.graph_edits import together
from gpuprof.whatif.predict import Range, Replay, predict
from gpuprof.whatif.questions import Part, Question, parts_of

# of the whole: less is not told apart from nothing
_NOTHING = 0.005
_ON_THE_HOST = "the time of it on the main thread, by arithmetic: nothing is simulated without a device"


@dataclass(frozen=True)
class Answer:
    """What was asked, and what it would save.

    `low_share` ≤ `central_share` ≤ `high_share`: of `whole`, in words; negative for a loss, None where it cannot be
    said (grade D). `low_ms`, `central_ms`, `high_ms`: the same in ms of the recorded part of the cell. `grade` A to D
    as findings have it, `reasons` why it is not better, `basis` how it was found.
    """

    question: str
    low_share: float | None
    central_share: float | None
    high_share: float | None
    low_ms: float | None
    central_ms: float | None
    high_ms: float | None
    whole: str
    grade: str
    reasons: tuple[str, ...]
    basis: str

    @property
    def speedup(self) -> float | None:
        """The whole ÷ what is left of it, of the central case; None where it cannot be said."""
        return None if self.central_share is None or self.central_share >= 1 else 1 / (1 - self.central_share)

    def to_dict(self) -> dict[str, Any]:
        """All fields and the speedup, ready for JSON."""
        return {**asdict(self), "reasons": list(self.reasons), "speedup": self.speedup}

    def __str__(self) -> str:
        """Two or three sentences."""
        asked = self.question[:1].upper() + self.question[1:]
        why = f" Grade {self.grade}{': ' + '; '.join(self.reasons) if self.reasons else ''}."
        if self.low_share is None or self.central_share is None or self.high_share is None:
            return f"{asked}: what that changes cannot be said.{why}"
        effect = _effect(self.low_share, self.central_share, self.high_share, self.whole)
        return f"{asked}: {effect}. Basis: {self.basis}.{why}"

    __repr__ = __str__


def _effect(low: float, central: float, high: float, whole: str) -> str:
    if abs(central) < _NOTHING and max(abs(low), abs(high)) < _NOTHING:
        return f"changes less than {units.percent(_NOTHING)} of {whole}"
    ends = (low, high) if central >= 0 else (-high, -low)
    least, most = (units.percent(max(end, 0.0)) for end in ends)
    reach = "" if least == most else f" ({least} to {most})"
    factor = units.factor(1 / max(1 - central, 1e-9))
    does = "saves" if central >= 0 else "takes longer by"
    return f"{does} {units.percent(abs(central))} of {whole}{reach}, {factor} as fast"


def answer(results: Results, asked: Question) -> Answer:
    """Simulate all parts of the question together; UsageError, with one line, for one that this run cannot be asked.

    Where the recording is doubtful, that is among the reasons.
    """
    parts = parts_of(results, asked)
    found = _retimed(results, parts) if results.get(DeviceActivity).recorded else _on_the_host(results, parts)
    doubts = tuple(doubt.sentence.rstrip(".") for doubt in results.get(Validity).doubts)
    return replace(found, reasons=(*doubts, *found.reasons))


def _retimed(results: Results, parts: tuple[Part, ...]) -> Answer:
    replay = results.get(Replay)
    if not replay.possible:
        raise UsageError(
            "whatif: this run cannot be simulated, since host calls and the device work that they launched were not "
            "both recorded"
        )
    change = Range(
        together(*(part.change.pessimistic for part in parts)),
        together(*(part.change.central for part in parts)),
        together(*(part.change.optimistic for part in parts)),
    )
    found = predict(replay, change, assumed="; ".join(part.assumed for part in parts if part.assumed))
    whole = "the time without recording" if replay.calibration is not None else "the recorded time"
    saved = (found.low_ns, found.central_ns, found.high_ns)
    return _answer(parts, saved, float(replay.run_ns), whole, found.grade, found.reasons, "the run simulated")


def _on_the_host(results: Results, parts: tuple[Part, ...]) -> Answer:
    """What goes wholly goes first; a factor counts for what is left then."""
    gone, saved_ns = intervals.EMPTY, 0.0
    for part in sorted(parts, key=lambda part: part.left > 0):
        mine = intervals.subtract(intervals.union(part.host), gone)
        saved_ns += mine.total_ns * (1 - part.left)
        gone = intervals.joined(gone, mine)
    sign = 1 if saved_ns >= 0 else -1
    raw = Scope.of(results).saving(abs(saved_ns), abs(saved_ns), abs(saved_ns), _ON_THE_HOST, part_of=gone)
    spread = spread_of_the_rest(results)
    plain = replace(without_recording(results, raw, ()), spread=spread)
    whole_ns = plain.central_ns / plain.share if plain.share else float(results.span_ns)
    ends = sorted(sign * whole_ns * share for share in (plain.least_share, plain.share, plain.most_share))
    varied = f"; what is left may take {units.percent(spread)} more or less in the next run"
    return _answer(parts, tuple(ends), whole_ns, plain.whole, "C", (), f"{plain.basis}{varied}")


def _answer(
    parts: tuple[Part, ...],
    saved_ns: tuple[float | None, ...],
    whole_ns: float,
    whole: str,
    grade: str,
    reasons: tuple[str, ...],
    basis: str,
) -> Answer:
    low, central, high = (None if ns is None or not whole_ns else ns / whole_ns for ns in saved_ns)
    low_ms, central_ms, high_ms = (None if ns is None else units.milliseconds(ns) for ns in saved_ns)
    asked = ", ".join(part.words for part in parts)
    return Answer(asked, low, central, high, low_ms, central_ms, high_ms, whole, grade, reasons, basis)
