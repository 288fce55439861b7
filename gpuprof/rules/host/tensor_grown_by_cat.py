"""A tensor is made longer by `torch.cat` in each turn of a loop.

What it finds
    Ten turns or more in a row whose `aten::cat` joins the result of the one before with something new, so that all of
    it is copied again, for at least 5 % of the time. It is known by the shapes (`%%gpuprofile --shapes`), or by the
    cell's source where the line of each operator was followed. A tensor that other operators use whole in every turn,
    such as the keys and values that a decoder keeps, is left alone.

Why it costs
    The n-th turn copies n pieces: for a thousand pieces of one size that is five hundred times as much as joining them
    once. Each copy takes new memory as well and gives the old back.

What to do
    Collect the pieces in a list (`pieces.append(x)`) and join them after the loop (`torch.cat(pieces)`, with the same
    `dim`). The list begins with what the tensor began with; pieces that were put before the tensor are joined in
    reverse (`pieces[::-1]`). Where their number is known, make the whole tensor first and write each piece into its
    place.

When to leave it
    When every turn needs the whole tensor, or when the pieces are views of something much larger, which a list keeps
    alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.containers.joined_text import joined_text
from gpuprof.analyses.loops.grown_tensors import LEAST_TURNS, GrownTensor, GrownTensors
from gpuprof.analyses.run.launches import Launches
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.host_loops import cats_scaled
from gpuprof.whatif.predict import Range

# Joining all pieces once takes as long as the last turn. At worst the list costs as much twice over: the pieces take
# fresh memory, which in a loop that frees each of them they do not, and so does what they are joined to.
_LEFT_OF_LAST = (3, 1)
_BASIS = "all of it copied once, as in the last turn, instead of in each"


@dataclass(frozen=True)
class TensorGrownByCat(Rule):
    """See the module."""

    guard = Guard.EXACT
    whole_cell = True

    cat_share: float = threshold(0.05, "of the time judged: less is hardly worth a change")
    high_share: float = threshold(0.20, "of the time judged: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in cats that copy a growing tensor."""
        found, scope, activity = results.get(GrownTensors), Scope.of(results), results.get(DeviceActivity)
        inside = scope.inside(found.start_ns)
        if int(inside.sum()) < LEAST_TURNS or scope.share(int(found.cost_ns[inside].sum())) < self.cat_share:
            return None
        if activity.recorded is not None and activity.primary is None:
            return without_device(self.name, results, "the device’s time in `torch.cat`")
        if not found.known:
            return Abstention(
                self.name,
                "the shapes: much time is in `torch.cat`, but not whether one tensor grows by it",
                "Record the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
            )
        judged = (replace(tensor, cats=tensor.cats[inside[tensor.cats]]) for tensor in found.tensors)
        grown = [tensor for tensor in judged if len(tensor.cats) >= LEAST_TURNS]
        spent = sum(int(found.cost_ns[tensor.cats].sum()) for tensor in grown)
        compute = KernelTime.of(results)
        waits = compute is not None and not compute.computes and bool(np.isin(found.kernels, _places(grown)).any())
        if waits or scope.share(spent) < self.cat_share:
            return None
        finding = self._finding(results, grown, spent)
        return retimed(results, finding, _shorter(results, grown, spent), f"simulated with {_BASIS}")

    def _finding(self, results: Results, grown: Sequence[GrownTensor], spent: int) -> Finding:
        found, scope = results.get(GrownTensors), Scope.of(results)
        places, longest = _places(grown), grown[0]
        last = sum(int(found.cost_ns[tensor.cats[-1]]) for tensor in grown)
        share, during = scope.share(spent), found.during(places)
        lines = tuple(sorted({line for tensor in grown for line in tensor.lines}))
        shape = " × ".join(map(units.count, longest.shape or ()))
        grew = f", {shape} in the end," if shape else ""
        unread = "No other operator takes it" if shape else "Nothing else in the loop reads it"
        names = "A tensor grows" if len(grown) == 1 else "Tensors grow"
        least, usual = (spent - times * last for times in _LEFT_OF_LAST)
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{names} by `torch.cat` in each turn of a loop: {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.count(len(longest.cats))} times in a row a tensor{grew} was copied whole to make it longer. "
                f"All such copies took {units.duration(spent)}, the last of each {units.duration(last)}. {unread} "
                "between two turns."
            ),
            evidence={
                "cats": len(places),
                "growths": len(grown),
                "turns_in_a_row": len(longest.cats),
                "cat_ms": units.milliseconds(spent),
                "last_ms": units.milliseconds(last),
                "cat_share": round(share, 4),
                **({} if longest.dimension is None else {"dimension": longest.dimension}),
            },
            where=Where(lines=lines, ranges_ns=worst(during)),
            change=_change(results, grown, lines),
            diff=_diff(results, lines),
            saving=scope.saving(
                least, usual, usual + int(found.freeing_ns[places].sum()), f"estimate: {_BASIS}", part_of=during
            ),
        )


def _places(grown: Sequence[GrownTensor]) -> Array:
    """The cats of all of them, in order."""
    places: Array = np.sort(np.concatenate([np.empty(0, np.int64), *(tensor.cats for tensor in grown)]))
    return places


def _shorter(results: Results, grown: Sequence[GrownTensor], spent: int) -> Range:
    found, places = results.get(GrownTensors), _places(grown)
    last = sum(int(found.cost_ns[tensor.cats[-1]]) for tensor in grown)
    most, usual = (cats_scaled(results, places, min(times * last / spent, 1.0)) for times in _LEFT_OF_LAST)
    return Range(most, usual, usual)


def _change(results: Results, grown: Sequence[GrownTensor], lines: tuple[int, ...]) -> str:
    cell = results.context.cell
    text = joined_text(cell.source, lines) if cell is not None and lines else None
    if text is None:
        dimensions = {tensor.dimension for tensor in grown}
        known = next(iter(dimensions)) if len(dimensions) == 1 else None
        join = "`torch.cat(pieces)`, with the same `dim`" if known is None else f"`torch.cat(pieces, dim={known})`"
        join += " (`pieces[::-1]` where each piece is put before the tensor)"
    else:
        join = f"`{text.function}({'pieces[::-1]' if text.before else 'pieces'}{text.rest})`"
        join += ", in reverse, since each piece is put before the tensor" if text.before else ""
    begin = "" if text is not None and text.empty else " Begin the list with what the tensor began with"
    if begin:
        begin += "." if text is None else f": `pieces = [{text.name}]` before the loop."
    return f"Collect the pieces in a list in the loop (`pieces.append(x)`) and join them once after it: {join}.{begin}"


def _diff(results: Results, lines: tuple[int, ...]) -> str | None:
    """None for a run of CUDA graphs: each replay writes its results to the same memory, which a list would keep."""
    if not lines or results.get(Launches).graph_launches:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.joined_tensors import join_after_loop

        return join_after_loop(source, lines)

    return cell_diff(results, edit)
