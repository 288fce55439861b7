"""Gradients of a batch are computed row by row, each with a backward pass over the whole batch.

What it finds
    In the close look, backward passes at one line that begin at one row of a result each, while the gradients of all
    other rows are zeros from there to the inputs or weights: 8 of them or more in one iteration, with 5% of the
    operators' time or more. A full Jacobian of which only each row's own derivatives can be other than zero is computed
    like that, and so are gradients of one sample at a time.

Why it costs
    Each pass multiplies the zeros of all other rows. For a batch of 128 rows that is 128 times the work, and with
    `create_graph=True` the graph of each pass is kept, and gone through again.

What to do
    Where a row of the result depends on the same row of the input alone, one pass has the derivatives of all rows:
    `torch.autograd.grad(out.sum(), x)`. That adds up the columns of `out`: where there are several, use
    `out[:, j].sum()` for each column `j`. For gradients of the weights per sample use
    `torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)`, with `randomness="different"` where
    the model has dropout.

When to leave it
    When rows depend on each other in another part of the model, as by batch normalization in training mode.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines, UserLine
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.rows.row_gradients import RowGradients
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.looked import cell_lines, without_look
from gpuprof.rules.needless.unread import at
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class GradientsRowByRow(Rule):
    """See the module."""

    passes: float = threshold(8, "in one iteration: fewer may be a few outputs, each with its own gradient")
    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge passes that begin at one row each."""
        # a part of an iteration will do: so many passes of one line show by themselves what it does
        lacking = without_look(self.name, results, 0.0)
        found = results.get(RowGradients)
        if found.place < 0 or found.rows is None:
            return lacking
        share = found.share * found.saved_part
        if found.passes < self.passes or share < self.work_share:
            return None
        where = at(results, found.place)
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"Gradients at {where} are computed one row at a time",
            explanation=(
                f"{where[0].upper()}{where[1:]} calls {units.count(found.passes)} backward passes in one iteration of "
                f"the look, each from one row of {units.count(found.batch)}. The gradients of all other rows are zeros "
                f"to the end: no row depends on another. These passes take {units.percent(found.share)} of the "
                "operators’ time seen; one of them can have all rows."
            ),
            evidence={
                "passes": found.passes,
                "batch": found.batch,
                "pass_share": round(found.share, 4),
            },
            where=Where(lines=cell_lines(results, (found.place,))),
            change=(
                f"Compute all rows in one backward pass in place of the loop at {where}: "
                f"`(gradient,) = torch.autograd.grad(out.sum(), x{_graph(results, found)})`, where `out` is what these "
                "passes start from, for all rows, and `x` its input, with `x.requires_grad_()` before `out` is "
                "computed. `gradient` has the shape of `x`: the derivatives of each row by its own input. If `out` "
                "has several columns, use `out[:, j].sum()` for each column `j`. For gradients of the weights per "
                "sample use `torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)`, with "
                '`randomness="different"` where the model has dropout.'
            ),
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, share, [found.rows], among, part=found.saved_part)


def _graph(results: Results, found: RowGradients) -> str:
    """Where the gradients are differentiated again, the call has to keep their graph, as that in the text does."""
    line, cell = results.get(LookedLines).line(found.place), results.context.cell
    tree = parsed(cell.source) if cell is not None and line is not None and line.in_cell else None
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    kept = {each.arg for call in calls if _has_line(call, line) for each in call.keywords}
    return ", create_graph=True" if "create_graph" in kept else ""


def _has_line(call: ast.Call, line: UserLine | None) -> bool:
    return line is not None and call.lineno <= line.line <= (call.end_lineno or call.lineno)
