"""The verdict's first sentences: where the time went, what memory did, and what nobody examined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.idle_work import DeviceIdleWork, work_within
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.phases import INPUT, OPTIMIZER
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.ranks.exposed_exchanges import ExposedExchanges
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.analyses.run.examined import Examined
from gpuprof.analyses.run.plain_budget import PlainBudget
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.analyses.run.unseen_python import LONG_PAUSE_NS
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace
from gpuprof.report.memory_sentence import memory_sentence
from gpuprof.report.spot_words import brief
from gpuprof.rules.needless.looked import SEEN_SHARE

_PHRASES = {
    "exposed_copy": "copying with nothing else running",
    "exposed_collective": "in exposed communication",
    "memset": "clearing memory",
    "idle_input": "waiting for data",
    "idle_host": "waiting for the host",
    "idle_sync": "idle around sync waits",
    "idle_launch": "waiting for launches",
    "idle_compile": "waiting for torch.compile",
    "idle_outside_steps": "idle outside the steps",
    "idle_unrecorded": "busy with work from before the recording",
    "idle_unexplained": "idle for an unknown reason",
    "operators": "in operators",
    "input_wait": "waiting for the DataLoader",
    "compiling": "compiling (torch.compile)",
    "host_other": "in Python and other host work",
    "outside_steps": "outside the steps",
}
_NOT_STEADY = {
    KindOfRun.CAPTURE: "CUDA graphs are captured here, so this is no steady state. ",
    KindOfRun.START_UP: "Libraries and kernels are loaded here for most of the time, so this is no steady state. ",
}
_WORTH_SAYING = 0.05
_IN_PAUSES = ("idle_host", "idle_sync", "idle_launch")
# of the cell: where less was left out, what is said of the rest holds for the cell
_LARGE_REST = 0.25
# of idle time without a cause, in one call: then the wait is what happened in it; of exchanges, of one kind
_NEARLY_ALL = 0.8
# of idle time, in calls that were recorded: then it is known what the host did
_MOST = 0.5
_OF_A_STEP = (Phase.DATA, Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER, Phase.TRAINING)
_UNSAID = (*_OF_A_STEP, Phase.OTHER)


def headline(trace: Trace, results: Results) -> str:
    """Where the time went; then, where there is something to say of them, memory and what was not examined."""
    said = _of_time(trace, results)
    if trace.source.kind == "snapshot" or not results.get(TimeBudget).entries:
        return said
    rest = (_long_pauses(trace, results), memory_sentence(trace, results), _not_examined(trace, results))
    return " ".join(filter(None, (said, *rest)))


def _of_time(trace: Trace, results: Results) -> str:
    budget = results.get(TimeBudget)
    if trace.source.kind == "snapshot":
        return _of_snapshot(results)
    if not budget.entries or budget.total_ns <= 0:
        if (error := raised_at_once(trace)) is not None:
            return f"The cell raised {error} before any torch operator ran."
        return "Nothing was recorded in this run." if not trace.span_ns else "The recording holds no activity to judge."
    told = _Told.of(trace, budget, results)
    kind = _NOT_STEADY.get(results.get(RunKind).kind, "")
    spends = f"spends {in_words(told.named)}" if told.named else "shows nothing that stands out"
    if budget.device is None and without_torch(trace):
        # torch records this thread alone, and those of autograd that go on for it
        return f"No torch operator ran on the cell’s own thread in {told.whole}."
    if budget.device is None:
        known = "" if trace.device_recorded is False else "No GPU in this run. "
        if trace.source.unread is not None:
            known = f"This trace has work of an accelerator ({trace.source.unread}) that gpuprof does not read. "
        if told.phases:
            inside = f" ({in_words(told.named)})" if told.named else ""
            return f"{kind}{known}{told.whole} is {told.phases}{inside}."
        return f"{kind}{known}Of {told.whole} the main thread {spends}{told.rest}."
    computes = f"the device computes for {units.percent(told.computing)}" if told.computing else ""
    if told.phases:
        inside = " and ".join(filter(None, (computes, spends if told.named else ""))) or "the device runs no kernel"
        return f"{kind}{told.whole} is {told.phases} ({inside})."
    if not told.computing:
        doing = f"it {spends}" if told.named else "it is almost always idle"
        return f"{kind}The device runs no kernel in {told.whole}: {doing}{told.rest}."
    others = f" and {spends}" if told.named else ""
    return f"{kind}{computes[:1].upper()}{computes[1:]} of {told.whole}{others}{told.rest}."


def _of_snapshot(results: Results) -> str:
    memory = results.get(MemoryPeak).primary
    if memory is None or memory.peak_allocated_bytes is None:
        return "This memory snapshot holds no history of allocations."
    reserved = memory.peak_reserved_bytes
    held = f" and {units.size(reserved)} reserved" if reserved else ""
    return f"In this memory snapshot at most {units.size(memory.peak_allocated_bytes)} are allocated{held}."


@dataclass(frozen=True)
class _Told:
    """What the headline speaks of: the whole cell where much of it is no training (`phases` then say how it divides);
    an iteration without the recording where such are known; else the whole recording, or its steps where much of it
    lies outside them. All shares are of `whole`."""

    whole: str
    computing: float
    named: tuple[str, ...]
    rest: str = ""
    phases: str = ""

    @classmethod
    def of(cls, trace: Trace, budget: TimeBudget, results: Results) -> _Told:
        steps, plain, cell = results.get(StepTime), results.get(PlainBudget), results.get(CellPhases)
        outside = max((e.share for e in budget.entries if e.category.endswith("outside_steps")), default=0.0)
        whole, rest = f"the recorded {units.duration(budget.total_ns)}", ""
        ns = {entry.category: entry.ns for entry in budget.entries}
        if steps.count > 1 and outside >= _WORTH_SAYING:
            ns = {name: intervals.intersect(part, steps.window).total_ns for name, part in budget.parts.items()}
            whole = f"the {steps.count} steps’ {units.duration(sum(ns.values()))}"
            idle = "" if budget.device is None else "idle "
            rest = f"; {units.percent(outside)} of the recording is {idle}time outside the steps"
        if budget.share("idle_unrecorded") >= _LARGE_REST:
            # the device was busy then, with work that nobody recorded: no share of it is known
            del ns["idle_unrecorded"]
            whole = f"the other {units.duration(sum(ns.values()))}"
        total = sum(ns.values()) or 1
        shares: Mapping[str, float] = {name: part / total for name, part in ns.items()}
        if plain.total_ns is not None:
            whole, shares = (
                f"an average iteration’s {units.duration(plain.total_ns)} without the recording",
                plain.shares,
            )
        phases = _phases(cell) if steps.count else ""
        if phases:
            training = cell.share(*_OF_A_STEP)
            whole, rest = f"The whole cell ({units.duration(cell.total_ns)})", ""
            shares = {name: share * training for name, share in shares.items()}
        others = sorted(((name, share) for name, share in shares.items() if name != "compute"), key=lambda o: -o[1])
        named = [
            f"{units.percent(share)} {_phrase(name, trace, results)}"
            for name, share in others
            if share >= _WORTH_SAYING
        ]
        return cls(whole, shares.get("compute", 0.0), tuple(named[:3]), rest, phases)


def _phrase(category: str, trace: Trace, results: Results) -> str:
    if category == "idle_unexplained" and (call := _waited_in(trace, results)):
        return f"idle while the host waits in {call}"
    if category == "idle_unexplained" and (work := _worked_in(results)):
        return f"idle while the CPU was in {work}"
    if category == "exposed_collective" and (kind := _exchanged(results)):
        return f"{_PHRASES[category]}, {kind}"
    if category == "idle_host" and not _host_seen(trace, results):
        # the launches alone do not show what the host did before them
        return "idle until the next launch"
    if category == "idle_host" and _around_the_work(results):
        return f"{_PHRASES[category]}, most of it before the first and after the last kernel"
    return _PHRASES[category]


def _exchanged(results: Results) -> str:
    """`nearly all of it all-to-all`, where one kind of exchange has most of the exposed time; empty else."""
    whole, parts = results.get(TimeBudget).ns("exposed_collective"), results.get(ExposedExchanges).parts
    if not parts or parts[0][1].total_ns < _MOST * whole:
        return ""
    kind, part = parts[0]
    return f"{'nearly all' if part.total_ns >= _NEARLY_ALL * whole else 'most'} of it {kind.value}"


def _around_the_work(results: Results) -> bool:
    """Whether most of the wait for the host lies before the device's first work or after its last, in a recording of
    one step or none: the host prepares its input, or handles its result."""
    device, part = results.get(DeviceActivity).primary, results.get(TimeBudget).parts["idle_host"]
    if device is None or not len(device.busy.starts) or results.get(StepTime).count > 1:
        return False
    inside = intervals.clip(part, int(device.busy.starts[0]), int(device.busy.ends[-1])).total_ns
    return inside < (1 - _MOST) * part.total_ns


def _long_pauses(trace: Trace, results: Results) -> str:
    """`Most of the idle time is in 27 pauses of at least 10 ms, 11.7 s in all, the longest of 9.93 s (the CPU was in
    cudaLaunchKernel).` Counts pauses that the CPU causes, whatever their category. Empty below 5 % of the recording."""
    found, device = results.get(DeviceIdle), results.get(DeviceActivity).primary
    idle = intervals.joined(*(found.parts.get(cause, intervals.EMPTY) for cause in _IN_PAUSES))
    if device is not None and _around_the_work(results):  # which the headline says itself
        idle = intervals.clip(idle, int(device.busy.starts[0]), int(device.busy.ends[-1]))
    starts, ends = found.gaps["start_ns"], found.gaps["end_ns"]
    lengths = intervals.covered(idle, starts, ends)
    long = lengths >= LONG_PAUSE_NS
    lasted_ns = int(lengths[long].sum())
    if lasted_ns <= _WORTH_SAYING * trace.span_ns:
        return ""
    share = lasted_ns / found.total_ns
    part = "Most" if share > _MOST else units.percent(share)
    work = work_within(trace, results, intervals.intersect(Intervals(starts[long], ends[long]), idle))[:1]
    did = f" (the CPU was in {brief(work[0].what)})" if work and work[0].ns >= _MOST * lasted_ns else ""
    whole = units.duration(lasted_ns)
    if long.sum() == 1:
        return f"{part} of the idle time is in a pause of {whole}{did}."
    least, longest = f"{LONG_PAUSE_NS // units.NS_PER_MS} ms", units.duration(int(lengths.max()))
    return (
        f"{part} of the idle time is in {long.sum()} pauses of at least {least}, {whole} in all, the longest of "
        f"{longest}{did}."
    )


def _host_seen(trace: Trace, results: Results) -> bool:
    if len(trace.operators) or len(trace.frames) or len(trace.stack_samples):
        return True
    idle = results.get(DeviceIdleWork)
    return idle.named_ns >= _MOST * idle.idle_ns


def _waited_in(trace: Trace, results: Results) -> str:
    """The call in which the host waits for nearly all of the idle time that has no cause; empty where there is none."""
    part, waits = results.get(TimeBudget).parts["idle_unexplained"], results.get(SyncWaits).table
    if not len(waits) or not part.total_ns:
        return ""
    held = intervals.covered(part, waits["start_ns"], waits["start_ns"] + waits["duration_ns"])
    by_name = np.bincount(waits["name"], weights=held, minlength=len(trace.names))
    most = int(by_name.argmax())
    return trace.names[most] if by_name[most] >= _NEARLY_ALL * part.total_ns else ""


def _worked_in(results: Results) -> str:
    """What the CPU did in nearly all of the idle time, where nearly all of that has no cause; else empty."""
    unexplained, idle = results.get(TimeBudget).ns("idle_unexplained"), results.get(DeviceIdleWork)
    first = idle.work[0] if idle.work else None
    if first is None or first.waits or unexplained < _NEARLY_ALL * idle.idle_ns or first.ns < _NEARLY_ALL * unexplained:
        return ""
    return brief(first.what)


def _phases(cell: CellPhases) -> str:
    """How the whole cell divides where much of it is no training step: set-up, evaluation, checkpoints; where that was
    sampled."""
    training = cell.share(*_OF_A_STEP)
    others = [each for each in cell.phases if each.phase not in _UNSAID and each.share >= _WORTH_SAYING]
    if not cell.sampled or not training or not others:
        return ""
    # the training comes last: what it consists of follows
    known = [*((each.share, each.phase.value) for each in others), (training, "training")]
    return in_words(tuple(f"{units.percent(share)} {name}" for share, name in known))


def _not_examined(trace: Trace, results: Results) -> str:
    """`42% of the cell (evaluation 40%) was not recorded or checked: only its lines are known.`; that nobody
    looked for needless work, and why. Empty where all of it was, but for set-up: mostly imports."""
    found, look = results.get(Examined), trace.context.look
    said = []
    if len(trace.device_events) and not len(trace.operators):
        known = "only its calls of the runtime are known" if len(trace.calls) else "nothing is known of it"
        said.append(f"The CPU’s operators are not in the recording: {known}.")
    left = [(phase, share) for phase, share in found.left if phase is not Phase.SET_UP]
    rest = found.left_share - sum(share for phase, share in found.left if phase is Phase.SET_UP)
    if rest >= _LARGE_REST:
        named = [(phase, share) for phase, share in left if share >= _WORTH_SAYING and phase is not Phase.OTHER]
        phases = ", ".join(f"{phase.value} {units.percent(share)}" for phase, share in named)
        known = "only its lines are known" if found.placed is not None else "nothing is known of it"
        share = units.percent(rest)
        said.append(f"{share} of the cell{phases and f' ({phases})'} was not recorded or checked: {known}.")
    if look is not None and look.skipped:
        said.append(f"The cell was not checked for needless work: {look.skipped}.")
    elif look is not None and look.places and (look.operators_share or 0.0) < SEEN_SHARE:
        said.append("Most checks for needless work take a whole iteration, and the close look ended before that.")
    return " ".join(said)


def raised_at_once(trace: Trace) -> str | None:
    """What the cell raised before anything of torch's was recorded; None where it did not."""
    outcome = trace.context.outcome
    return outcome.error if outcome and not trace.span_ns and trace.source.kernels_saved else None


def without_torch(trace: Trace) -> bool:
    """Whether nothing of torch's was recorded: no operator, no wait for data, no work or call of a device."""
    inside = trace.operators["start_ns"] >= trace.span_start_ns
    waits = trace.name_mask(trace.user_ranges, INPUT, OPTIMIZER)
    return not (inside.any() or waits.any() or len(trace.device_events) or len(trace.calls))


def in_words(parts: tuple[str, ...]) -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
