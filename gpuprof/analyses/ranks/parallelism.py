"""How the work is divided among ranks, recognised from what they exchange."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.ranks.collectives import Collectives
from gpuprof.analyses.ranks.exchanges import Exchanges
from gpuprof.analyses.ranks.process_group import ProcessGroup
from gpuprof.model import intervals
from gpuprof.model.collectives import CollectiveKind, kind_of
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace


class Parallelism(StrEnum):
    """What a process group is for."""

    DATA = "data parallel"
    SHARDED = "sharded data parallel"
    TENSOR = "tensor parallel"
    PIPELINE = "pipeline parallel"
    EXPERT = "expert parallel"
    EMBEDDING = "embedding tables on several ranks"
    UNKNOWN = "of unknown purpose"


# How Megatron, DeepSpeed, torchtitan and device meshes name their groups. The first that matches decides.
_DESCRIPTIONS = tuple(
    (re.compile(rf"(?:^|[^a-z])(?:{words})(?:[^a-z]|$)", re.IGNORECASE), each)
    for words, each in (
        ("edp|expert_data", Parallelism.DATA),
        ("ep|experts?|moe", Parallelism.EXPERT),
        ("pp|pipe|pipeline", Parallelism.PIPELINE),
        ("fsdp|shard|zero", Parallelism.SHARDED),
        ("tp|tensor|model|sequence|sp|cp|context", Parallelism.TENSOR),
        ("dp|ddp|data|replicate", Parallelism.DATA),
    )
)
_SHARDS = ("FSDP::", "FullyShardedDataParallel")
_TABLES = ("aten::embedding_bag", "aten::_embedding_bag", "fbgemm::", "EmbeddingBag")
_DDP = "DistributedDataParallel"
_GATHERS = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER)
# of its all-reduces: gradients are reduced in backward, activations of a divided layer in both passes
_MOSTLY = 0.8


@dataclass(frozen=True)
class GroupPurpose:
    """The exchanges of one group, `duration_ns` in all, and what the group is for."""

    group: ProcessGroup
    kind: CollectiveKind
    parallelism: Parallelism
    duration_ns: int


@dataclass(frozen=True)
class ParallelismOfRank(Result):
    """`groups` by kind of exchange, that with the longest durations first; empty where nothing is exchanged."""

    groups: tuple[GroupPurpose, ...]

    @property
    def main(self) -> GroupPurpose | None:
        """Where most of the exchanges' time goes."""
        return self.groups[0] if self.groups else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the descriptions of the groups, else from the kinds of exchange and the operators around."""
        times = Counter[tuple[ProcessGroup, CollectiveKind]]()
        asked = [kind_of(name) for name in results.get(Collectives).asked]
        for each in results.get(Exchanges).each:
            # RCCL has one kernel for everything: the host says what it asked for, and sharded training reduces, too
            kinds = (each.kind, *_GATHERS, *asked) if each.kind is CollectiveKind.OTHER else (each.kind,)
            kind = next((kind for kind in kinds[1:] if kind in asked), each.kind)
            times[each.group, kind] += each.duration_ns
        found = [
            GroupPurpose(group, kind, _purpose(trace, group, kind), ns) for (group, kind), ns in times.most_common()
        ]
        return cls(tuple(found))


def _purpose(trace: Trace, group: ProcessGroup, kind: CollectiveKind) -> Parallelism:
    if kind is CollectiveKind.ALL_TO_ALL:
        tables = any(name.startswith(_TABLES) for name in trace.names)
        return Parallelism.EMBEDDING if tables else Parallelism.EXPERT
    if kind is CollectiveKind.SEND_RECV:
        return Parallelism.PIPELINE
    for words, each in _DESCRIPTIONS:
        if words.search(group.description):
            return each
    if kind in _GATHERS:
        return _of_gathers(trace)
    if kind is CollectiveKind.ALL_REDUCE:
        return _of_reduces(trace)
    return Parallelism.UNKNOWN


def _of_gathers(trace: Trace) -> Parallelism:
    if any(name.startswith(_SHARDS) for name in trace.names):
        return Parallelism.SHARDED
    # training that gathers divides parameters or optimizer state, unless its groups say otherwise
    return Parallelism.SHARDED if _trains(trace) else Parallelism.UNKNOWN


def _of_reduces(trace: Trace) -> Parallelism:
    if any(name.startswith(_DDP) for name in trace.names):
        return Parallelism.DATA
    asked = trace.name_mask(trace.operators, "c10d::allreduce_")
    if not asked.any():
        return Parallelism.DATA if _trains(trace) else Parallelism.UNKNOWN
    nodes = trace.operators.take(backward_mask(trace))
    inside = [_inside(nodes, trace.operators.take(asked), thread) for thread in np.unique(nodes["thread"]).tolist()]
    backward = sum(inside)
    if backward:
        return Parallelism.DATA if backward >= _MOSTLY * int(asked.sum()) else Parallelism.TENSOR
    # without any backward pass an all-reduce sums up the parts of a layer
    return Parallelism.UNKNOWN if _trains(trace) else Parallelism.TENSOR


def _inside(nodes: Table, asked: Table, thread: int) -> int:
    """How many of `asked` began within a node on that thread."""
    running = intervals.union(intervals.of(nodes.take(nodes["thread"] == thread)))
    return int(intervals.contains(running, asked["start_ns"][asked["thread"] == thread]).sum())


def _trains(trace: Trace) -> bool:
    return bool(backward_mask(trace).any())
