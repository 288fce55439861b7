"""What each rule's finding rests on: the evidence that a validity check may spoil.

A room's rules rest on the same; those that do not have a line of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpuprof.analyses.validity.doubt import Evidence

CPU, GPU, WAITS = Evidence.CPU_TIMES, Evidence.GPU_TIMES, Evidence.WAITS

OF_ROOM: Mapping[str, frozenset[Evidence]] = {
    "compiler": frozenset({CPU}),
    "device": frozenset({Evidence.READINGS}),
    "distributed": frozenset({GPU, WAITS}),
    "host": frozenset({CPU, WAITS}),
    "kernels": frozenset({GPU}),
    "loading": frozenset({CPU, WAITS}),
    "memory": frozenset({Evidence.MEMORY}),
    "needless": frozenset({CPU}),
    "training": frozenset({CPU, GPU}),
    "transfers": frozenset({GPU, WAITS}),
}

OF_RULE: Mapping[str, frozenset[Evidence]] = {
    "allocator_calls_in_step": frozenset({CPU, WAITS}),
    "cpu_build_or_cpu_tensors": frozenset({Evidence.SETTINGS}),
    "data_parallel_module": frozenset({Evidence.COUNTS}),
    "empty_cache_in_step": frozenset({CPU, WAITS}),
    "energy_idle": frozenset({Evidence.READINGS, WAITS}),
    "evaluation_share": frozenset({CPU}),
    "idle_peer_devices": frozenset({Evidence.READINGS}),
    "launch_bound": frozenset({CPU, GPU, WAITS}),
    "stack_outdated": frozenset({Evidence.SETTINGS}),
    "uneven_device_memory": frozenset({Evidence.MEMORY}),
    # the scheduler counts for whom a worker waited, whoever else runs
    "workers_oversubscribed": frozenset({Evidence.COUNTS}),
}


def rests_on(rule: str, room: str) -> frozenset[Evidence]:
    """The evidence of a rule by its name, else by the room it is in; all of it for a room without a line."""
    return OF_RULE.get(rule) or OF_ROOM.get(room) or frozenset(Evidence)
