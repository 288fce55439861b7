"""Rows that the loss leaves out are computed, and go through the backward pass.

What it finds
    In the close look, layers that compute rows of which at least 40% have no effect on the loss, because it ignores
    their targets (`ignore_index`) or a mask removes them: a masked language model that projects all positions to the
    vocabulary when 15% of them have a label, fine-tuning with labels of -100 for the prompt,
    `(loss * mask).sum() / mask.sum()`. These rows take 3% of the operators’ time or more. Only rows that are known in
    advance count, not those that the loss chooses by its own values, such as a hinge, a clipped ratio, or hard
    examples.

Why it costs
    Their losses are not read, and their gradients are zeros. The products of the forward and of the backward pass
    still multiply them, and the logits take memory.

What to do
    Select the rows before the layer, `head(hidden[labels != -100])` for an `ignore_index` of -100, and give the loss
    the same rows of the targets. Where a mask multiplied the losses, divide by the same number as before: `.mean()` of
    the selected rows divides by fewer. Sums are rounded in another order, so results change slightly.

When to leave it
    When the results of all rows are needed for something else, or shapes must stay the same from step to step, for
    example for a captured graph or `torch.compile`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.padded_positions import PaddedPositions
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.rows.idle_rows import IdleRows
from gpuprof.rules.advice.loss_text import targets_at
from gpuprof.rules.advice.reach import reach
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.looked import cell_lines
from gpuprof.rules.needless.unread import at, unread_unknown
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded, share_of

_MOST_PLACES = 3
# of what is wasted: else the forward pass is needed for something else
_FORWARD = 0.05


@dataclass(frozen=True)
class RowsWithoutEffect(Rule):
    """See the module."""

    idle_share: float = threshold(0.4, "of the rows have no effect: with fewer, selecting them hardly wins")
    work_share: float = threshold(0.03, "of the operators’ time goes to them: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the rows that a loss leaves out."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = results.get(IdleRows)
        part = share_of(found.wasted_ns, found.rows_ns)
        saved = part if found.forward_share >= _FORWARD else _of_backward(part)
        share = found.share * share_of(saved, part)
        # what is padding is told of the whole model
        idle = 1 - (1 - part) / (1 - _padded(results))
        if found.place < 0 or idle < self.idle_share or share < self.work_share:
            return None
        where = at(results, found.place)
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"{units.percent(1 - found.kept / found.rows)} of the rows computed at {where} do not enter the loss",
            explanation=_explained(results, found),
            evidence={
                "idle_share": round(part, 4),
                "operator_share": round(found.share, 4),
                "forward_share": round(found.forward_share, 4),
                "rows": found.rows,
                "rows_kept": found.kept,
                "operators": len(found.taken),
            },
            where=Where(lines=cell_lines(results, (found.place, found.dropped_at, *found.places[:_MOST_PLACES]))),
            change=_change(results, found),
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, share, [found.taken], among, part=saved)


def _of_backward(part: float) -> float:
    """Where all rows stay in the forward pass, those that count go through it twice; it takes half as long."""
    return max(part - (1 - part) / 2, 0.0)


def _padded(results: Results) -> float:
    """The share of all positions that are padding, 0..1."""
    loaders = [
        1 - known(each.tokens) / known(each.token_positions)
        for each in results.context.loaders
        if each.token_positions and each.tokens is not None
    ]
    return min(max([results.get(PaddedPositions).padded_share, *loaders]), 0.99)


def _explained(results: Results, found: IdleRows) -> str:
    where, dropped = at(results, found.place), at(results, found.dropped_at)
    how = "ignores the targets of" if found.ignored else "leaves out"
    forward = "forward and backward passes" if found.forward_share >= _FORWARD else "backward passes"
    return (
        f"{where[0].upper()}{where[1:]} computes {units.count(found.rows)} rows, and the loss at {dropped} {how} "
        f"{units.count(found.rows - found.kept)} of them. Their gradients are zeros. The {forward} of these rows take "
        f"{units.percent(found.share)} of the operators’ time in the close look."
    )


def _change(results: Results, found: IdleRows) -> str:
    where = at(results, found.place)
    mask, targets, labels = "mask", "targets[mask]", _labels(results, found) or "labels"
    if found.ignored:
        mask = f"{labels} != {'ignore_index' if found.ignored_index is None else found.ignored_index}"
        targets = f"{labels}[{mask}]"
    which = "" if found.ignored else " `mask` is true for the rows that count."
    if found.left_in:
        which += " Divide by the same number as before: `.mean()` of the selected rows divides by fewer."
    if found.forward_share < _FORWARD:
        return (
            f"Give the loss only the rows that count (of the last layer’s input, `hidden[{mask}]`) with `{targets}`, "
            f"and compute what else {where} is needed for under `torch.no_grad()`.{which}"
        )
    return (
        f"Select the rows that count before {at(results, found.from_place)} (`hidden[{mask}]` of what goes in), and "
        f"give the loss `{targets}`.{_handed(results, found)}{which} Sums are rounded in another order: "
        "results change slightly."
    )


def _labels(results: Results, found: IdleRows) -> str:
    line, cell = results.get(LookedLines).line(found.dropped_at), results.context.cell
    return targets_at(cell.source, line.line) if cell is not None and line is not None and line.in_cell else ""


def _handed(results: Results, found: IdleRows) -> str:
    """Where the rows are computed in a function that does not know which of them count."""
    lines, cell = results.get(LookedLines), results.context.cell
    computed, chosen = lines.line(found.from_place), lines.line(found.dropped_at)
    if cell is None or computed is None or chosen is None or not (computed.in_cell and chosen.in_cell):
        return ""
    labels = targets_at(cell.source, chosen.line)
    way = reach(cell.source, computed.line, chosen.line, (labels,)) if labels else None
    if way is None or not way.function:
        return ""
    return (
        f" `{way.function}()` does not know `{labels}`: pass it the mask in line {way.call}, as an argument that other "
        "calls leave out (`keep=None`)."
    )
