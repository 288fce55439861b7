"""Events of Meta's accelerators (MTIA) as the events that Kineto writes for others.

Kineto's list of activity types says what the two categories are: `mtia_ccp_events` are work on the device,
`mtia_runtime` calls of the host. What writes them is not public; names and arguments are those of a public trace
(HolisticTraceAnalysis, `mtia_inference_trace`). A `dma_request` names direction and size. `event_record` and
`event_wait` are no work: streams wait for one another. All else on the device is an executable that runs, by its name
or as `pe_exe`. A call that stands on the device's process is the other side of one on the host's.
"""

from __future__ import annotations

from gpuprof.ingest.event import COPY, KERNEL, NO_ARGS, Event

DEVICE, RUNTIME = "mtia_ccp_events", "mtia_runtime"
_NO_WORK = frozenset(("event_record", "event_wait"))
_DIRECTIONS = {"HOST_TO_DEVICE": "HtoD", "DEVICE_TO_HOST": "DtoH", "DEVICE_TO_DEVICE": "DtoD"}


def as_others(event: Event) -> Event | None:
    """The event with the category that others have for it; None where it is neither work nor a call of the host."""
    args = event.args or NO_ARGS
    if event.cat == RUNTIME:
        if args.device != -1 and args.device == event.pid:
            return None
        event.cat = "cuda_runtime"
        return event
    if event.name in _NO_WORK:
        return None
    if args.direction is None:
        event.cat = KERNEL[0]
        return event
    event.cat, event.name = COPY[0], f"{event.name} {_DIRECTIONS.get(str(args.direction), args.direction)}"
    args.bytes = args.size
    return event
