"""What the items of a container hold that no text reads of them: `.optimizer`, `["logits"]`, `[0]`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof.analyses.containers.class_reads import ClassReads
from gpuprof.analyses.containers.container_reads import ContainerReads
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.memory import ItemPart

_CALL = "()"


@dataclass(frozen=True)
class UnreadParts:
    """`steps` to them from each item, whose type is `kind`, the most bytes first, and their `bytes`. `read`: what the
    texts read of the items, as it is written; a method with `()`. `models`: there are models among the parts."""

    steps: tuple[str, ...]
    kind: str
    bytes: int
    read: tuple[str, ...]
    models: bool = False


def unread_parts(
    texts: Sequence[str], name: str, function: str | None, parts: Sequence[ItemPart]
) -> UnreadParts | None:
    """Of a variable of `function` or (None) of the notebook; None where the texts may read all of its items, or nothing
    of them."""
    kinds = {each.kind for each in parts}
    trees = [tree for text in texts if (tree := parsed(text)) is not None]
    if len(kinds) != 1 or len(trees) < len(texts):
        return None
    kind = kinds.pop()
    read = ContainerReads(trees).of(name, function)
    if not read:
        return None
    steps = _steps_read(trees, kind, read)
    if steps is None:
        return None
    unread = [each for each in parts if each.step not in steps]
    by_place = all(each.step.startswith("[") for each in parts) and any(each.startswith(".") for each in read)
    if not unread or by_place:
        return None
    shown = tuple(sorted(each for each in read if f"{each}{_CALL}" not in read))
    size, models = sum(each.bytes for each in unread), any(each.model for each in unread)
    return UnreadParts(tuple(each.step for each in unread), kind, size, shown, models)


def _steps_read(trees: Sequence[ast.Module], kind: str, read: frozenset[str]) -> set[str] | None:
    """With what methods of its class read; None where that is not known."""
    found = {each.removesuffix(_CALL) for each in read}
    reads = ClassReads(trees)
    if reads.knows(kind):
        methods = {each.removeprefix(".") for each in found if not each.startswith("[")}
        attributes = reads.of(kind, methods)
        return None if attributes is None else found | {f".{each}" for each in attributes}
    # a method that is not in any text may read anything
    called = any(each.endswith(_CALL) for each in read)
    return None if called else found
