"""Memory grows in the cell because results stay with their graphs, or a hook keeps activations.

What it finds
    Tensors that a name of the notebook holds at the end of the cell, or a name or variable at the peak of an
    evaluation, whose autograd graphs keep activations for a backward pass that has not run: many of them, a sum, or
    one whose graph makes most of the peak. And in training what a forward hook has stored in every step. Together they
    explain at least two fifths of what memory grew by, and are at least a fifth of its peak.

Why it costs
    The activations of every iteration stay in memory, not only those of the last one. Memory fills up, and until then
    it limits the batch size.

What to do
    Validation and embedding need no graph: `with torch.no_grad():` around the loop. In training keep `.detach()` of a
    result, or `.item()` of a single number. A hook should keep only what is needed, such as a mean of the detached
    output; empty its list after each step, and call `handle.remove()` when it is no longer needed.

When to leave it
    When a later cell calls `backward()` on these results, or the activations themselves are what the cell is for.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.analyses.memory.kept_memory import DeviceKept, KeptMemory, KeptTensors
from gpuprof.model.context import Cell
from gpuprof.rules.advice.graph_text import carried_behind, carried_into, derives
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.memory.device_memory import trains
from gpuprof.rules.memory.holder_words import number_held
from gpuprof.rules.memory.saved_memory import (
    HIGH_SHARE,
    LEAST_MIB,
    MEDIUM_SHARE,
    MIB,
    SavedMemory,
    place_of,
)

_NOTEBOOKS = ("ipykernel", "IPython")
_MOST_NAMES = 3
# held before the end
_EARLIER = ("frame", "peak")


@dataclass(frozen=True)
class MemoryKeptByHooksOrGraphs(Rule):
    """See the module."""

    guard = Guard.EXACT
    whole_cell = True

    tensors: float = threshold(6, "fewer do not show that each iteration leaves one")
    steps_share: float = threshold(0.9, "of the steps left an activation in what a hook fills")
    explained_share: float = threshold(
        0.4, "of the growth: the host loses memory between what stays; with less, something else is its main cause"
    )
    peak_share: float = threshold(0.2, "of the highest memory: less limits nothing")
    iterations_until_full: float = threshold(
        100_000, "more iterations would fill the memory: an ordinary run makes as many"
    )
    high_iterations: float = threshold(1_000, "more would fill it, in training: within one epoch of many runs")
    saved_mib: float = threshold(LEAST_MIB, "less limits nothing")
    one_share: float = threshold(MEDIUM_SHARE, "of the peak is the graph of one result, or goes away: then it limits")
    high_share: float = threshold(HIGH_SHARE, "of the peak goes away: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what was held against what memory grew by."""
        found, context = results.get(KeptMemory), results.context
        if not found.known:
            front_end = context.environment.front_end if context.environment else None
            if context.held is None and not (front_end or "").startswith(_NOTEBOOKS):
                return None
            return Abstention(
                self.name,
                "what the graphs of the notebook’s tensors keep",
                "This recording does not hold it; profile the cell again with `%%gpuprofile`.",
            )
        steps = max((optimizer.steps for optimizer in context.optimizers), default=0) if trains(results) else 0
        answers = [self._device(results, each, steps) for device in found.devices for each in _parts(device)]
        findings = [each for each in answers if isinstance(each, Finding)]
        if findings:
            # what is still there at the end is known better
            return max(findings, key=lambda each: ("function" not in each.evidence, each.evidence["kept_bytes"]))
        return next((each for each in answers if each is not None), None)

    def _device(self, results: Results, memory: DeviceKept, steps: int) -> Finding | Abstention | None:
        sizes = [(each, self._counted(each, steps, memory)) for each in memory.kept]
        kept = [each for each, size in sizes if size]
        total = sum(size for _, size in sizes)
        if not total:
            return None
        grown, peak = memory.grown_bytes, memory.peak_bytes
        if grown is None or not peak:
            return Abstention(
                self.name,
                f"how much the memory of {place_of(memory)} grew",
                "A cell of less than a second has too few readings; let it run for longer.",
            )
        if total < self.explained_share * grown or total < self.peak_share * peak:
            return None
        # what was held before the cell began did not make it grow
        if grown < self.explained_share * total:
            return None
        saved = SavedMemory.of(memory, total, refilled=any(each.refilled for each in kept))
        much = saved.saved_bytes >= self.saved_mib * MIB and saved.share >= self.one_share
        left = _iterations_left(memory, kept[0], self._counted(kept[0], steps, memory))
        if not much and (left is None or left > self.iterations_until_full):
            return None
        high = much and saved.share >= self.high_share
        high |= left is not None and left <= self.high_iterations and steps > 0
        severity = Severity.HIGH if high else Severity.MEDIUM
        cell = results.context.cell
        change = _change(kept[0], cell.source if cell is not None else "") + _others(kept, memory, cell)
        return replace(
            self._finding(memory, kept, total, left, saved, change), severity=severity, diff=_diff(results, kept)
        )

    def _counted(self, each: KeptTensors, steps: int, memory: DeviceKept) -> int:
        """The bytes that need not be there; 0 where it is not shown that each iteration leaves some."""
        if each.meant:
            return 0
        if each.hook and steps and each.tensors >= max(self.tensors, self.steps_share * steps):
            return each.bytes + each.graph_bytes
        if (each.summed or each.graphs >= self.tensors) and each.filled:
            return each.graph_bytes
        large = each.graph_bytes >= self.one_share * (memory.peak_bytes or 0)
        return each.graph_bytes if large and each.made and not each.backward else 0

    def _finding(
        self,
        memory: DeviceKept,
        kept: list[KeptTensors],
        total: int,
        left: int | None,
        saved: SavedMemory,
        change: str,
    ) -> Finding:
        first, grown = kept[0], memory.grown_bytes or 0
        explained = min(total / grown, 1.0) if grown else 1.0
        room = "" if left is None else f" There is room for {units.count(left)} more."
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM,
            title=_title(first, total),
            explanation=(
                f"The memory of {place_of(memory)} grew by {units.size(grown)} in this cell; "
                f"{units.percent(explained)} of it is in {_holders(kept)}. {saved.words()}{room}"
            ),
            evidence={
                "kept_bytes": total,
                "grown_bytes": grown,
                "explained_share": round(explained, 4),
                **saved.evidence(),
                "tensors": max(first.tensors, first.graphs),
                "names": ", ".join(each.name for each in kept[:_MOST_NAMES]),
                **({"hook": first.hook} if first.hook else {}),
                **({"function": first.function} if first.function else {}),
                **({"iterations_until_full": left} if left is not None else {}),
            },
            where=Where(lines=first.lines or first.made),
            change=change,
        )


def _parts(memory: DeviceKept) -> list[DeviceKept]:
    """What names held at the end; and what names and variables held at the peak, beside what had grown by then."""
    names = [each for each in memory.kept if each.kind not in _EARLIER]
    variables = [each for each in memory.kept if each.kind in _EARLIER]
    grown = max(memory.levels) - min(memory.levels) if memory.levels else memory.grown_bytes
    at_peak = replace(memory, kept=tuple(variables), grown_bytes=grown)
    return [replace(memory, kept=tuple(names)), *([at_peak] if variables else [])]


def _diff(results: Results, kept: list[KeptTensors]) -> str | None:
    """Of the name that keeps most, where all that it holds are tensors with a graph."""
    first = kept[0]
    if first.hook or first.kind != "global" or first.tensors != first.graphs:
        return None

    def edit(source: str) -> str | None:
        if carried_into(source, first.name) is not None:
            return None
        from gpuprof.code_edits.loops.kept_results import keep_without_graph

        return keep_without_graph(source, first.name, known_models(results))

    return cell_diff(results, edit)


def _iterations_left(memory: DeviceKept, first: KeptTensors, counted: int) -> int | None:
    number = max(first.tensors, first.graphs)
    if memory.free_bytes is None or first.summed or not number or not counted:
        return None
    # a state that each iteration computes from the one before has one graph, which is of all of them
    if not first.filled and not first.hook:
        return None
    return int(memory.free_bytes / (counted / number))


def _by_hook(first: KeptTensors) -> bool:
    return bool(first.hook) and first.bytes >= first.graph_bytes


def _title(first: KeptTensors, total: int) -> str:
    if first.hook:
        into = "" if first.kind == "hook" else f" in `{first.name}`"
        return f"The forward hook `{first.hook}` keeps {units.size(total)} of activations{into}"
    if first.summed:
        return f"`{first.name}` keeps the graph of every value added to it: {units.size(total)}"
    if not first.filled:
        return f"`{first.name}` keeps the graph of all that it was computed from: {units.size(total)}"
    return f"`{first.name}` keeps {units.plural(first.graphs, 'result')} with their graphs: {units.size(total)}"


def _holders(kept: list[KeptTensors]) -> str:
    return ", ".join(_holder(each) for each in kept[:_MOST_NAMES])


def _holder(each: KeptTensors) -> str:
    of = f", which the hook `{each.hook}`{f' of `{each.hooked}`' if each.hooked else ''} fills" if each.hook else ""
    holds = number_held(each) if _by_hook(each) else f"{units.plural(each.graphs, 'graph')}"
    where = f" of `{each.function}()`" if each.function else ""
    return f"`{each.name}`{where} ({holds}{of})"


def _others(kept: list[KeptTensors], memory: DeviceKept, cell: Cell | None) -> str:
    """What keeps graphs besides the first one, or is computed from it, and would go on holding what it shares with
    that."""
    first = kept[0]
    if first.hook or not first.graphs:
        return ""
    tree = parsed(cell.source) if cell is not None else None
    # variables of a function that runs within are gone when it returns, and training may need their graphs
    names = [
        f"`{each.name}`"
        for each in memory.kept
        if each.graphs and each is not first and not each.hook and each.function in (None, first.function)
        if each in kept or (not each.backward and tree is not None and _is_computed_from(tree, each.name, first.name))
    ][: _MOST_NAMES - 1]
    if not names:
        return ""
    return f" Do the same for {' and '.join(names)}: as long as one name keeps a graph, the memory stays."


def _is_computed_from(tree: ast.Module, name: str, other: str) -> bool:
    """`spread = 0.95 * spread + (err - level).abs()`, by the text."""
    given = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(getattr(each, "id", "") == name for each in node.targets)
    )
    return any(getattr(each, "id", "") == other for value in given for each in ast.walk(value))


_DERIVED = "`torch.no_grad()` does not work around `autograd.grad`."


def _change(first: KeptTensors, source: str) -> str:
    if first.hook:
        keep = "what is needed of `output.detach()`" if first.graphs else "what is needed of the output"
        return (
            f"Keep only {keep} in the hook `{first.hook}` (a mean, a sample), empty what it fills after each step, and "
            "call `remove()` on its handle when it is no longer needed."
        )
    derived = derives(source)
    if first.summed:
        values = "add `value.detach()` (or `value.item()`, which waits for the device)"
        if derived:
            return f"Where no backward pass follows, {values}. {_DERIVED}"
        return (
            f"Where no backward pass follows (an evaluation, sampling), run the loop that gives `{first.name}` its "
            f"values under `torch.no_grad()`, with all that it calls. In training, {values}."
        )
    state = (
        carried_into(source, first.name) if first.filled else carried_behind(source, first.name) if derived else None
    )
    if state is not None:
        copies = f", also where `{first.name}` keeps detached copies" if first.filled else ""
        return (
            f"Detach `{state.name}` after line {state.line} gives it a value: `{state.name} = {state.name}.detach()`. "
            f"Each turn computes it from the one before, so its graph holds all turns{copies}."
        )
    if not first.filled:
        if derived:
            return f"No backward pass begins at `{first.name}`: detach what it is computed from. {_DERIVED}"
        return (
            f"No backward pass begins at `{first.name}`: compute it, and what it is computed from, under "
            "`torch.no_grad()`, so that each intermediate result is freed after its use."
        )
    if derived:
        return (
            f"Store `result.detach()` in `{first.name}`, or `result.item()` of a single number, which waits for the "
            f"device. {_DERIVED}"
        )
    return (
        f"Compute what goes into `{first.name}` under `torch.no_grad()`, or store `result.detach()`. For a single "
        "number store `result.item()`, which waits for the device."
    )
