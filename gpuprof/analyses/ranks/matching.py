"""Which exchange of one rank is which of another one's: by their order within a process group, never by time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from gpuprof.analyses.ranks.alignment import DIFFERENT, align
from gpuprof.analyses.ranks.exchanges import Exchange
from gpuprof.analyses.ranks.process_group import ProcessGroup
from gpuprof.model.collectives import CollectiveKind

UNNAMED = "the recording names no process groups, and there is more than one"
MISSING = "some of its ranks recorded none"
ALONE = "no other rank of the group was loaded"
PEERS = "the recording does not say between which ranks"
# Here every rank of a group moves the same number of elements.
_EVEN = frozenset({CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER})

Sequences = Mapping[int, tuple[Exchange, ...]]


@dataclass(frozen=True)
class Corresponding:
    """Exchanges of one group that correspond: `rows[k][r]` is that of `ranks[r]`. `left_out[r]`: how many of a rank
    have no counterpart, because a recording began later or ended earlier."""

    group: ProcessGroup
    ranks: tuple[int, ...]
    rows: tuple[tuple[Exchange, ...], ...]
    left_out: tuple[int, ...]


@dataclass(frozen=True)
class Unmatched:
    """Exchanges of one group that cannot be compared: how many of all ranks together, and why."""

    group: ProcessGroup
    count: int
    reason: str


def match(of_rank: Sequences, *, groups_told: bool, steps_told: bool) -> tuple[list[Corresponding], list[Unmatched]]:
    """By group, each in the order in which the ranks first name it. `steps_told`: the steps' numbers are the program's
    own, so that they correspond."""
    members: dict[ProcessGroup, dict[int, list[Exchange]]] = {}
    between: dict[tuple[int, int], dict[int, list[Exchange]]] = {}
    lost: dict[ProcessGroup, int] = defaultdict(int)
    for rank, sequence in of_rank.items():
        for each in sequence:
            pair = (each.source, each.destination)
            if each.kind is not CollectiveKind.SEND_RECV:
                members.setdefault(each.group, {}).setdefault(rank, []).append(each)
            elif min(pair) >= 0 and rank in pair and pair[0] != pair[1]:
                between.setdefault(pair, {}).setdefault(rank, []).append(each)
            else:
                lost[each.group] += 1
    matched: list[Corresponding] = []
    unmatched: list[Unmatched] = []
    for group, found in members.items():
        reason = _why_not(group, found, set(of_rank), groups_told)
        _put(group, found, reason, steps_told, matched, unmatched)
    for pair, found in between.items():
        group = ProcessGroup(description=f"rank {pair[0]} → rank {pair[1]}", size=2)
        reason = "" if len(found) == 2 else MISSING if set(pair) <= set(of_rank) else ALONE
        _put(group, found, reason, steps_told, matched, unmatched)
    unmatched += [Unmatched(group, count, PEERS) for group, count in lost.items()]
    return matched, unmatched


def _why_not(group: ProcessGroup, found: Mapping[int, list[Exchange]], loaded: set[int], told: bool) -> str:
    """A reason not even to try; empty where there is none."""
    if not group.name and not told:
        return UNNAMED
    expected = loaded & set(group.ranks) if group.ranks is not None else set(found) if group.name else loaded
    if set(found) != expected or 0 < group.size < len(found):
        return MISSING
    return ALONE if len(found) < 2 else ""


def _put(
    group: ProcessGroup,
    found: Mapping[int, list[Exchange]],
    reason: str,
    steps_told: bool,
    matched: list[Corresponding],
    unmatched: list[Unmatched],
) -> None:
    ranks = tuple(sorted(found))
    answer = reason or _aligned([found[rank] for rank in ranks], steps_told)
    if isinstance(answer, str):
        unmatched.append(Unmatched(group, sum(map(len, found.values())), answer))
        return
    left_out = tuple(len(found[rank]) - len(answer) for rank in ranks)
    matched.append(Corresponding(group, ranks, tuple(answer), left_out))


def _aligned(sequences: list[list[Exchange]], steps_told: bool) -> list[tuple[Exchange, ...]] | str:
    numbered = all(each.number >= 0 for sequence in sequences for each in sequence)
    sized = {
        kind
        for kind in _EVEN
        if all(each.elements >= 0 for sequence in sequences for each in sequence if each.kind is kind)
    }

    def keys(exchanges: list[Exchange], steps: bool) -> list[Hashable]:
        return [
            (
                each.kind,
                each.elements if each.kind in sized else None,
                each.number if numbered else None,
                each.step if steps else None,
            )
            for each in exchanges
        ]

    places = align([keys(each, steps_told) for each in sequences]) if steps_told else DIFFERENT
    if isinstance(places, str):  # the ranks may have counted their steps from different numbers
        places = align([keys(each, False) for each in sequences])
    if isinstance(places, str):
        return places
    return [
        tuple(sequence[at] for sequence, at in zip(sequences, row, strict=True))
        for row in zip(*(each.tolist() for each in places), strict=True)
    ]
