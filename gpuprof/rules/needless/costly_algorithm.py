"""An operator takes many times the operations of a standard alternative.

What it finds
    In the close look, operators at shapes for which torch has a faster way: a one-dimensional convolution with a
    kernel of hundreds or thousands of taps, an inverse that is only multiplied, the differences of all pairs of rows
    that are squared and summed, products of a matrix with a vector or of all pairs of rows that are summed, columns
    gathered from a large row-major matrix, systems with one matrix that are solved one by one. The way that runs takes
    about twice as long as the other one or more, by formulas fitted to measurements, and what that saves is 5% of the
    operators’ time or more. Also sums over all items that come before or after each one, by a comparison of all
    pairs. Where no look came to it: `torch.linalg.solve` in a loop that does not change its matrix.

Why it costs
    A direct convolution takes taps × samples operations, by the FFT it is samples × log(samples). An inverse takes
    three times as long as the factorization that solves the same system. Differences and products of all pairs are
    written and read several times before they are summed.

What to do
    Convolve with `torch.fft.rfft` and `irfft` at the length of signal and kernel together. Write
    `torch.linalg.solve(A, b)` for `torch.linalg.inv(A) @ b`, with `left=False` for `b @ torch.linalg.inv(A)`, and
    `torch.cholesky_solve` where A is symmetric and positive definite; several systems with one A share its factors.
    Use `torch.cdist(a, b)` for distances that are differentiated once at most, `A @ b` for `(A * b).sum(1)`. Sums are
    rounded in another order, so results change slightly.

When to leave it
    When results have to be the same to the last digit. When a kernel is short in other parts of the cell. Where
    distances of nearly equal rows need all digits, use `torch.cdist(..., compute_mode="donot_use_mm_for_euclid_dist")`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.costly_algorithms import Algorithm, CostlyAlgorithms, CostlyUse
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.memory.broadcast_then_reduced import BroadcastThenReduced
from gpuprof.rules.needless.looked import IN_PART, SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.reads.factored_again import factored_again
from gpuprof.rules.reads.order_masks import order_masks
from gpuprof.rules.saving.of_looked_operators import share_of_cell, valued
from gpuprof.rules.saving.scope import graded, worst


@dataclass(frozen=True)
class CostlyAlgorithm(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    cost_factor: float = threshold(2.0, "times the alternative, by shapes: what was measured on other CPUs may differ")
    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the operators that have a faster way; without such, what the text says of matrices."""
        found, again = self._of_look(results), factored_again(results)
        if not isinstance(found, Finding) and (sums := self._of_sums(results)) is not None:
            return sums
        if isinstance(found, Finding) or again is None or again.share < self.work_share:
            return found
        where = f"line {again.time.first}"
        return Finding(
            rule=self.name,
            severity=graded(again.share, self.high_share, self.low_share),
            title=_TITLES[Algorithm.FACTORED_AGAIN].format(where=where),
            explanation=again.explanation,
            evidence={"work_ms": units.milliseconds(again.time.ns), "work_share": round(again.time.share, 4)},
            where=Where(lines=(again.time.first,), ranges_ns=worst(again.time.during)),
            during=again.time.during,
            change=_CHANGES[Algorithm.FACTORED_AGAIN].format(where=where),
            saving=again.saving(),
        )

    def _of_sums(self, results: Results) -> Finding | None:
        """Sums over what comes before or after each item, by a comparison of all pairs."""
        cell = results.context.cell
        lines, graph = results.get(LookedLines), results.get(ValueGraph)
        for mask in order_masks(cell.source) if cell is not None else ():
            places = [at for at, each in enumerate(lines.lines) if each.in_cell and each.line in mask.lines]
            operators = graph.operators
            at = np.where(operators["backward"], operators["forward_place"], operators["place"])
            rows = np.flatnonzero(np.isin(at, places) & ~graph.view)
            share = float(operators["duration_ns"][rows].sum() / max(operators["duration_ns"].sum(), 1))
            if share * _SAVED_OF_SUMS < self.work_share:
                continue
            where = f"lines {', '.join(map(str, mask.lines))}"
            finding = Finding(
                rule=self.name,
                severity=graded(share * _SAVED_OF_SUMS, self.high_share, self.low_share),
                title=f"All pairs are compared at line {mask.line} for sums over one order: sort once",
                explanation=(
                    f"Line {mask.line} compares `{mask.key}` with itself, all pairs, and {where} sum over those that "
                    f"come before or after each item. With their gradients they take {units.percent(share)} of the "
                    "operators’ time in the close look."
                ),
                evidence={"operator_share": round(share, 4), "operators": len(rows)},
                where=Where(lines=mask.lines),
                change=_SORTED.format(key=mask.key, running=mask.running),
            )
            among = np.ones(len(operators), bool)
            return valued(results, finding, _SAVED_OF_SUMS * share, [rows], among, part=_SAVED_OF_SUMS)
        return None

    def _of_look(self, results: Results) -> Finding | Abstention | None:
        lacking = without_look(self.name, results, self.seen_share)
        costly = [each for each in results.get(CostlyAlgorithms).uses if each.factor >= self.cost_factor]
        if _is_differentiated_twice(results):
            # `cdist` has no second derivative
            costly = [each for each in costly if each.algorithm is not Algorithm.DIFFERENCES]
        if any(each.algorithm in _BROADCASTS for each in costly) and _is_told_of_memory(results):
            costly = [each for each in costly if each.algorithm not in _BROADCASTS]
        rows, among = [each.rows for each in costly], np.ones(len(results.get(ValueGraph).operators), bool)
        part = sum(each.saved_ns for each in costly) / max(sum(each.rows_ns for each in costly), 1)
        share = worth = sum(each.share for each in costly)
        if lacking is not None:
            worth = part * (share_of_cell(results, rows, among) or 0.0)
        if not costly or worth < self.work_share:
            return lacking
        first = costly[0]
        where = line_words(results.get(LookedLines).line(first.places[0]))
        places = tuple(dict.fromkeys(place for each in costly for place in each.places))
        finding = Finding(
            rule=self.name,
            severity=graded(worth, self.high_share, self.low_share),
            title=_TITLES[first.algorithm].format(where=where),
            explanation=" ".join(_explained(results, each) for each in costly[:2]),
            evidence={
                "operator_share": round(share, 4),
                "operator": first.operator,
                "shapes": first.shapes,
                "alternative_share": round(1 / first.factor, 4),
                "calls": sum(each.count for each in costly),
            },
            where=Where(lines=cell_lines(results, places)),
            change=_CHANGES[first.algorithm].format(where=where),
            diff=_diff(results, first),
        )
        if lacking is not None:
            finding = replace(finding, explanation=f"{finding.explanation} {IN_PART}")
        return valued(results, finding, share, rows, among, part=part)


# of the time of all pairs, where each item is then met once
_SAVED_OF_SUMS = 0.9
_SORTED = (
    "Sort once (`order = {key}.argsort(descending=True)` for sums over all that are as large or larger, without "
    "`descending` for smaller ones), and take running sums: `torch.{running}(x[order], 0)` in place of the mask and "
    "the sum over all pairs. Its results are in that order: index whatever they are combined with by `order`, too. "
    "Where values are equal, all of them get the result of the last one. Sums are rounded in another order: results "
    "change slightly."
)
# a derivative of a derivative, by the text
_TWICE = re.compile(
    r"create_graph\s*=\s*(?!False\b)|\bhessian\b"
    r"|\b(?:grad|jacrev|jacfwd|jacobian)\s*\(\s*(?:\w+\.)*(?:grad|jacrev|jacfwd|jacobian)\s*\("
)
_BROADCASTS = (Algorithm.DIFFERENCES, Algorithm.PRODUCTS)
_TITLES = {
    Algorithm.CONVOLUTION: "The long convolution at {where} is faster by FFT",
    Algorithm.INVERSE: "The inverse at {where} is only multiplied: solve instead",
    Algorithm.DIFFERENCES: "Distances at {where} go through all differences",
    Algorithm.PRODUCTS: "Products at {where} are written out to be summed: use a matrix product",
    Algorithm.COLUMNS: "Columns of a matrix are gathered at {where}: keep it transposed",
    Algorithm.FACTORED_AGAIN: "The same matrix is factored each time at {where}: factor it once",
}
_SLIGHTLY = "Sums are rounded in another order: results change slightly."
_CHANGES = {
    Algorithm.CONVOLUTION: (
        "Convolve by FFT at {where}: `k = weight.flip(-1)` (`conv1d` does not flip its kernel), "
        "`n = x.shape[-1] + k.shape[-1] - 1`, `X, K = torch.fft.rfft(x, n), torch.fft.rfft(k, n)`, "
        "`y = torch.fft.irfft(torch.einsum('bif,oif->bof', X, K), n)`; where each channel has its own kernel "
        "(`groups` is the number of channels) `y = torch.fft.irfft(X * K.squeeze(1), n)`. Of that keep "
        "`y = y[..., k.shape[-1] - 1 - padding : x.shape[-1] + padding]`; a bias is added as `bias.unsqueeze(-1)`. "
        + _SLIGHTLY
    ),
    Algorithm.INVERSE: (
        "Solve at {where}: `torch.linalg.solve(A, b)` instead of `torch.linalg.inv(A) @ b`, "
        "`torch.linalg.solve(A, b, left=False)` instead of `b @ torch.linalg.inv(A)`; "
        "`torch.cholesky_solve(b, torch.linalg.cholesky(A))` where A is symmetric and positive definite. The last two "
        "take no vector: give a row as `b[None]` and take `.squeeze(0)` of the result, a column as `b[:, None]` and "
        "`.squeeze(-1)`. " + _SLIGHTLY
    ),
    Algorithm.DIFFERENCES: (
        "Use `torch.cdist(a, b)` at {where}, which makes only the distances (`.square()` for squared ones, `p=1` for "
        "sums of absolute differences). Of a set with itself the diagonal is not exactly 0: use "
        "`compute_mode='donot_use_mm_for_euclid_dist'`, or `.fill_diagonal_(0)` where no gradient is needed. "
        + _SLIGHTLY
    ),
    Algorithm.PRODUCTS: (
        "Use a matrix product at {where}, which adds up without writing each product: `A @ b` instead of "
        "`(A * b).sum(1)`, `a @ b.T` instead of `(a[:, None] * b[None]).sum(-1)`, `torch.einsum` for other axes. "
        + _SLIGHTLY
    ),
    Algorithm.COLUMNS: (
        "Transpose the matrix once, before the loop (`x = x.T.contiguous()`), and take rows at {where}: `x[idx]` "
        "instead of `x[:, idx].T`. The numbers of a row are next to each other in memory, those of a column are not. "
        "Results stay the same. Where the layout has to stay, `x.index_select(1, idx)` is faster than "
        "`x[:, idx]`."
    ),
    Algorithm.FACTORED_AGAIN: (
        "Factor the matrix once, before the loop (`lu, pivots = torch.linalg.lu_factor(A)`), and solve at {where} with "
        "`torch.linalg.lu_solve(lu, pivots, b)`; `torch.linalg.cholesky` and `torch.cholesky_solve` where A is "
        "symmetric and positive definite. Both take no vector: give one column as `b[:, None]`, and take "
        "`.squeeze(-1)` of the result. Right-hand sides that are known together are columns of one solve. " + _SLIGHTLY
    ),
}
_WORDS = {
    Algorithm.CONVOLUTION: "convolves directly ({shapes})",
    Algorithm.INVERSE: "inverts a matrix of {shapes}",
    Algorithm.DIFFERENCES: "computes differences of {shapes}, and reduces each to one number",
    Algorithm.PRODUCTS: "computes products of {shapes}, and adds them up along one axis",
    Algorithm.FACTORED_AGAIN: "solves with a matrix that was factored before ({shapes})",
    Algorithm.COLUMNS: "gathers {shapes}, whose elements are far apart in memory",
}


def _explained(results: Results, each: CostlyUse) -> str:
    where = line_words(results.get(LookedLines).line(each.places[0]))
    what = _WORDS[each.algorithm].format(shapes=each.shapes)
    return (
        f"{where[0].upper()}{where[1:]} {what}, {units.plural(each.count, 'time')} in the close look. By its shapes "
        f"the alternative is about {units.factor(each.factor)} as fast, and saves {units.percent(each.share)} of the "
        "operators’ time."
    )


def _is_told_of_memory(results: Results) -> bool:
    """The same broadcast, by the memory that it takes."""
    return isinstance(BroadcastThenReduced().check(results), Finding)


def _is_differentiated_twice(results: Results) -> bool:
    """Whether the cell, or another one whose lines were followed, has second derivatives in its text."""
    context = results.context
    files = context.lines.files if context.lines is not None else ()
    texts = (context.cell.source if context.cell is not None else "", *(each.source for each in files))
    return any(_TWICE.search(line.partition("#")[0]) for text in texts for line in text.splitlines())


def _diff(results: Results, each: CostlyUse) -> str | None:
    line = results.get(LookedLines).line(each.places[0])
    if line is None or not line.in_cell or each.algorithm is not Algorithm.INVERSE:
        return None
    return cell_diff(results, lambda source: _solved(source, line.line))


def _solved(source: str, line: int) -> str | None:
    from gpuprof.code_edits.models.linear_algebra import solve_instead

    return solve_instead(source, line)
