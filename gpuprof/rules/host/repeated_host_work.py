"""What the two rules about work on the host share: which lines do it, and the finding."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.host_work import HostWork, WorkLine, when
from gpuprof.analyses.accounts.library_callbacks import LibraryCallback
from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.demand.full_derivatives import FullDerivative
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.operands import Operand
from gpuprof.rules.base.finding import Finding, Saving, Severity, Where
from gpuprof.rules.cell.running_totals import running_totals
from gpuprof.rules.cell.unchanged_calls import UnchangedCall, unchanged_calls
from gpuprof.rules.cell.wanted_work import few_of_order, is_redrawn, is_stored_into
from gpuprof.rules.host.item_calls import item_call
from gpuprof.rules.host.operations import ALWAYS, Family, Operation, operation_of
from gpuprof.rules.host.shortcuts import cropped_operation, shortcut_of
from gpuprof.rules.reads.last_attributes import last_attributes
from gpuprof.rules.reads.last_results import last_results
from gpuprof.rules.reads.searched_items import searched_item
from gpuprof.rules.saving.scope import graded, share_of, worst

_NESTED = 2
# of a shorter list it takes hardly longer than once
_LONG = 16
_MOSTLY = 0.5
_CONTAINERS = ("builtins.list", "builtins.tuple")
# of these another table may say more
_BROAD = (None, Family.PLOT, Family.SAME)
_PLAIN = ("numpy.ndarray", "numpy.float", "numpy.int", "pandas.", "builtins.str", "builtins.int", "builtins.float")


@dataclass(frozen=True)
class RepeatedHostWork:
    """Lines of one function that do the same kind of thing, the longest first; `ns` of all, `share` of the cell."""

    operation: Operation
    lines: tuple[WorkLine, ...]
    ns: int
    share: float

    @property
    def first(self) -> WorkLine:
        """The longest."""
        return self.lines[0]


def repeated_work(results: Results, families: Collection[Family]) -> list[RepeatedHostWork]:
    """By family and function, the longest first. What runs once is left out."""
    work = results.get(HostWork)
    found: dict[tuple[Family, str, str], list[tuple[Operation, WorkLine]]] = {}
    for line in work.lines:
        repeated = line.depth > 0 or line.per_sample
        operation = _for_the_last(results, line) or _again(results, line) if repeated else None
        operation = operation or _operation(results, line)
        if operation is None or not (repeated or operation.family in ALWAYS):
            continue
        if operation.family in families:
            place = line.function if operation.line is None else str(operation.line)
            found.setdefault((operation.family, line.file, place), []).append((operation, line))
    groups = []
    for group in found.values():
        lines = tuple(line for _, line in group)
        ns = sum(line.ns for line in lines)
        groups.append(RepeatedHostWork(group[0][0], lines, ns, share_of(ns, work.total_ns)))
    return sorted(groups, key=lambda each: -each.ns)


def _operation(results: Results, line: WorkLine) -> Operation | None:
    """What the line does, by the first table that knows it."""
    source = source_of(results, line.file)
    nodes = expressions_at(source, line.line)
    total = _total(line, source)
    if total is not None:
        return total
    if line.depth or line.per_sample:
        cropped = cropped_operation(line, source, results.context.operands)
        if cropped is not None:
            return cropped
    found = _unless_wanted(line, nodes, source, results, operation_of(line, nodes))
    family = found.family if found is not None else None
    if family in (*_BROAD, Family.TABLE):
        shorter = shortcut_of(line, nodes, source)
        if shorter is not None:
            return shorter
    if family not in _BROAD or not line.depth:
        return found
    searched = searched_item(line, nodes, source)
    if searched is not None:
        return Operation(Family.SEARCH, f"in {searched.over.name}", searched.over, advice=searched.advice)
    seen = results.context.operands
    return item_call(line, nodes, source, lambda at: operands_at(seen, line.file, at)) or found


def _unless_wanted(
    line: WorkLine, nodes: Sequence[ast.AST], source: str, results: Results, found: Operation | None
) -> Operation | None:
    """None where the text shows that this work is meant."""
    if found is None:
        return None
    name, cell = found.over.name if found.over is not None else "", results.context.cell
    match found.family:
        case Family.ORDER:
            return found if few_of_order(source, nodes, name) else None
        case Family.MASK:
            return None if is_stored_into(source, line.line, name) else found
        case Family.PLOT:
            redrawn = is_redrawn(source, [line.line]) or is_redrawn(cell.source if cell else "", line.cell_lines)
            return found if redrawn else None
        case _:
            return found


def _total(line: WorkLine, source: str) -> Operation | None:
    """Where it adds up again, for each place, what the place before has added up."""
    for each in running_totals(source):
        over = next((one for one in line.operands if one.name == each.name and (one.most or 0) >= _LONG), None)
        if each.first <= line.line <= each.last and over is not None and over.most is not None:
            # on average half of it is gone through for each place
            return Operation(Family.TOTAL, f"sum of {each.name}", over, turns=over.most // 2)
    return None


def _for_the_last(results: Results, line: WorkLine) -> Operation | None:
    """Where all of it is done for a result of which only the last iteration's is read."""
    cell = results.context.cell
    for each in (*last_results(cell.source), *last_attributes(cell.source)) if cell else ():
        if any(each.first <= at <= each.last for at in line.cell_lines):
            return Operation(Family.LAST, each.call, line=each.first, loop=each.loop, names=each.names)
    return None


def _again(results: Results, line: WorkLine) -> Operation | None:
    """Where a loop around it computes the same again: nothing that the call reads depends on that loop."""
    cell, seen = results.context.cell, results.context.operands
    for each in unchanged_calls(cell.source) if cell else ():
        if any(each.first <= at <= each.last for at in line.cell_lines) and _takes_it(line, each):
            names = {one.name: one for one in operands_at(seen, _cell_file(results), each.first)}
            if all(name in names and _is_as_it_was(names[name], each) for name in each.unknown):
                turns = max(each.turns, _times(line, each))
                return Operation(Family.AGAIN, each.call, line=each.first, loop=each.loop, turns=turns)
    return None


def _takes_it(line: WorkLine, call: UnchangedCall) -> bool:
    """Whether the time of the line is that call's, where its statement computes something else as well."""
    name = call.call.rpartition(".")[2]
    return call.alone or any(share >= _MOSTLY and name in full.split(".") for full, share in line.below)


def _is_as_it_was(over: Operand, call: UnchangedCall) -> bool:
    return _is_plain_data(over) and (over.same or not call.function)


def _times(line: WorkLine, call: UnchangedCall) -> int:
    """How often that line was seen again after others: it was run so often at least."""
    return len(line.starts_ns) if call.first <= line.line <= call.last and line.is_cell else 0


def _cell_file(results: Results) -> str:
    stacks = results.context.stacks
    return next((each.filename for each in (stacks.files if stacks else ()) if each.kind == "cell"), "")


def _is_plain_data(over: Operand) -> bool:
    """Whether it is of numbers and texts: a model, or a generator of random numbers, keeps a state."""
    kind = over.items if over.kind in _CONTAINERS else over.kind
    return kind.startswith(_PLAIN)


def source_of(results: Results, file: str) -> str:
    """The text of a file that was sampled, as far as it is a cell's; empty for any other."""
    cell, stacks = results.context.cell, results.context.stacks
    found = next((each for each in (stacks.files if stacks else ()) if each.filename == file), None)
    if found is None or found.kind == "cell":
        return cell.source if cell and found is not None else ""
    return found.source


def is_nested(work: RepeatedHostWork) -> bool:
    """Whether it is for each item, not for each iteration alone."""
    return work.first.per_sample or work.first.depth >= _NESTED


def often(work: RepeatedHostWork) -> str:
    """`for each sample`, `for each item`; in one loop it may be in some iterations only: `repeatedly`."""
    if work.operation.family in ALWAYS and not work.first.depth and not work.first.per_sample:
        return "once"
    if work.operation.family is Family.AGAIN:
        return "repeatedly"
    if work.operation.family is Family.ITEMS:
        return "for each item"
    if work.first.per_sample:
        return "for each sample"
    return "for each item" if is_nested(work) else "repeatedly"


def line_of(line: WorkLine | LibraryCallback | FullDerivative) -> str:
    """`line 16`, `line 3 of In [2]`, `line 40 of model.py`."""
    if line.is_cell:
        return f"line {line.line}"
    if line.execution_count is not None:
        return f"line {line.line} of In [{line.execution_count}]"
    return f"line {line.line} of {line.file.replace(chr(92), '/').rpartition('/')[2]}"


def lines_of(work: RepeatedHostWork) -> str:
    """`Line 16 in encode`, `Lines 16, 17 and 20 in snapshot`: at most three."""
    first = work.first
    numbers = sorted({line.line for line in [each for each in work.lines if each.function == first.function][:3]})
    if len(numbers) > 1:
        text = (
            f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}{line_of(first).partition(str(first.line))[2]}"
        )
    else:
        text = line_of(first)
    named = first.function.rpartition(".<locals>.")[2]
    return text if named.startswith("<") else f"{text} in `{named}`"


def object_words(over: Operand | None) -> str:
    """`a list of 256 items`, `a DataFrame of 300,000 rows`, `a Graph`."""
    if over is None:
        return "an object"
    kind = over.kind.rpartition(".")[2]
    kind = "array" if kind == "ndarray" else kind
    article = "an" if kind[0] in "aeiouAEIOU" else "a"
    if over.most is None:
        return f"{article} {kind}"
    arrays = over.items == "numpy.ndarray"
    counted = "rows" if kind in ("DataFrame", "Series") else "arrays" if arrays else "items"
    return f"{article} {kind} of {units.count(over.most)} {counted}"


def judged(
    results: Results,
    rule: str,
    work: RepeatedHostWork,
    title: str,
    change: str,
    thresholds: tuple[float, float],
    most: Severity = Severity.HIGH,
) -> Finding:
    """The finding; `thresholds`: the shares of the cell, its imports left out, from which it is medium and high."""
    low, high = thresholds
    cell, over = results.get(HostWork), work.operation.over
    turns = work.operation.turns
    removed_ns = work.ns * (1 - 1 / turns) if turns else work.ns
    total_ns, counted = cell.total_ns, share_of(removed_ns, cell.total_ns - cell.imports_ns)
    left = (
        "what less work leaves of it"
        if work.operation.family in (Family.EXCESS, Family.TOTAL) and turns
        else "none of this work"
    )
    basis = f"upper bound: {left}, by sampled stacks"
    stacks = results.context.stacks
    assert stacks is not None
    error = float(share_error(np.array([work.share]), total_ns, stacks)[0])
    lines = sorted({each for line in work.lines for each in line.cell_lines})
    during = _when(results, work)
    seen = f" `{over.name}` is {object_words(over)}{_same(over)}." if over is not None else ""
    text = lines_of(work)
    verbs = ("run", "take") if text.startswith("lines") else ("runs", "takes")
    return Finding(
        rule=rule,
        severity=min(graded(counted, high, low), most),
        title=f"{title}: {units.percent(work.share)} of the cell",
        explanation=f"{text[0].upper()}{text[1:]} {verbs[0]} {often(work)} and {verbs[1]} {units.duration(work.ns)} of "
        f"the cell.{seen}{_called(work)}",
        evidence={
            "work_ms": units.milliseconds(work.ns),
            "work_share": round(work.share, 4),
            "error_share": round(error, 4),
            "operation": work.operation.call,
            "loops": work.first.depth,
            **_evidence(over),
        },
        where=Where(lines=tuple(lines), ranges_ns=worst(during)),
        during=during if len(during.starts) else None,
        change=change,
        saving=Saving(0.0, removed_ns, work.ns, share_of(removed_ns, total_ns), "C", basis, of_cell=True),
    )


def _when(results: Results, work: RepeatedHostWork) -> Intervals:
    """While these lines were seen; what takes most of the loading is meant by all waits for it."""
    seen = when(list(work.lines))
    if not work.first.per_sample or work.ns < _MOSTLY * results.get(HostWork).loading_ns:
        return seen
    waits = results.get(InputPipeline).waits
    return intervals.union(
        Intervals(np.concatenate((seen.starts, waits.starts)), np.concatenate((seen.ends, waits.ends)))
    )


def _same(over: Operand) -> str:
    return f", the same one in all of {units.count(over.looks)} looks" if over.same and over.looks > 1 else ""


def _called(work: RepeatedHostWork) -> str:
    first, line = work.first, work.operation.line
    if line is not None:
        calls = "" if line in [each.line for each in work.lines] else f"Line {line} calls it: "
        if work.operation.family is Family.AGAIN:
            nothing = "nothing" if calls else "Nothing"
            return (
                f" {calls}{nothing} that `{work.operation.call}` is given depends on the loop in line "
                f"{work.operation.loop}, so that its results are the same in each iteration."
            )
        names = " and ".join(f"`{name}`" for name in work.operation.names)
        return (
            f" {calls}{names} get{'s' if len(work.operation.names) == 1 else ''} a value in each "
            f"iteration of the loop in line {work.operation.loop}, and only the last one is read."
        )
    if not first.first or first.first.startswith("<") or 2 * first.own_share > 1:
        return ""
    return f" Most of it is in `{first.first}`."


def _evidence(over: Operand | None) -> dict[str, float | int | str]:
    if over is None:
        return {}
    found: dict[str, float | int | str] = {"object": over.name, "object_kind": over.kind, "looks": over.looks}
    return {**found, **({"length": over.most} if over.most is not None else {})}


def best(works: Sequence[RepeatedHostWork], least: float) -> RepeatedHostWork | None:
    """The largest, where it is at least that share of the cell."""
    return works[0] if works and works[0].share >= least else None
