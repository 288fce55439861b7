"""What the names around a line stood for."""

from __future__ import annotations

from gpuprof.model.operands import Operand, Operands


def operands_at(seen: Operands | None, file: str, line: int) -> tuple[Operand, ...]:
    """Those of the innermost function around it, of each name the kind that was seen most."""
    around = [each for each in (seen.seen if seen else ()) if each.file == file and each.first <= line <= each.last]
    innermost = min((each.last - each.first for each in around), default=0)
    best: dict[str, Operand] = {}
    for each in sorted(around, key=lambda one: one.looks):
        if each.last - each.first == innermost:
            best[each.name] = each
    return tuple(best.values())
