"""A matrix of almost only zeros is multiplied as a dense one.

What it finds
    In the close look, products with a matrix of which at least 97% of the elements are zeros, and that is the same in
    all looked-at iterations: the adjacency of a graph, features that are counts of words. It also finds matrices that
    are diagonal, or that have a single 1 in each row (one-hot), whether or not they are made anew. The products that
    this saves take 5% of the operators’ time or more. On a CPU the zeros are counted by default, on a GPU with
    `--inspect`.

Why it costs
    A dense product multiplies each zero. A sparse one takes 3 to 13 times as long for each element that is not zero
    (16 times are assumed), so that it wins where nearly all are zeros. A diagonal matrix only scales rows or columns,
    and one-hot rows only choose rows of the other matrix.

What to do
    Make it sparse once, where it is built: `A = A.to_sparse_csr()`; `A @ x` stays as it is where `x` is a matrix or a
    vector. `einsum` and an `x` of shape `(B, N, F)` need a product of two matrices:
    `(A @ x.transpose(0, 1).reshape(N, -1)).view(-1, B, F).transpose(0, 1)`. `A.T` needs a sparse matrix of its own,
    `A.T.contiguous().to_sparse_csr()`. Scale with `d[:, None] * x` instead of a product with a diagonal matrix. Index
    with `table[ids]` instead of a product with one-hot rows. Sums are rounded in another order, so results change
    slightly.

When to leave it
    When the matrix fills up later, is trained, or goes through element-wise operators that sparse tensors lack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.dataflow.zero_operands import ZeroOperand, ZeroOperands
from gpuprof.model.kinds import ZeroPattern
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.joined_operands import operand_names
from gpuprof.rules.needless.looked import IN_PART, SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.saving.of_looked_operators import share_of_cell, valued
from gpuprof.rules.saving.scope import graded

_MOST_LINES = 3
_TURNS = (".T", ".mT", ".t()")
_RECURRENT = re.compile(r"(\w+)\s*=\s*(?:torch\.)?nn\.(?:GRU|LSTM|RNN)\(")


@dataclass(frozen=True)
class MostlyZeros(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    zeros_share: float = threshold(0.97, "of the elements: with fewer zeros a sparse product hardly wins")
    saved_part: float = threshold(0.5, "of the products’ time: less is lost again in how well sparse products run")
    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the matrices whose zeros were counted."""
        lacking = without_look(self.name, results, self.seen_share)
        known = results.get(ZeroOperands)
        found = [each for each in known.operands if self._is_worth_it(each)]
        rows, among = [each.rows for each in found], np.ones(len(results.get(ValueGraph).operators), bool)
        part = sum(each.saved_ns for each in found) / max(sum(each.rows_ns for each in found), 1)
        share = worth = sum(each.share for each in found)
        if lacking is not None:
            worth = part * (share_of_cell(results, rows, among) or 0.0)
        if not found or worth < self.work_share:
            return lacking or self._uncounted(known)
        first = found[0]
        name = _name(results, first)
        where = _at(results, first.places[:1])
        places = tuple(dict.fromkeys(place for each in found for place in each.places))
        finding = Finding(
            rule=self.name,
            severity=graded(worth, self.high_share, self.low_share),
            title=f"{_title(name)} at {where} is multiplied as dense, and {_kind(first)}",
            explanation=_explained(results, first, name, share),
            evidence={
                "product_share": round(share, 4),
                "zeros_share": round(first.zeros_share, 6),
                "matrix": f"{first.rows_count}×{first.columns}",
                "elements_not_zero": first.nonzeros,
                "pattern": first.pattern.name.lower() if first.pattern else "none",
                "products": sum(each.count for each in found),
                "matrices": len(found),
            },
            where=Where(lines=cell_lines(results, places)),
            change=_change(first, name, where),
            diff=_diff(results, first),
        )
        if lacking is not None:
            finding = replace(finding, explanation=f"{finding.explanation} {IN_PART}")
        judged = valued(results, finding, share, rows, among, part=part)
        # those of torch take no indices: it would have to be written out
        return replace(judged, severity=Severity.LOW) if _is_in_recurrent(results, first) else judged

    def _is_worth_it(self, each: ZeroOperand) -> bool:
        if not each.places or each.saved_ns < self.saved_part * each.rows_ns:
            return False
        return each.pattern is not ZeroPattern.NONE or each.zeros_share >= self.zeros_share

    def _uncounted(self, known: ZeroOperands) -> Abstention | None:
        if known.uncounted_share < self.work_share:
            return None
        return Abstention(
            self.name,
            "how many elements of the multiplied matrices are zeros",
            "Profile the cell with `%%gpuprofile --inspect`: on a GPU zeros are counted on request.",
        )


def _is_in_recurrent(results: Results, each: ZeroOperand) -> bool:
    """Whether the line calls a recurrent module of torch."""
    cell = results.context.cell
    text = cell.source if cell is not None else ""
    lines, modules = text.splitlines(), set(_RECURRENT.findall(text))
    for place in each.places:
        line = results.get(LookedLines).line(place)
        if line is not None and line.in_cell and 0 < line.line <= len(lines):
            written = lines[line.line - 1]
            if any(re.search(rf"\b{re.escape(name)}\(", written) for name in modules):
                return True
    return False


def _kind(each: ZeroOperand) -> str:
    if each.pattern is ZeroPattern.DIAGONAL:
        return "is diagonal"
    return f"has {units.percent(each.zeros_share)} zeros" if each.pattern is ZeroPattern.NONE else "is one-hot"


def _at(results: Results, places: Sequence[int]) -> str:
    lines = list(dict.fromkeys(line_words(results.get(LookedLines).line(place)) for place in places))[:_MOST_LINES]
    return " and ".join([", ".join(lines[:-1]), lines[-1]] if len(lines) > 1 else lines)


def _title(name: str | None) -> str:
    return f"`{name}`" if name is not None else "A matrix"


def _name(results: Results, each: ZeroOperand) -> str | None:
    """What the cell calls it, where one of its lines is a product of two plain operands."""
    cell = results.context.cell
    for place in each.places if cell is not None else ():
        line = results.get(LookedLines).line(place)
        if cell is not None and line is not None and line.in_cell:
            names = operand_names(cell.source, line.line, (0, 1), (False, False))
            if names is not None:
                return names[0 if each.left else 1]
    return None


def _explained(results: Results, each: ZeroOperand, name: str | None, share: float) -> str:
    shape = f"{each.batch}×{each.rows_count}×{each.columns}" if each.batch > 1 else f"{each.rows_count}×{each.columns}"
    elements = each.batch * each.rows_count * each.columns
    kept = ", and stays the same in all looked-at iterations" if each.steady else ""
    words = {
        ZeroPattern.DIAGONAL: " All of them are on the diagonal.",
        ZeroPattern.ONE_HOT_ROWS: " They are ones, one in each row.",
        ZeroPattern.ONE_HOT_COLUMNS: " They are ones, one in each column.",
    }.get(each.pattern, "")
    return (
        f"{_title(name)} of {shape} at {_at(results, each.places)} has {units.count(each.nonzeros)} elements of "
        f"{units.count(elements)} that are not zero ({units.percent(1 - each.zeros_share)}){kept}.{words} "
        f"Leaving out the zeros saves {units.percent(share)} of the operators’ time in the close look."
    )


def _change(each: ZeroOperand, name: str | None, where: str) -> str:
    slightly = "Sums are rounded in another order: results change slightly."
    matrix = name if name is not None and name.isidentifier() else "A"
    if each.pattern is ZeroPattern.DIAGONAL:
        rows = f"{matrix}.diagonal()" if each.vector else f"{matrix}.diagonal()[:, None]"
        scaled = f"{rows} * x" if each.left else f"x * {matrix}.diagonal()"
        return f"Scale {'rows' if each.left else 'columns'} at {where} instead of multiplying: `{scaled}`. {slightly}"
    if each.pattern is ZeroPattern.ONE_HOT_ROWS and each.left:
        return (
            f"Index at {where} instead of multiplying: `table[ids]`, with the indices that `{matrix}` was made from "
            f"(`ids = {matrix}.argmax(-1)`)."
        )
    if each.pattern is not ZeroPattern.NONE:
        called = f"torch.zeros(...).index_add_({0 if each.left else 1}, ids, x)"
        if not each.left and each.pattern is ZeroPattern.ONE_HOT_COLUMNS:
            called = "x.index_select(1, ids)"
        return f"Use the index instead of the one-hot matrix at {where}: `{called}`. {slightly}"
    return f"{_sparse(each, name, matrix)} {slightly}"


def _sparse(each: ZeroOperand, name: str | None, matrix: str) -> str:
    """How to make it, and what becomes of the product."""
    # what has a name of its own is made sparse as it is
    turned, made = each.turned and matrix != name, f"`{matrix} = {matrix}.to_sparse_csr()`"
    if turned:
        matrix = next((name[: -len(end)] for end in _TURNS if name is not None and name.endswith(end)), matrix)
        made, matrix = f"`At = {matrix}.T.contiguous().to_sparse_csr()`", "At"
    if not each.plain:
        shape, product = "(B, N, F)", f"({matrix} @ x.transpose(0, 1).reshape(N, -1)).view(-1, B, F).transpose(0, 1)"
        if not each.left:
            shape, product = "(B, F, N)", f"(x.reshape(-1, N) @ {matrix}).view(B, F, -1)"
        return (
            f"Make it sparse once, where it is built: {made}. Sparse matrices have no `einsum` and no batched product. "
            f"For `x` of shape `{shape}` write `{product}`."
        )
    product = f"`{matrix} @ x`" if each.left else f"`x @ {matrix}`"
    if turned:
        return (
            f"Make the transposed matrix sparse once, where it is built: {made}, and use {product}. `.T` of a sparse "
            "matrix raises an error."
        )
    return f"Make it sparse once, where it is built: {made}; {product} stays as it is."


def _diff(results: Results, each: ZeroOperand) -> str | None:
    """Where the cell makes it once, under a name that nothing but products of it reads."""
    line = results.get(LookedLines).line(each.places[0])
    if line is None or not line.in_cell or each.batch > 1:
        return None
    return cell_diff(results, lambda source: _edit(source, line.line, each))


def _edit(source: str, line: int, each: ZeroOperand) -> str | None:
    from gpuprof.code_edits.models.linear_algebra import scale_instead, sparse_once

    if each.pattern is not ZeroPattern.DIAGONAL:
        return sparse_once(source, line) if each.left and each.pattern is ZeroPattern.NONE else None
    return scale_instead(source, line, left=each.left, vector=each.vector)
