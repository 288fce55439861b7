"""The backward pass computes gradients that nobody reads.

What it finds
    In the close look, gradients, and all that a backward pass computes on the way to them, that are zeroed, overwritten
    or freed before an optimizer or anything else reads them: 5% of the operators' time or more. Mostly a loss of one
    model whose input comes from another one without `.detach()`, such as a discriminator's loss on generated samples.
    Or gradients of weights that pile up, where only that of an input is read and no optimizer steps any more.

Why it costs
    A backward pass through a model takes about twice as long as its forward pass.

What to do
    Call `.detach()` on what goes from one model into the other, or compute it under `torch.no_grad()` where none of its
    gradients are used; call `.requires_grad_(False)` on parts that are not trained. Where gradients go through a model
    to another one, as in the generator's step of a GAN, `.detach()` would cut them: call `D.requires_grad_(False)`
    before the forward pass, and `D.requires_grad_(True)` after it.
    For the gradient of an input `torch.autograd.grad(loss, x)` computes that one alone.

When to leave it
    When something outside of torch uses these gradients.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.unread_ends import called_at, end_in_a_model, read_beside, rows_of
from gpuprof.analyses.demand.unread_work import Unread, UnreadPlace, UnreadWork
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.needless.looked import cell_lines
from gpuprof.rules.needless.repeated_diff import lines_of
from gpuprof.rules.needless.unread import Amount, all_at, amount, at, evidence, unread_unknown, weighed
from gpuprof.rules.saving.scope import graded
from gpuprof.rules.training.backward_text import gradient_of

# of the time of these gradients is for nothing: else some of them are read
_ALL = 0.99
_CREATES_GRAPH = re.compile(r"create_graph\s*=\s*True")
_OF_WEIGHTS = (
    "Ask for the gradients of the weights alone at {at}: `loss.backward(inputs=list({model}.parameters()))`{meant}. "
    "The inputs whose derivatives the loss needs then get no gradient that nobody reads."
)


@dataclass(frozen=True)
class UnreadGradients(Rule):
    """See the module."""

    guard = Guard.EXACT

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge gradients that are thrown away."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        found = amount(results, Unread.GRADIENTS)
        if found is None or found.share < self.work_share:
            return None
        calls, diff = all_at(results, found.lines), _diff(results, found)
        finding = Finding(
            rule=self.name,
            severity=graded(found.share, self.high_share, self.low_share),
            title=f"Backward at {at(results, found.places[0].place)} computes gradients that nobody reads",
            explanation=(
                f"Gradients that the backward pass at {calls} computes{_of(results, found)} {_fate(results)}. That is "
                f"{units.percent(found.share)} of the operators’ time in the iterations looked at."
            ),
            evidence=evidence(results, found),
            change=_change(results, found, shown=diff is not None),
            diff=diff,
        )
        return weighed(results, finding, found)


def _fate(results: Results) -> str:
    if results.get(UnreadWork).piled_up:
        return "are added to those of the passes before, and no optimizer uses them any more"
    return "are zeroed, overwritten or freed before an optimizer reads them"


def _differentiates_inputs(results: Results) -> bool:
    """Whether a loss needs derivatives of inputs, by the text: to detach them would take these away."""
    cell = results.context.cell
    return cell is not None and bool(_CREATES_GRAPH.search(cell.source))


def _change(results: Results, found: Amount, *, shown: bool) -> str:
    if results.get(UnreadWork).piled_up:
        return _alone(results, found)
    graph, unread = results.get(ValueGraph), rows_of(found.places)
    if not end_in_a_model(graph, unread) and _differentiates_inputs(results):
        return _for_weights(results, found)
    beside = {id(place): read_beside(graph, place, unread) for place in found.places}
    through = [place for place in found.places if len(beside[id(place)])]
    passed = [place for place in through if end_in_a_model(graph, rows_of([place]))]
    others = [place for place in found.places if place.forward_place >= 0 and place not in through]
    in_part = any(end_in_a_model(graph, beside[id(place)]) for place in passed)
    words = [_frozen(results, passed, in_part)] if passed else []
    if others or not passed:
        detach = _detach(results, others or list(found.places), shown=shown)
        words = [detach, *words] if found.places[0] in others else [*words, detach]
    return " ".join(words)


def _for_weights(results: Results, found: Amount) -> str:
    models = known_models(results)
    model, meant = (min(models), "") if len(models) == 1 else ("model", ", with the parameters of the optimizer")
    return _OF_WEIGHTS.format(at=at(results, found.places[0].place), model=model, meant=meant)


def _detach(results: Results, places: Sequence[UnreadPlace], *, shown: bool) -> str:
    """Without a graph at all only what no other loss goes back through. `shown`: a diff does it."""
    lines = all_at(results, [place.forward_place for place in places])
    rows = np.array([row for place in places for row in place.rows], np.int64)
    operators = results.get(ValueGraph).operators
    forward = operators["forward_operator"][rows]
    # a line within a model may be reached by other calls, too
    outermost = lines_of(results, forward[forward >= 0])[:1]
    alone = all(_is_unread(results, line, rows) for line in outermost)
    loss, given = at(results, places[0].place), f" from {lines}" if lines else ""
    if shown:
        return f"Compute what the loss at {loss} gets{given} without a graph, as the diff does."
    head = f"Detach what the loss at {loss} gets{given}, where it is passed on: `model(x.detach())`"
    if not alone:
        return f"{head}. Not within {lines}: other gradients through it are used." if lines else f"{head}."
    frozen = "" if lines else " Call `.requires_grad_(False)` on parts that this loss does not train."
    return f"{head}, or compute it under `torch.no_grad()`.{frozen}"


def _alone(results: Results, found: Amount) -> str:
    """With the loss and the tensor of the cell, where its text has both."""
    cell, lines = results.context.cell, cell_lines(results, [each.place for each in found.places[:1]])
    written = gradient_of(cell.source, lines[0]) if cell is not None and lines else None
    loss, x = written or ("loss", "x")
    meant = "" if written else ", where `x` is the tensor whose gradient is used"
    return (
        f"Ask for the gradient that is used alone: `(gradient,) = torch.autograd.grad({loss}, {x})` in place of "
        f"`{loss}.backward()` and `{x}.grad`{meant}. Or call `.requires_grad_(False)` on the model before this loop, "
        "and `.requires_grad_(True)` after it if the model is trained later."
    )


def _of(results: Results, found: Amount) -> str:
    lines = all_at(results, [place.forward_place for place in found.places])
    return f" for {lines}" if lines else ""


def _frozen(results: Results, places: Sequence[UnreadPlace], in_part: bool) -> str:
    """Of models that gradients only pass through; `in_part`: of which some parameters are trained."""
    lines = called_at(results.get(ValueGraph), places)
    where = f"before the forward pass at {all_at(results, lines)}"
    if in_part:
        return (
            f"Call `.requires_grad_(False)` on the parameters whose gradients nobody reads {where}; where another loss "
            "trains them, `.requires_grad_(True)` after it."
        )
    name = _model_at(results, lines)
    on, back = (f"`{name or 'D'}.requires_grad_({value})`" for value in (False, True))
    of = "" if name else ", where `D` is the model whose gradients nobody reads"
    return (
        f"Call {on} {where}, and {back} after it{of}. The loss at {at(results, places[0].place)} needs gradients "
        "through this model: do not detach them."
    )


def _model_at(results: Results, lines: Sequence[int]) -> str | None:
    """The one model that these lines of the cell call."""
    cell, models = results.context.cell, known_models(results)
    tree = parsed(cell.source) if cell is not None else None
    numbers = set(cell_lines(results, lines))
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)] if tree is not None else []
    names = {dotted(each.func) for each in calls if each.lineno in numbers} & models
    return names.pop() if len(names) == 1 else None


def _diff(results: Results, found: Amount) -> str | None:
    """Where one statement of the cell computes all that these gradients are of, and none of its gradients is read."""
    if results.get(UnreadWork).piled_up:
        return None
    unread = [place for place in found.places if place.wasted_ns >= _ALL * place.rows_ns]
    rows = np.array([row for place in unread for row in place.rows], np.int64)
    called = results.get(LookedLines).line(found.places[0].place)
    if not len(rows) or called is None or not called.in_cell:
        return None
    operators = results.get(ValueGraph).operators
    forward = operators["forward_operator"][rows]
    lines = [line for line in lines_of(results, forward[forward >= 0]) if _is_unread(results, line, rows)]
    return cell_diff(results, lambda source: _edit(source, lines, called.line))


def _is_unread(results: Results, line: int, unread: Array) -> bool:
    """Whether all gradients of what is computed at a line, with all that it calls, are among those."""
    graph = results.get(ValueGraph)
    operators, below = graph.operators, results.get(LookedLines).below("", line, line)
    # views cost nothing, so that nobody asks whether they are needed
    through = operators["backward"] & graph.making & np.isin(operators["forward_operator"], below)
    backward = np.flatnonzero(through)
    return len(backward) > 0 and bool(np.isin(backward, unread).all())


def _edit(source: str, lines: list[int], backward: int) -> str | None:
    from gpuprof.code_edits.loops.detached import without_graph

    return without_graph(source, lines, backward)
