"""Gradients of a batch are computed row by row, each with a backward pass over the whole batch or graph.

What it finds
    In the close look, backward passes at one line that begin at one row of a result each, while the gradients of all
    other rows are zeros from there to the inputs or weights: 8 of them or more in one iteration, with 5% of the
    operators' time or more. A full Jacobian of which only each row's own derivatives can be other than zero is computed
    like that, and so are gradients of one sample at a time. Also calls of `autograd.grad` that go back through the same
    graph, one for each output, where their operators are so small that most of their time is overhead.

Why it costs
    Each pass multiplies the zeros of all other rows. For a batch of 128 rows that is 128 times the work, and with
    `create_graph=True` the graph of each pass is kept, and gone through again. Passes through one graph each launch
    all of its operators.

What to do
    Where a row of the result depends on the same row of the input alone, one pass has the derivatives of all rows:
    `torch.autograd.grad(out.sum(), x)`. That adds up the columns of `out`: where there are several, use
    `out[:, j].sum()` for each column `j`. For gradients of the weights per sample use
    `torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)`, with `randomness="different"` where
    the model has dropout. Where all outputs depend on the same inputs, one call of `torch.autograd.grad` with
    `is_grads_batched=True` takes the gradients of all of them.

When to leave it
    When rows depend on each other in another part of the model, as by batch normalization in training mode. When a
    `torch.autograd.Function` of your own is in the graph: batched gradients need its `vmap`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.recorded_parts import RecordedPart
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.rows.row_gradients import RowGradients
from gpuprof.analyses.training.shared_passes import SharedPasses
from gpuprof.model import intervals
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.looked import cell_lines, without_look
from gpuprof.rules.needless.unread import at
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.parts_of_operators import parts_left_out

_AT_LEAST = 0.6  # of the overhead


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
            return self._through_one_graph(results) or lacking
        share = found.share * found.saved_part
        if found.passes < self.passes or share < self.work_share:
            return None
        where, lines = at(results, found.place), cell_lines(results, (found.place,))
        graph = _graph(_calls(results, lines))
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
            where=Where(lines=lines),
            change=(
                f"Compute all rows in one backward pass in place of the loop at {where}: "
                f"`(gradient,) = torch.autograd.grad(out.sum(), x{graph})`, where `out` is what these "
                "passes start from, for all rows, and `x` its input, with `x.requires_grad_()` before `out` is "
                "computed. `gradient` has the shape of `x`: the derivatives of each row by its own input. If `out` "
                "has several columns, use `out[:, j].sum()` for each column `j`. For gradients of the weights per "
                "sample use `torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)`, with "
                '`randomness="different"` where the model has dropout.'
            ),
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, share, [found.rows], among, part=found.saved_part)

    def _through_one_graph(self, results: Results) -> Finding | None:
        """Calls of `autograd.grad` in a loop, whose operators are small."""
        found, scope = results.get(SharedPasses), Scope.of(results)
        during = intervals.intersect(found.during, scope.within)
        share, lines = scope.share(during.total_ns), results.get(LinePlaces).cell_lines(during)
        calls = [call for call in _calls(results, lines) if _name(call) == "grad"]
        batched = any(each.arg == "is_grads_batched" for call in calls for each in call.keywords)
        if share * found.saved_part < self.work_share or not calls or batched:
            return None
        where, on_device = f"line {calls[0].lineno}", results.get(DeviceActivity).primary is not None
        finding = Finding(
            rule=self.name,
            # the time on the host is not the device's
            severity=Severity.LOW if on_device else graded(share * found.saved_part, self.high_share, self.low_share),
            title=f"Gradients at {where} go through the same graph again and again, one output at a time",
            explanation=(
                f"`autograd.grad` at {where} is called for one output after another of the same graph: passes run its "
                f"nodes {units.count(found.passes)} times. That is {units.percent(share)} of {scope.words}, "
                f"{units.percent(found.saved_part)} of it the overhead of small operators. One call can do all of them."
            ),
            evidence={"runs_of_a_node": found.passes, "pass_share": round(share, 4)},
            where=Where(lines=lines, ranges_ns=worst(during)),
            change=(
                f"Call it once in place of the loop at {where}: `(rows,) = torch.autograd.grad(out, x, "
                f"torch.eye(len(out)).to(out), is_grads_batched=True{_graph(calls)})`, where `out` is the vector whose "
                "elements the loop differentiates, and `x` the input. `rows[i]` is the gradient of `out[i]`. For an "
                "`out` with more axes give one tensor of its shape for each call of the loop, stacked along a new "
                "first axis. It takes the memory of all gradients at once."
            ),
            saving=scope.saving(
                _AT_LEAST * found.saved_part * during.total_ns,
                found.saved_part * during.total_ns,
                during.total_ns,
                "estimate: small operators take their overhead once for all outputs",
                part_of=during,
            ),
        )
        edit = parts_left_out(results, [RecordedPart(during, found.saved_part)])
        return retimed(results, finding, edit, "simulated with the overhead of one pass through the graph")


def _graph(calls: Sequence[ast.Call]) -> str:
    """Where the gradients are differentiated again, the call has to keep their graph, as that in the text does."""
    return ", create_graph=True" if "create_graph" in {each.arg for call in calls for each in call.keywords} else ""


def _calls(results: Results, lines: Sequence[int]) -> list[ast.Call]:
    """In these lines of the cell."""
    cell = results.context.cell
    tree = parsed(cell.source) if cell is not None and lines else None
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    return [call for call in calls if any(call.lineno <= each <= (call.end_lineno or call.lineno) for each in lines)]


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
