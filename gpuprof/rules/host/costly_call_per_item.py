"""A library does again for each item, or in each iteration, what could be done once, for all, or seldom.

What it finds
    Lines that take 10% of the cell or more, in a loop or for each sample of a DataLoader, whose time goes to one of:
    pandas taking single items, regular expressions that are compiled, `copy.deepcopy`, files that are written, whole
    tensors that are formatted as text, figures that are drawn, calls with one and the same large object of a library (a
    graph, a search tree, a fitted model) in nested loops, calls that compute the same in each iteration, as nothing
    that they read depends on the loop, also within a function that a loop runs (a search tree that is built again for
    each query), and functions that are given one item of 32 or more at a time, though they take arrays: a point of a
    scatter plot, a row to predict, a row to average. Known by samples of the stack over the whole
    cell, by the text, and by the lengths of what loops go over. What runs once is left alone, except what is slow at
    any time: `torch.tensor` of a list of arrays, and calls that do far more than is used of them, such as a whole sort
    for the first few, `np.random.choice` that shuffles everything for a small draw, a direct convolution with a long
    kernel, an inverse that is multiplied, one system after the other with the same matrix. So are lines that compute
    with each element of a whole array, of which a part of half its size or less is taken afterwards.

Why it costs
    Such a call takes 10 µs to 100 ms, whatever small part of it is used, and if nobody reads its result.

What to do
    Turn tables into arrays once, before the loop. Compile one pattern for all words. Copy only what changes. Write and
    draw every so many iterations, and once after the loop. Ask for all results in one call. Compute what is read once
    after the loop there, or in the last iteration; compute what the loop does not change before it. Join a list of
    arrays with `np.stack` first. Give a function all items in one call. Use the algorithm that computes only what is
    used: `np.argpartition`, a generator's `choice`, a convolution by FFT, `solve`. Take the part of an array before
    computing on it.

When to leave it
    When each of these results is read, and the library has no call for many items at once.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpuprof.analyses.accounts.host_work import HostWork, WorkLine
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.wanted_work import copies_state, writes_items
from gpuprof.rules.host.operations import OF_ALL, Family, arrays_read
from gpuprof.rules.host.repeated_host_work import (
    RepeatedHostWork,
    best,
    is_nested,
    judged,
    object_words,
    often,
    repeated_work,
    source_of,
)

_TITLES = {
    Family.TABLE: "pandas looks up values or rows {often}",
    Family.PATTERN: "Regular expressions are compiled {often}",
    Family.CLONE: "`copy.deepcopy` copies objects {often}",
    Family.WRITE: "`{call}` writes files repeatedly",
    Family.TEXT: "Whole tensors or tables are formatted as text {often}",
    Family.PLOT: "Figures are drawn repeatedly",
    Family.LAST: "`{call}` runs repeatedly, but only its last result is used",
    Family.AGAIN: "`{call}` computes the same again in each iteration",
    Family.NUMBERS: "`{call}` reads a list of arrays number by number",
    Family.SAME: "`{call}` works through the same object ({kind}) {often}",
    Family.ITEMS: "`{call}` is called once for each item",
}
_CHANGES = {
    Family.TABLE: "Turn the columns that are needed into arrays once, before the loop (`to_numpy()`, "
    "`torch.from_numpy`), and index those.",
    Family.PATTERN: "Compile one pattern for all words once, before the loop (`re.compile('|'.join(map(re.escape, "
    "words)))`), or split the text and look each word up in a set.",
    Family.CLONE: "Copy only what changes, by hand (`[row[:] for row in rows]`, `copy.copy`), or change the object, "
    "use it and undo the change.",
    Family.WRITE: "Write every so many iterations, and once after the loop.",
    Family.TEXT: "Format only what somebody reads: pass the value itself to the logger (`log.debug('loss %s', x)`), "
    "which formats it only if the message is shown, and print a few numbers (`x.mean()`, `x.shape`).",
    Family.PLOT: "Draw every so many iterations or after the loop; keep the figure and change its data (`set_data`, "
    "`set_offsets`) instead of making it anew.",
    Family.LAST: "Compute it after the loop, or in the last iteration alone; to watch it, every so many iterations.",
    Family.AGAIN: "Call it before that loop and keep what it gives, in a list or a dict where an inner loop needs "
    "several results.",
    Family.NUMBERS: "Join the arrays in NumPy and hand over one: `torch.from_numpy(np.stack(arrays))`, with `.float()` "
    "or `.long()` where another type is meant.",
    Family.SAME: "Ask for all of it in one call, before the inner loop, if the library has one (`single_source_…`, "
    "`all_pairs_…`, `cdist`, `query` or `predict` with all rows).",
}
_LEAVE = {
    Family.TABLE: "Leave it when the loop changes the table in between.",
    Family.PATTERN: "Leave it when every call has another pattern.",
    Family.CLONE: "Leave it when every part of each copy is changed.",
    Family.WRITE: "Leave it when every one of these files has to be there, for example to resume from any iteration.",
    Family.TEXT: "Leave it when somebody reads each of these texts.",
    Family.PLOT: "Leave it when somebody looks at each of these figures.",
    Family.LAST: "Leave it when code outside of this cell reads the results in between.",
    Family.AGAIN: "Leave it when what it reads changes between the iterations.",
    Family.NUMBERS: "Leave it when the arrays differ in length.",
}
_WRITES_ITEMS = (
    "Put many items into one file: an array of all of them (`np.save` once, `np.memmap`), or files of a few hundred "
    "items each. Opening a file takes longer than writing a few numbers to it."
)
_CLONES_STATE = (
    "Make the copy once, and copy the values into it each time: `kept.load_state_dict(model.state_dict())` for a "
    "model, `copy_` for each tensor of a state dict. A shallow copy would share the tensors, and change with the model."
)
_COMPRESSES = "compressed"
_UNCOMPRESSED = (
    "Write without compression (`np.savez`): compressing takes time here, and again when the file is read. The files "
    "take more disk space. If the same file is written again and again, write it every few iterations."
)


@dataclass(frozen=True)
class CostlyCallPerItem(Rule):
    """See the module."""

    not_for = frozenset({KindOfRun.CAPTURE})
    guard = Guard.EXACT

    work_share: float = threshold(0.10, "of the cell: less is not worth a change")
    arrays_share: float = threshold(0.05, "of the cell, for lists of arrays: one call in one line mends that")
    medium_share: float = threshold(0.20, "of the cell without its imports: less matters little")
    high_share: float = threshold(0.40, "of the cell without its imports: then it is the first thing to change")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the lines with such a call."""
        if not results.get(HostWork).total_ns:
            return Abstention(
                self.name,
                "samples of the cell’s stack",
                "Profile the cell with `%%gpuprofile`; `gpuprof doctor` tells why none were taken.",
            )
        works = repeated_work(results, frozenset(Family) - OF_ALL)
        works = [each for each in works if each.operation.family is not Family.SAME or is_nested(each)]
        found = best(works, self.work_share)
        if found is None:
            found = best([each for each in works if each.operation.family is Family.NUMBERS], self.arrays_share)
        if found is None:
            return None
        family, operation = found.operation.family, found.operation
        kind = object_words(operation.over)
        title = operation.title or _TITLES[family].format(call=operation.call, kind=kind, often=often(found))
        most = Severity.MEDIUM if family is Family.SAME or not operation.sure else Severity.HIGH
        change, most = _change(results, found, most)
        finding = judged(results, self.name, found, title, change, (self.medium_share, self.high_share), most)
        finding = replace(finding, leave_it=_LEAVE.get(family, ""))
        return replace(finding, diff=_diff(results, found)) if family is Family.NUMBERS else finding


def _change(results: Results, found: RepeatedHostWork, most: Severity) -> tuple[str, Severity]:
    """The advice, and how severe it may be at most: files and copies that are wanted are a minor matter."""
    line, operation = found.first, found.operation
    source = source_of(results, line.file)
    nodes = expressions_at(source, line.line)
    if operation.family is Family.WRITE and operation.call.endswith(_COMPRESSES):
        return _UNCOMPRESSED, most
    if operation.family is Family.WRITE and writes_items(source, line.line, nodes):
        return _WRITES_ITEMS, Severity.LOW
    if operation.family is Family.CLONE and copies_state(nodes, _given_kind(line, nodes)):
        return _CLONES_STATE, min(most, Severity.MEDIUM)
    return operation.advice or _CHANGES[operation.family], most


def _given_kind(line: WorkLine, nodes: Sequence[ast.AST]) -> str:
    """The class of what `copy.deepcopy(x)` is given."""
    given = {dotted(each) for node in nodes if isinstance(node, ast.Call) for each in node.args[:1]}
    return next((each.kind for each in line.operands if each.name in given), "")


def _diff(results: Results, found: RepeatedHostWork) -> str | None:
    """Where all of it is in the profiled cell, by what the names stood for."""
    if not all(line.is_cell for line in found.lines):
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.stacked_arrays import stack_arrays

        given = [
            (line.line, text) for line in found.lines for text in arrays_read(line, expressions_at(source, line.line))
        ]
        return stack_arrays(source, given)

    return cell_diff(results, edit)
