"""Only a small part of what is computed is read.

What it finds
    In the close look, operators of whose results at most half of the elements are needed by anything that follows, and
    that take 5% of the operators' time or more for the others: logits of all positions of which only the last one is
    used, a product of all pairs for its diagonal, rows that a mask or an index drops. What is needed is followed back
    through element-wise and row-wise operators, reductions, and matrix products.

Why it costs
    The elements that nobody reads cost as much as the others, in a training step three times: their gradients are zeros
    that the backward pass multiplies all the same.

What to do
    Take the part before the expensive operator, not behind it: `head(hidden[:, -1])` instead of
    `head(hidden)[:, -1]`. In the last layer of a transformer whose first or last position is read, keys and values need
    all positions, and queries, output and MLP only that one. The diagonal of a product is `(a * b).sum(-1)`. The first
    elements of a descending sort come from `x.topk(k)`, those of an ascending one from `x.topk(k, largest=False)`, and
    an SVD of a tall matrix takes `full_matrices=False`.

When to leave it
    When the part that is used is known only after the whole is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.demand.operator_names import DECOMPOSITIONS, plain
from gpuprof.analyses.demand.sort_orders import SortOrder, sort_order
from gpuprof.analyses.demand.unread_work import LineCalls, Unread, UnreadPlace
from gpuprof.rules.advice.reach import reach
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.unread import Amount, amount, at, elements, evidence, unread_unknown, weighed
from gpuprof.rules.saving.scope import graded

# of operators that a part of an iteration has to show it of: what one does, the next one may not
_OFTEN = 3
_SORTS = frozenset({"sort", "argsort", "msort"})
# of the time that a line takes: else it does more than that
_MOST = 0.5
_LEAVE_FACTORS = "Leave it when code outside of this cell reads the columns that are left out."
_PRODUCTS = frozenset(("mm", "bmm", "mv", "matmul", "dot"))
_LAYERS = frozenset(("addmm", "linear", "baddbmm"))


@dataclass(frozen=True)
class HardlyRead(Rule):
    """See the module."""

    guard = Guard.NUMERIC

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what is hardly read."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return self._seen_often(results) or lacking
        found = amount(results, Unread.PARTS)
        if found is None or found.share < self.work_share:
            return None
        return self._finding(results, found)

    def _seen_often(self, results: Results) -> Finding | None:
        """In a part of an iteration, what is surely the same each time; its share is that of its lines in the cell."""
        found = amount(results, Unread.PARTS, least_operators=_OFTEN)
        if found is None or not results.get(LookedTime).known:
            return None
        finding = self._finding(results, found)
        share = finding.saving.share if finding.saving is not None and finding.saving.of_cell else 0.0
        if share < self.work_share:
            return None
        return replace(finding, severity=min(finding.severity, graded(share, self.high_share, self.low_share)))

    def _finding(self, results: Results, found: Amount) -> Finding:
        first = found.places[0]
        where, calls = at(results, first.place), _calls(first.line)
        taken = f" {at(results, first.taken_at).capitalize()} takes them." if first.taken_at >= 0 else ""
        part = "Most" if first.line.share >= _MOST else "Part"
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"{part} of what {where} computes{calls} is never read",
            explanation=(
                f"Of the result of `{first.operator.rpartition('::')[2]}` at {where}, {elements(first)} are read"
                f"{calls}.{taken} The rest takes {units.percent(found.share)} of the operators’ time in the close look"
                f"{_backward(found.backward_share)}."
            ),
            evidence={**evidence(results, found), "backward_share": round(found.backward_share, 4)},
            change=_change(results, found),
            diff=_diff(results, first),
            leave_it=_LEAVE_FACTORS if plain(first.operator) in DECOMPOSITIONS else "",
        )
        return weighed(results, finding, found)


def _calls(line: LineCalls) -> str:
    """` in the last of 4 calls`; empty where it is so in all of them."""
    if line.unread >= line.calls:
        return ""
    if line.unread > 1:
        return f" in {line.unread} of {line.calls} calls"
    return f" in the last of {line.calls} calls" if line.last else f" in one of {line.calls} calls"


def _change(results: Results, found: Amount) -> str:
    first = found.places[0]
    where, name = f"{at(results, first.place)}{_calls(first.line)}", plain(first.operator)
    taken = f"what {at(results, first.taken_at)} takes" if first.taken_at >= 0 else "the part that is used"
    if name in DECOMPOSITIONS:
        return (
            f"Pass `full_matrices=False` at {where}: `torch.linalg.svd(A, full_matrices=False)`. The columns that it "
            "leaves out are those that nobody reads."
        )
    if name in _SORTS:
        return _unsorted(where, sort_order(results, first.largest))
    some_calls = first.line.unread < first.line.calls
    if first.line.attends or (some_calls and any(place.line.attends for place in found.places)):
        these = "this layer"
        if some_calls:
            these = "the last of these layers" if first.line.last and first.line.unread == 1 else "these layers"
        return (
            f"In {these}, compute queries, output and MLP only for {taken}, such as `h[:, -1:]`. Keys and values need "
            "all positions. A causal mask is then a tensor with the same rows, not `is_causal=True`."
        )
    if some_calls:
        return f"At {where}, select {taken} before the computation, not after it. The other calls need all of it."
    if first.line.share < _MOST:
        return (
            f"Inside what {where} calls, select {taken} before `{name}`, not after it: {_example(name)}. What comes "
            "before may need all of it."
        )
    begins = _first_of(found).place
    plain_way = f"Select {taken} before the computation at {at(results, begins)}, not after it: {_example(name)}."
    return _from_here(results, begins, first.taken_at) or plain_way


def _from_here(results: Results, begins: int, taken_at: int) -> str:
    """Where what chooses the part is not known at the computation; else empty."""
    lines, cell = results.get(LookedLines), results.context.cell
    computed, chosen = lines.line(begins), lines.line(taken_at)
    if cell is None or computed is None or chosen is None or not (computed.in_cell and chosen.in_cell):
        return ""
    found = reach(cell.source, computed.line, chosen.line)
    if found is None or not (found.function or found.late):
        return ""
    part = f"the part, `[{found.part}]`," if found.part else f"what line {chosen.line} takes"
    late = f" {_late_words(found.late)}" if found.late else ""
    if not found.function:
        return f"Select {part} before line {computed.line} computes the whole, not after it.{late}"
    return (
        f"Select {part} before line {found.call} calls `{found.function}()`, whose line {computed.line} computes the "
        f"whole, not after it: pass it only what the part needs. Where that is no index of its inputs, compute the "
        f"part in a function of its own; other calls of `{found.function}()` stay as they are.{late}"
    )


def _late_words(lines: tuple[int, ...]) -> str:
    several = f"Lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} make" if len(lines) > 1 else ""
    return f"{several or f'Line {lines[0]} makes'} the index: move that up, and take the shape from the input."


def _example(name: str) -> str:
    """How to select before an operator of that name."""
    if name in _PRODUCTS:
        return (
            "of a product take rows of the first matrix (`a[rows] @ b`), columns of the second (`a @ b[:, columns]`), "
            "or the diagonal alone (`(a * b.mT).sum(-1)`)"
        )
    if name in _LAYERS:
        return "for the last position, say, `head(hidden[:, -1])` instead of `head(hidden)[:, -1]`"
    return "`f(x[part])` instead of `f(x)[part]`"


def _first_of(found: Amount) -> UnreadPlace:
    """Of the places whose results the same line takes, the one that computes first."""
    alike = [each for each in found.places if each.taken_at == found.places[0].taken_at and each.rows]
    return min(alike, key=lambda each: min(each.rows), default=found.places[0])


def _unsorted(where: str, order: SortOrder | None) -> str:
    dim = f", dim={order.dim}" if order is not None else ""
    least, most = (f"`x.topk(k{dim}{largest})`" for largest in (", largest=False", ""))
    if order is None:
        first = f"{least} for the k smallest, {most} for the k largest"
    else:
        first, last = (most, least) if order.descending else (least, most)
        first = f"{first} for the first k of the sort, {last} for the last k (in reverse order)"
    return (
        f"Do not sort all of it at {where}: use {first}, and `x.kthvalue(k)` for the k-th smallest alone. They return "
        "`.values` and `.indices`. Equal values may come in another order."
    )


def _diff(results: Results, first: UnreadPlace) -> str | None:
    line, name = results.get(LookedLines).line(first.place), plain(first.operator)
    others = first.line.unread < first.line.calls
    if line is None or not line.in_cell or others or name not in (*DECOMPOSITIONS, *_SORTS):
        return None
    return cell_diff(results, lambda source: _edit(source, line.line, name))


def _edit(source: str, line: int, name: str) -> str | None:
    from gpuprof.code_edits.models.linear_algebra import reduced_svd, topk_instead

    return topk_instead(source, line) if name in _SORTS else reduced_svd(source, line)


def _backward(share: float) -> str:
    return f", {units.percent(share)} of it in backward passes" if share >= 0.01 else ""
