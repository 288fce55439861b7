"""Whole statements: put before or after another, at the head of the cell, or into a `with` block."""

from __future__ import annotations

import itertools
from typing import Any

import libcst as cst

from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.tree import CellTree, Changes

Block = cst.Module | cst.IndentedBlock


def block_of(tree: CellTree, node: cst.CSTNode) -> Block | None:
    """The block in which a statement stands on a line of its own; None for `if x: statement`."""
    outer = tree.parent(node)
    return outer if isinstance(outer, Block) else None


def whole_statement(tree: CellTree, node: cst.CSTNode) -> cst.CSTNode | None:
    """The line of statements that a node is in; None where it is in the head of a compound one."""
    return tree.nearest(node, cst.SimpleStatementLine)


def after(node: cst.CSTNode, *codes: str) -> Changes:
    """These statements directly after that one."""
    return {node: lambda made: cst.FlattenSentinel([made, *map(cst.parse_statement, codes)])}


def at_head(tree: CellTree, *codes: str) -> Changes | None:
    """These statements after the imports and magics with which the cell begins; None for a cell without any other."""
    at = next((row for row, each in enumerate(tree.statements) if not _is_prelude(each)), None)
    if at is None:
        return None
    first = tree.statements[at]
    added: list[Any] = [cst.parse_statement(code) for code in codes]
    above = getattr(first, "leading_lines", ())
    if at > 0 and above and above[0].comment is None and not codes[0].startswith(("import ", "from ")):
        # the cell keeps an empty line between its imports and the rest: so does the statement
        added[0] = added[0].with_changes(leading_lines=[above[0]])
    return {first: lambda made: cst.FlattenSentinel([*added, made])}


def torch_at_head(tree: CellTree, code: str) -> Changes | None:
    """The same with a statement that says `torch`, which is imported first where the cell does not know it yet."""
    known = binds_torch_at_head(tree)
    if known is None:
        return None
    return at_head(tree, code) if known else at_head(tree, "import torch", code)


def in_with(block: Block, first: cst.CSTNode, last: cst.CSTNode, manager: str) -> Changes:
    """The statements of a block from `first` to `last` in `with manager:`; comments above them stay above."""
    begin, end = block.body.index(first), block.body.index(last) + 1

    def change(made: Any) -> Any:
        inner = list(made.body[begin:end])
        head = cst.With(
            items=[cst.WithItem(cst.parse_expression(manager))],
            body=cst.IndentedBlock([inner[0].with_changes(leading_lines=[]), *inner[1:]]),
            leading_lines=inner[0].leading_lines,
        )
        return made.with_changes(body=[*made.body[:begin], head, *made.body[end:]])

    return {block: change}


def binds_torch(tree: CellTree) -> bool:
    """Whether statements of the cell can say `torch`: it imports it on its first level, or an earlier cell did."""
    imports = _imports_of_torch(tree)
    if _is_other(tree):
        return False
    return any(tree.function(each) is None for each in imports) if imports else _says_torch(tree)


def binds_torch_at_head(tree: CellTree) -> bool | None:
    """Whether `torch` is bound already where `at_head` puts statements; None where the name is something else."""
    if _is_other(tree):
        return None
    imports = _imports_of_torch(tree)
    prelude = list(itertools.takewhile(_is_prelude, tree.statements))
    return any(tree.parent(each) in prelude for each in imports) if imports else _says_torch(tree)


def _imports_of_torch(tree: CellTree) -> list[cst.Import]:
    """`import torch`, `import torch.nn`; not `import torch.nn as nn`."""
    return [
        each
        for each in tree.all(m.Import())
        if any(alias.asname is None and tree.code(alias.name).split(".")[0] == "torch" for alias in each.names)
    ]


def _says_torch(tree: CellTree) -> bool:
    return any(name.value == "torch" for name in tree.names())


def _is_other(tree: CellTree) -> bool:
    torch = m.Name("torch")
    return bool(tree.all(m.AssignTarget(torch) | m.Param(torch) | m.AsName(name=torch)))


def _is_prelude(node: cst.CSTNode) -> bool:
    """Imports, the docstring, and what IPython alone understands."""
    alone = m.Import() | m.ImportFrom() | m.Expr(m.SimpleString())
    hidden = m.Expr(m.Name(value=m.MatchRegex(r"gpuprof_masked_\d+_")))
    return m.matches(node, m.SimpleStatementLine(body=[m.AtLeastN(alone | hidden, n=1)]))
