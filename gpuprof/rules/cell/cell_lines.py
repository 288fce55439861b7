"""Lines of the profiled cell, found in its text."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

from gpuprof.analyses.basics.result import Results


def lines_calling(results: Results, *names: str) -> tuple[int, ...]:
    """Lines, 1-based, whose code calls one of `names` (`empty_cache`); empty where the cell is not known.

    Read from the text, not parsed: a cell may hold IPython's own syntax. Comments do not count.
    """
    cell = results.context.cell
    if cell is None:
        return ()
    called = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\s*\(")
    lines = cell.source.splitlines()
    return tuple(number for number, line in enumerate(lines, 1) if called.search(line.partition("#")[0]))


# IPython's own lines, and what stands before them
MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


def loops_over_samples(source: str) -> tuple[int, ...]:
    """The line of the one loop in a loop that takes `x[i]` or `x[i, j]` by its own variable `i`.

    Of loops within one another the line of each. Empty where there is none or several beside one another, or where the
    cell is not plain Python but for magics.
    """
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    outer = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    inner = {node for each in outer for node in ast.walk(each) if isinstance(node, ast.For) and node is not each}
    found = sorted((node for node in inner if _takes_slices(node)), key=lambda node: node.lineno)
    nested = all(later in ast.walk(earlier) for earlier, later in pairwise(found))
    return tuple(node.lineno for node in found) if nested else ()


def elements_written(source: str) -> tuple[int, ...]:
    """The lines that give a value to `x[i]` or `x[j, i + 1]` by the variable `i` of the innermost loop around them.

    Empty if there is none, or if the cell, without its magics, is not valid Python.
    """
    try:
        tree = ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    found = set[int]()
    for loop in loops:
        variables, body = _names(loop.target), [node for each in loop.body for node in ast.walk(each)]
        deeper = {node for each in body if isinstance(each, ast.For) for node in ast.walk(each) if node is not each}
        found |= {
            node.lineno
            for node in body
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and node not in deeper
            if variables & _names(node.slice)
        }
    return tuple(sorted(found))


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _takes_slices(loop: ast.For) -> bool:
    variables = _names(loop.target)
    subscripts = [node.slice for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Subscript)]
    first = [index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index for index in subscripts]
    return any(isinstance(index, ast.Name) and index.id in variables for index in first)
