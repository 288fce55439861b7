"""Which of the devices that the process can see did any work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.device.device_health import DeviceHealth, DeviceVitals, device_facts
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

_DISTRIBUTED = ("DistributedDataParallel", "nccl:", "c10d::", "FullyShardedDataParallel", "FSDP::")


@dataclass(frozen=True)
class Peer:
    """A visible device on which this run recorded nothing. None: the driver was not asked, or did not say.

    `idle_share`: its readings with no kernel of anybody resident, 0..1, over `readings` of them. `processes`: how many
    compute processes the driver listed on it at most; `used_bytes`: of its memory, by anybody, at most.
    """

    device: int
    name: str | None
    readings: int
    idle_share: float | None
    processes: int | None
    used_bytes: int | None


@dataclass(frozen=True, eq=False)
class DeviceUsage(Result):
    """`visible`: how many devices the process could use; None unknown. `used`: those with recorded work, ascending.

    `distributed`: the run is one rank of several, by what it recorded. `data_parallel`: the union of
    `torch.nn.DataParallel` forward ranges, `data_parallel_calls` their number.
    """

    visible: int | None
    used: tuple[int, ...]
    peers: tuple[Peer, ...]
    distributed: bool
    data_parallel: Intervals
    data_parallel_calls: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the devices of the environment (else of the trace), the readings and the ranges."""
        environment = trace.context.environment
        visible = environment.devices if environment else trace.devices
        used = tuple(use.id for use in results.get(DeviceActivity).devices)
        vitals = {each.torch_index: each for each in results.get(DeviceHealth).devices}
        forward = trace.user_ranges.take(trace.name_mask(trace.user_ranges, "DataParallel.forward"))
        return cls(
            visible=len(visible) or None,
            used=used,
            peers=tuple(
                _peer(trace, each.id, each.name, vitals.get(each.id)) for each in visible if each.id not in used
            ),
            distributed=_distributed(trace),
            data_parallel=intervals.union(intervals.of(forward)),
            data_parallel_calls=len(forward),
        )


def _distributed(trace: Trace) -> bool:
    ranks = trace.source.rank is not None or bool(trace.device_events["collective"].any())
    return ranks or any(name.startswith(_DISTRIBUTED) for name in trace.names)


def _peer(trace: Trace, device: int, name: str | None, vitals: DeviceVitals | None) -> Peer:
    if vitals is None:
        return Peer(device, name, 0, None, None, None)
    readings, facts = trace.device_readings, device_facts(trace)[vitals.device]
    read = readings["utilisation_percent"][readings["device"] == vitals.device]
    read = read[~np.isnan(read)]
    listed = [len(each) for each in (facts.processes_start, facts.processes_end) if each is not None]
    return Peer(
        device=device,
        name=name,
        readings=len(read),
        idle_share=float((read == 0).mean()) if len(read) else None,
        processes=max(listed, default=None),
        used_bytes=vitals.used_max_bytes,
    )
