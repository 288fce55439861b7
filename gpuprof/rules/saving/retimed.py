"""Puts a predicted saving into a finding: the run, simulated with the change that the finding advises."""

from __future__ import annotations

from dataclasses import replace

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.saving.named_cause import may_cost_more
from gpuprof.rules.saving.scope import Scope
from gpuprof.whatif.predict import MINOR_SHARE, Change, Range, Replay, predict

# Of what the finding itself would expect: below it the reader is told what becomes of the rest.
_SMALL = 0.5
# Above it the reader is told why.
_MORE = 1.2
# Of the time judged, at best: what saves less is not the first thing to mend.
_HIGH_SHARE = 0.1
_ELSEWHERE = "the run then waits for something else"
_MORE_THAN_THAT = "Simulated, the change saves more than that: other waits shrink with it."
# What to say as `rest` of changes that make kernels faster.
WAITS_FOR_HOST = f"{_ELSEWHERE}, as a rule for the host, which recording slows"

_CALIBRATED = "with the host as fast as without the recording"


def retimed(
    results: Results,
    finding: Finding,
    edit: Change,
    basis: str,
    *,
    assumed: str = "",
    rest: str = _ELSEWHERE,
    more: str = _MORE_THAN_THAT,
) -> Finding:
    """The finding with the saving that simulation gives, `basis` in words; as it is where no graph can be made.

    Under grade D it has no saving, and its explanation says why. Where the saving is small it matters little (LOW),
    whatever the cause looks like: then something else holds the run up, and `rest` says what. Where it is larger than
    the finding's own estimate, `more` says why. HIGH needs more than a tenth at best.
    """
    replay, scope = results.get(Replay), Scope.of(results)
    if not replay.possible:
        return finding
    found = predict(replay, edit, basis=basis, assumed=assumed)
    if found.low_ns is None or found.central_ns is None or found.high_ns is None:
        return _saying(finding, f"What the change saves cannot be said: {found.reasons[0]}.")
    whole = finding.saving.within if finding.saving else None
    saving = scope.saving(found.low_ns, found.central_ns, found.high_ns, basis, found.grade, part_of=whole)
    scaled = 1.0
    if replay.calibration is not None and replay.run_ns:
        # The finding's own figures are of the run as recorded, which is longer.
        scaled = replay.graph.recorded_span_ns / replay.run_ns
        share = min(saving.share * scaled, 1.0)
        saving = replace(saving, share=share, basis=f"{basis}, {_CALIBRATED}", calibrated=True)
    expected = finding.saving.central_ns if finding.saving else 0.0
    if found.central_ns * scaled < _SMALL * expected:
        gain = f"only {units.duration(found.central_ns)}" if found.central_ns > 0 else "nothing"
        finding = _saying(finding, f"As recorded, the change alone saves {gain}: {rest}.")
    elif expected and found.central_ns * scaled > _MORE * expected and may_cost_more(finding.title):
        finding = replace(finding, explanation=f"{finding.explanation} {more}")
    if scope.share(found.central_ns * scaled) < MINOR_SHARE:
        return replace(finding, severity=Severity.LOW, saving=saving if found.central_ns > 0 else None)
    most = Severity.HIGH if scope.share(found.high_ns * scaled) >= _HIGH_SHARE else Severity.MEDIUM
    kept = edit if isinstance(edit, Range) else Range(edit, edit, edit)
    return replace(finding, severity=min(finding.severity, most), saving=saving, replay_edit=kept)


def best_share(results: Results, edit: Change) -> float:
    """What the change saves at best, of the time judged (0..1), by simulation; 0 where that is not possible."""
    replay, scope = results.get(Replay), Scope.of(results)
    if not replay.possible:
        return 0.0
    found = predict(replay, edit)
    if found.high_ns is None or not replay.run_ns:
        return 0.0
    return scope.share(found.high_ns * replay.graph.recorded_span_ns / replay.run_ns)


def _saying(finding: Finding, more: str) -> Finding:
    return replace(finding, saving=None, explanation=f"{finding.explanation} {more}")
