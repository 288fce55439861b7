"""How much of the copies and collectives was hidden under compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.device_activity import DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class Hidden:
    """One kind of device work against compute (kernels that are not collectives) of the same device, by wall clock.

    `total_ns`: union of that work; it is `hidden_ns` (compute ran as well) + `exposed_ns` (none did).
    """

    total_ns: int
    hidden_ns: int
    exposed_ns: int

    @property
    def hidden_share_of_total(self) -> float | None:
        """Hidden ÷ the union of that work, 0..1; None where there is no such work."""
        return self.hidden_ns / self.total_ns if self.total_ns else None


@dataclass(frozen=True)
class Overlap(Result):
    """Overlap on the first device; None without device activity.

    `exposed_copies_share_of_span` and `exposed_collectives_share_of_span`: exposed ÷ the trace's span, 0..1. The time
    budget may show less exposed copy time: it gives time under a collective to the collective.
    """

    copies: Hidden | None
    collectives: Hidden | None
    exposed_copies_share_of_span: float | None
    exposed_collectives_share_of_span: float | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device events of the first device."""
        device = results.get(DeviceActivity).primary
        if device is None:
            return cls(None, None, None, None)
        events = trace.device_events
        here = events["device"] == device.id
        copies = _hidden(events.take(here & (events["kind"] == DeviceEventKind.COPY)), device)
        collectives = _hidden(events.take(here & events["collective"]), device)
        span = trace.span_ns
        return cls(
            copies=copies,
            collectives=collectives,
            exposed_copies_share_of_span=copies.exposed_ns / span if span else None,
            exposed_collectives_share_of_span=collectives.exposed_ns / span if span else None,
        )


def _hidden(events: Table, device: DeviceTotals) -> Hidden:
    work = intervals.union(intervals.of(events))
    hidden = intervals.intersect(work, device.compute).total_ns
    return Hidden(total_ns=work.total_ns, hidden_ns=hidden, exposed_ns=work.total_ns - hidden)
