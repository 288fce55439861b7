"""Figures of matplotlib that a cell opens and does not close, with the memory that grew while it drew."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.model.trace import Trace

_MAKING = frozenset(("figure", "subplots", "subplot_mosaic"))
_AGAIN = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class OpenFigures(Result):
    """`left`: figures that the cell opened and that were open when it had ended; `most` of them at a time. Both are 0
    where that was not looked at (`known` is False).

    `lines` (1-based) of the cell make figures in a loop or a function. `grown_bytes`: by how much the memory of the
    process grew in lines that draw; 0 where that is little, or unknown. `grown_lines`: those of them in the cell.
    """

    known: bool
    left: int
    most: int
    lines: tuple[int, ...]
    grown_bytes: int
    grown_lines: tuple[int, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what was seen of pyplot, the text, and the memory of the process."""
        figures, cell = trace.context.figures, trace.context.cell
        drawn = [each for each in results.get(CellMemory).grown if each.phase is Phase.PLOTTING]
        return cls(
            known=figures is not None,
            left=figures.left if figures else 0,
            most=figures.most if figures else 0,
            lines=_making_lines(cell.source) if cell else (),
            grown_bytes=sum(each.bytes for each in drawn),
            grown_lines=tuple(sorted({each.line for each in drawn if each.is_cell and each.line is not None})),
        )


def _making_lines(source: str) -> tuple[int, ...]:
    tree = parsed(source)
    blocks = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, _AGAIN)]
    calls = [node for block in blocks for node in ast.walk(block) if isinstance(node, ast.Call)]
    return tuple(sorted({call.lineno for call in calls if _name(call.func) in _MAKING}))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
