"""Every step copies many small tensors to the device, one by one.

What it finds
    Steps with at least sixteen copies to the device of less than 64 KiB each, and the device idle while the host is
    busy with them.

Why it costs
    So small a copy takes the link some µs; calling it takes the host tens of µs, more where it also waits. Sent one
    by one, the calls are all there is.

What to do
    Put the values together on the host (`torch.stack`, `torch.cat`, one `torch.tensor` of all of them), copy once,
    and take the tensor apart on the device, where a view costs nothing. Values that do not change from step to step
    can stay on the device.

When to leave it
    When the tensors come from different places at different times and the device has other work meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.transfers.small_copies import SMALL_BYTES, SmallCopies
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.copies import copied_together

_BASIS = "simulated with one copy a step"
_ASSUMED = "what it costs to put the values together on the host is estimated"


@dataclass(frozen=True)
class SmallH2dCopies(Rule):
    """See the module."""

    idle_share: float = threshold(0.03, "of the step with the host in them and the device idle")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the small copies."""
        scope, small, repeats = Scope.of(results), results.get(SmallCopies), results.get(Repeats)
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the copies to the device")
        share = scope.share(small.idle.total_ns)
        if not small.many or share < self.idle_share:
            return None
        each = small.host.total_ns / small.count
        found = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Many small copies to the device take {units.percent(share)} of {scope.words}",
            explanation=(
                f"Each {repeats.noun} makes {small.per_step or 0:.3g} copies to the device of less than "
                f"{units.size(SMALL_BYTES)}, {units.size(small.bytes)} over all {repeats.noun}s. The host spent "
                f"{units.duration(small.host.total_ns)} on them ({units.duration(each)} each), and the device was idle "
                f"in {units.duration(small.idle.total_ns)} of it."
            ),
            evidence={
                "copies": small.count,
                f"copies_per_{repeats.noun}": round(small.per_step or 0.0, 2),
                "bytes": small.bytes,
                "host_ms": units.milliseconds(small.host.total_ns),
                "idle_ms": units.milliseconds(small.idle.total_ns),
                "idle_share": round(share, 4),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(small.host), ranges_ns=worst(small.idle)),
            during=small.idle,
            change="Put the values together on the host (`torch.stack`, `torch.cat`, or one `torch.tensor` of all of "
            f"them), copy once {repeats.each}, and take the tensor apart on the device; copy what does not change only "
            "once.",
            saving=scope.saving(
                small.idle.total_ns * 0.5,
                small.idle.total_ns * (1 - 1 / max(small.per_step or 1.0, 1.0)),
                small.idle.total_ns,
                f"upper bound: one copy {repeats.each} instead, with the device idle no longer",
            ),
        )
        return retimed(results, found, copied_together(results), _BASIS, assumed=_ASSUMED)
