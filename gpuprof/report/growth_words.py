"""Growth of memory by phase, in the words that every view uses."""

from __future__ import annotations

from collections.abc import Iterator

from gpuprof.analyses.accounts.memory_by_phase import BY_NAMES, MemoryByPhase, PlaceGrowth
from gpuprof.units import size

_LEAST_SHARE = 0.02


def memory_place(each: PlaceGrowth) -> str:
    """`the process` or `cuda:0`."""
    return "the process" if each.place == "process" else each.place


def change(number: int) -> str:
    """`12 MiB`, or `-12 MiB` for what was freed."""
    return size(number) if number >= 0 else f"-{size(-number)}"


def memory_parts_of(each: PlaceGrowth) -> Iterator[tuple[str, int]]:
    """`(words, bytes)`: growth in each phase, then what is known of the end, and the rest."""
    yield from ((f"grew in: {phase.value}", grown) for phase, grown in each.phases)
    yield from ((f"at the end: {part}", number) for part, number in each.parts)
    yield "at the end: the rest", each.rest_bytes


def growth_words(found: MemoryByPhase) -> str:
    """`The memory of cuda:0 grew by 2.00 GiB in all: 1.90 GiB in evaluation. Of 2.10 GiB at the end:
    parameters 40 MiB, …`; the second sentence only where more than the rest is known."""
    return " ".join(_words(each) for each in found.places)


def _words(each: PlaceGrowth) -> str:
    grown = ", ".join(f"{change(number)} in {phase.value}" for phase, number in each.phases)
    known = [
        f"{part} {size(number)}{_names_of(each) if part == BY_NAMES else ''}"
        for part, number in each.parts
        if number >= _LEAST_SHARE * each.end_bytes
    ]
    growth = f"The memory of {memory_place(each)} grew by {size(each.grown_bytes)} in all: {grown}."
    if not known:
        return f"{growth}{_earlier(each)}"
    if each.rest_bytes >= _LEAST_SHARE * each.end_bytes:
        known.append(f"the rest {size(each.rest_bytes)}")
    return f"{growth} Of {size(each.end_bytes)} at the end: {', '.join(known)}.{_earlier(each)}"


def _earlier(each: PlaceGrowth) -> str:
    """` Before the end `rows` in `collect()` held 300 MiB.`; nothing where names at the end hold as much."""
    at_end = sum(number for _, number in each.names)
    if not each.earlier or sum(number for _, number in each.earlier) <= at_end:
        return ""
    held = ", ".join(f"{variable(name)} {size(number)}" for name, number in each.earlier)
    return f" Before the end, variables of a function held: {held}."


def variable(name: str) -> str:
    """`rows` in `collect()`, each as code."""
    return " in ".join(f"`{part}`" for part in name.split(" in ", 1))


def _names_of(each: PlaceGrowth) -> str:
    """` (`snapshots` 393 MiB)`"""
    names = ", ".join(f"`{name}` {size(number)}" for name, number in each.names)
    return f" ({names})" if names else ""
