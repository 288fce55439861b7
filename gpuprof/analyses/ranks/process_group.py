"""The process group of an exchange, as far as the profiler tells it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class ProcessGroup:
    """`name` by torch and `description` by the program, both empty where not recorded; `ranks` None where not listed in
    full. `size` in ranks, -1 where not known. Of one group it is the same on every rank."""

    name: str = ""
    description: str = ""
    ranks: tuple[int, ...] | None = None
    size: int = -1

    @property
    def label(self) -> str:
        """What a reader can tell it by."""
        called = self.description if self.description not in ("", "undefined", "default_pg") else ""
        if self.description == "default_pg" or not (self.name or called):
            return "all ranks"
        listed = f" {list(self.ranks)}" if self.ranks is not None and len(self.ranks) <= 8 else ""
        return f"{called or f'group {self.name}'}{listed}"


def group_of(trace: Trace, row: int) -> ProcessGroup:
    """That of a row of `collectives`; -1: an unnamed group of all ranks."""
    found = trace.collectives
    if row < 0 or found["group"][row] < 0:
        return ProcessGroup(size=trace.source.world_size or -1)
    texts = {
        column: trace.names[found[column][row]] if found[column][row] >= 0 else ""
        for column in ("group", "group_description", "group_ranks")
    }
    ranks, size = _listed(texts["group_ranks"]), int(found["group_size"][row])
    if ranks is not None and size not in (-1, len(ranks)):
        ranks = None  # a long list is cut short
    return ProcessGroup(texts["group"], texts["group_description"], ranks, size)


def _listed(text: str) -> tuple[int, ...] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    whole = isinstance(found, list) and found and all(isinstance(rank, int) for rank in found)
    return tuple(found) if whole else None
