"""How far the figures can be trusted: what was lost, what was matched, what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof import units
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.run.examined import Examined
from gpuprof.analyses.run.launches import Launches
from gpuprof.analyses.validity.core_starvation import CoreStarvation
from gpuprof.analyses.validity.validity import Validity
from gpuprof.model.context import Window
from gpuprof.model.trace import Trace
from gpuprof.rules.needless.looked import SEEN_SHARE
from gpuprof.whatif.grade import grade
from gpuprof.whatif.predict import Replay

_UNSEEN_SLOWDOWN = 1.03
_SLOWER_LATER = 1.25  # plain steps over recorded ones: recording never makes a step shorter by that much
_CORE_WAIT_SHARE = 0.1  # of the steps: below it the host's times are little longer for it
_CORE_READINGS = 5

_ENDED = {
    "cell": "to the end of the cell",
    "steps": "until enough steps were recorded",
    "pause": "until no step had come for 2 seconds or 10 steps",
    "seconds": "until the time limit of the recording",
    "even work": "until the cell had worked evenly for 3 seconds",
    "bytes": "until the memory limit of the recording",
    "events": "until the event limit of the recording",
    "error": "until the cell raised",
    "profiler": "until another profiler started",
}


@dataclass(frozen=True)
class Trust:
    """The trust line.

    `launches_with_kernel_share`: launches whose device work was recorded, 0..1. `clock_ok`: no device work begins
    before its launch. `replay_error`: how far the worst step (the run, where no step is known) is off when it is
    simulated without any change, 0..; None: unknown, or nothing could be simulated. `notes`: plain sentences.
    """

    launches_with_kernel_share: float | None
    clock_ok: bool | None
    replay_error: float | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results, ranks: tuple[int, ...] = ()) -> Self:
        """Gather what is known; `ranks` are those that were loaded together."""
        launches, replay = results.get(Launches), results.get(Replay)
        return cls(
            launches_with_kernel_share=launches.launches_with_kernel_share,
            clock_ok=launches.clock_ok,
            replay_error=replay.facts.error if replay.possible else None,
            notes=(
                *_rank_notes(trace, ranks),
                *_notes(trace, launches, results),
                *_examined_notes(trace, results),
                *_plain_notes(results),
                *_core_notes(results),
                *(() if results.get(Validity).nothing_holds else _replay_notes(replay)),
            ),
        )


def _rank_notes(trace: Trace, ranks: tuple[int, ...]) -> tuple[str, ...]:
    if len(ranks) < 2:
        return ()
    return (f"{len(ranks)} ranks were loaded; figures that name no rank are those of rank {trace.source.rank}.",)


def _notes(trace: Trace, launches: Launches, results: Results) -> list[str]:
    """All but what stands above the verdict already."""
    context, source, said = trace.context, trace.source, results.get(Validity)
    notes = list(source.notes)
    if context.window and source.kernels_saved:
        from_ends = len(trace.steps) if trace.steps_from == "Optimizer" else 0
        sampled_ns = results.get(Stretches).total_ns
        notes.append(_window_note(context.window, trace.span_ns, from_ends, sampled_ns))
    if trace.device_recorded is None and source.kind != "snapshot" and not said.cannot_judge:
        notes.append("No device was recorded: times are the host's.")
    share = launches.launches_with_kernel_share
    if share is not None:
        matched = f"{units.count(launches.with_kernel)} of {units.count(launches.launches)}"
        capturing = results.get(RunKind).kind is KindOfRun.CAPTURE
        captured = ": a launch that is captured into a CUDA graph has none" if capturing else ""
        notes.append(f"{matched} launches matched to device work{captured}.")
    notes.extend(_overhead_notes(context.window))
    notes.extend(_sampling_notes(trace))
    if context.cost and context.window:
        notes.append(
            f"gpuprof itself took {units.duration(context.cost.start_ns)} to start "
            f"and {units.duration(context.cost.stop_ns)} to stop and save, outside the recorded time; "
            "making this report is not counted."
        )
    notes.extend(note for note in context.notes if note not in notes)
    return [note for note in notes if note not in said.restated]


def _core_notes(results: Results) -> tuple[str, ...]:
    waits = results.get(CpuContention)
    share = waits.main_wait_share
    if share is None or share < _CORE_WAIT_SHARE or waits.readings < _CORE_READINGS:
        return ()
    if results.get(CoreStarvation).doubt is not None:
        return ()
    return (
        f"The main thread was ready to run but had no core for {units.percent(share)} of the steps' time: workers, or "
        "something else on this machine, held them; the host's times are longer for that.",
    )


def _replay_notes(replay: Replay) -> tuple[str, ...]:
    if not replay.possible:
        return ()
    found = grade(replay.facts)
    if found.letter == "D":
        return (f"No saving could be found by simulating this run: {found.reasons[0]}.",)
    why = f": {'; '.join(found.reasons)}" if found.reasons else ""
    whole = "the worst step" if replay.facts.step_errors else "the run"
    best = f"; savings found by simulation are graded {found.letter} at best{why}" if why else ""
    return (
        f"Simulated without any change, {whole} is {units.percent(replay.facts.error)} off{best}.",
        _host_note(replay),
    )


def _host_note(replay: Replay) -> str:
    known = replay.calibration
    if known is None:
        return (
            "Recording slows the host: without it, a saving on the host is smaller and one on the device may be larger."
        )
    return (
        "Savings found by simulation are of the run without the recording: the host's time in the steps, but for waits "
        f"for batches, counts {units.factor(known.host_factor)}, which makes them as long as those not recorded."
    )


def _window_note(window: Window, span_ns: int, from_ends: int, sampled_ns: int) -> str:
    whole_ns = window.cell_end_ns - window.cell_start_ns
    whole = units.duration(whole_ns)
    if window.ended_by in ("cell", "error") and not window.started_late:
        steps = f", {units.plural(window.steps_recorded, 'step')}" if window.steps_recorded else ""
        if window.ended_by == "error":
            if not span_ns:
                return "The cell raised before anything of torch's was recorded."
            # the cell's own time goes on until IPython has printed the traceback
            return f"Recorded the cell until it raised: {units.duration(span_ns)}{steps}."
        return f"Recorded the whole cell: {whole}{steps}."
    steps = ""
    if window.steps_seen:
        first, count = window.first_step + 1, window.steps_recorded
        last = first + count - 1
        # a step of the report goes from one end to the next: of the first one the beginning may not be known
        whole_ones = f", {from_ends} of them whole" if 0 < from_ends < count else ""
        which = "" if count < 1 else f" (step {first})" if count == 1 else f" (steps {first} to {last}{whole_ones})"
        of = " of the optimizer that steps most" if from_ends > count else ""
        steps = f", {count} of {units.plural(window.steps_seen, 'step')}{of}{which}"
    recorded = units.duration(window.end_ns - window.start_ns)
    ended = _ENDED.get(window.ended_by, f"until {window.ended_by}")
    sampled = units.duration(sampled_ns)
    less = 0 < sampled_ns < whole_ns and sampled != whole  # pauses of gpuprof's own are not sampled
    of = f" Shares of the cell are of the {sampled} that were sampled." if less else ""
    return f"Recorded {recorded} of the cell's {whole}{steps}, {ended}.{of}"


def _overhead_notes(window: Window | None) -> list[str]:
    if window is None or not window.steps_recorded:
        return []
    recorded, plain = window.recorded_step_ns, window.plain_step_ns
    if recorded is None or plain is None or plain <= 0:
        few = "were recorded" if recorded is None else "ran without it"
        return [f"How much the recording slowed its steps is not known: too few steps {few}."]
    times = f"median {units.duration(recorded)} against {units.duration(plain)}"
    if plain > recorded * _SLOWER_LATER:
        return [
            f"The steps outside the recording take longer ({times} without it), so what takes the time there may not "
            "be in the recording."
        ]
    if recorded <= plain * _UNSEEN_SLOWDOWN:
        return [f"The recording did not slow its steps visibly ({times} without it)."]
    return [
        f"The recording made its steps {units.factor(recorded / plain)} as long ({times} without it): what consists of "
        "many short operators, or allocates large tensors on the host, looks larger than it is."
    ]


def _examined_notes(trace: Trace, results: Results) -> tuple[str, ...]:
    """Which part of the cell was examined, and by what, all as shares of the cell."""
    found = results.get(Examined)
    if trace.context.window is None or found.placed is None or results.get(Validity).nothing_holds:
        return ()
    look = trace.context.look
    whole = look is None or (look.operators_share or 0.0) >= SEEN_SHARE
    how = "checked for needless work" if whole else "seen in a part of an iteration"
    looked = "nothing was" if found.looked is None else f"operators that stand for {units.percent(found.looked)} were"
    return (
        *_look_note(trace),
        f"Of the cell, {units.percent(found.recorded)} was recorded or is like what was, {looked} {how}, and "
        f"{units.percent(found.placed)} has a line or a phase.",
    )


def _look_note(trace: Trace) -> tuple[str, ...]:
    look = trace.context.look
    if look is None or look.skipped is not None:
        return ()
    whole = look.iterations and (look.operators_share or 0.0) >= SEEN_SHARE
    much = units.plural(look.iterations, "iteration") if whole else "a part of an iteration"
    return (f"The close look recorded every operator, and compared the contents of tensors, in {much} of the cell.",)


def _plain_notes(results: Results) -> list[str]:
    """What an iteration without the recording is made of, as far as light hooks tell."""
    plain = results.get(PlainIterations).plain
    if plain is None or not plain.mean_ns:
        return []
    parts = []
    if plain.wait_ns:
        parts.append(f"{units.percent(plain.wait_share)} is the wait for data")
    if plain.optimizer_ns:
        parts.append(f"{units.percent(plain.optimizer_ns / plain.mean_ns)} is the optimizer")
    return [f"Of an iteration without the recording, {' and '.join(parts)}."] if parts else []


def _sampling_notes(trace: Trace) -> list[str]:
    sampling = trace.context.sampling
    if not sampling:
        return []
    if sampling.get("unavailable"):
        return [f"No device sampling: {str(sampling['unavailable']).rstrip('.')}."]
    notes = []
    asked, reached = sampling.get("hz_asked"), sampling.get("hz_reached")
    if asked and reached:
        notes.append(f"Device sampled at {reached:.1f} Hz (asked {asked:.0f}).")
    missing = sampling.get("metric_errors") or {}
    if missing:
        notes.append(
            "Not read from NVML: " + ", ".join(f"{name} ({why})" for name, why in sorted(missing.items())) + "."
        )
    return notes
