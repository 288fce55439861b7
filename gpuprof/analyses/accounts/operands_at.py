"""What the names around a line stood for."""

from __future__ import annotations

from gpuprof.model.operands import Operand, Operands

_SEQUENCES = ("builtins.list", "builtins.tuple", "collections.deque")


def operands_at(seen: Operands | None, file: str, line: int) -> tuple[Operand, ...]:
    """Those of the innermost function around it, of each name the kind that was seen most."""
    best = {each.name: each for each in _innermost(seen, file, line)}
    return tuple(best.values())


def earlier_sequences(seen: Operands | None, file: str, line: int) -> tuple[Operand, ...]:
    """Lists and tuples that such names stood for more seldom: before `rows = torch.tensor(rows)` binds them anew."""
    around = _innermost(seen, file, line)
    best = {each.name: each for each in around}
    return tuple(each for each in around if each is not best[each.name] and each.kind in _SEQUENCES)


def _innermost(seen: Operands | None, file: str, line: int) -> list[Operand]:
    """Those of the innermost function around the line, the most seen last."""
    around = [each for each in (seen.seen if seen else ()) if each.file == file and each.first <= line <= each.last]
    innermost = min((each.last - each.first for each in around), default=0)
    return [each for each in sorted(around, key=lambda one: one.looks) if each.last - each.first == innermost]
