"""What a faster line would save, in words for every view."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.views.source_rows import file_title
from gpuprof.whatif.line_profile import HALVED, HOT_SHARE, LineGain, LineKind, LineProfile

COLUMN = "saved if halved"
# A line whose time is mostly waits, from this share on, only waits.
_WAITING_SHARE = 0.5


def saved(gain_ns: int) -> str:
    """`1.2 ms`, or `nothing`."""
    return units.duration(gain_ns) if gain_ns > 0 else "nothing"


def halved(gain: LineGain) -> str:
    """What the run saves with the line in half its time; `unknown` where that cannot be said."""
    return units.UNKNOWN if gain.gain_ns is None else saved(gain.gain_ns[HALVED])


def meaning(profile: LineProfile) -> str:
    """What the column of gains says, or why there is none; empty where no device was recorded."""
    if profile.grade is None:
        return ""
    if profile.grade == "D":
        return f"What a faster line would save cannot be said: {profile.reasons[0]}."
    if not profile.lines:
        return ""
    late = (
        " Batches come late: what lines save that do not wait for them is unknown, as they would only wait longer."
        if profile.late_batches
        else ""
    )
    return (
        f"{COLUMN[0].upper()}{COLUMN[1:]}: by how much the run would be shorter if the line took half its time, on the "
        f"host and on the device; simulated, grade {profile.grade}. A line of at least {units.percent(HOT_SHARE)} of "
        f"the run that saves next to nothing is hidden: the run waits for something else meanwhile.{late}"
    )


def hidden_sentence(results: Results) -> str:
    """On the line that takes most of the host's time (else of the device's), where a faster one saves next to nothing;
    empty where it saves more, or that is not known."""
    profile = results.get(LineProfile)
    for side in ("host", "device"):
        spent = {each: each.host_ns if side == "host" else each.device_ns for each in profile.lines}
        first = max(spent, key=lambda each: spent[each], default=None)
        if first is None or first.kind is not LineKind.HIDDEN or first.gain_ns is None:
            continue
        share, halved = spent[first] / profile.recorded_ns, first.gain_ns[HALVED]
        if share < HOT_SHARE:
            continue
        gain = f"only {units.duration(halved)} ({units.percent(profile.share(halved))})" if halved > 0 else "nothing"
        return (
            f"Line {first.line} of {file_title(results.trace, first.source_file)} takes {units.percent(share)} of the "
            f"run on the {side}, but halving that would save {gain}: {_why(results, first, side)}."
        )
    return ""


def _why(results: Results, hidden: LineGain, side: str) -> str:
    if side == "device":
        return "the run waits for something else, as a rule for the host, which recording slows"
    table = results.get(LineCosts).table
    mine = (table["source_file"] == hidden.source_file) & (table["line"] == hidden.line)
    if table["sync_wait_ns"][mine].sum() >= _WAITING_SHARE * hidden.host_ns:
        return "there the host only waits for the device"
    return "the run waits for something else, as a rule for the device"
