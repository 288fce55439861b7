"""A statement makes the same value again and again, with whatever library.

What it finds
    Statements of which 8% of the cell goes to making, with all that they call, a new object whose content was there
    before: for a variable, an attribute of `self`, or an argument of a function of yours. Features that each trial of a
    search builds anew, preprocessing that is fitted again for each point of a grid, a table that is read from disk in
    each round. Contents are compared by a fingerprint. Where a result was not seen, its inputs count, if the text says
    that the same inputs give the same result: a file that is read again for each of its rows, a part of a sample that
    each pass over the data computes again, a function of yours that each epoch calls for the same items.

Why it costs
    The result is known already. Everything that leads to it is done for nothing.

What to do
    Compute it once, before the loop that repeats it, and pass it on; where there are several contents, keep one for
    each of them in a dict, or with `functools.cache` where all arguments are numbers, strings or tuples of them: arrays
    and lists raise there, tensors are never equal. What seeds generators on the way must be seeded as before.

When to leave it
    When the values differ at other times than those that were looked at, or the call does something else that is
    needed: it resets a simulation, it waits for a device. When what is kept does not fit into memory. A cell that times
    its calls repeats them on purpose.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.lines.remade_values import RemadeValue, RemadeValues
from gpuprof.analyses.lines.statements import imported_names
from gpuprof.analyses.loops.written_loops import parsed
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_bindings import LIBRARIES
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.effects import seeds
from gpuprof.rules.cell.repeatable import RepeatableReads
from gpuprof.rules.cell.timed_calls import only_repeats, times_its_calls
from gpuprof.rules.reads.items_made_again import ItemsMadeAgain, items_made_again
from gpuprof.rules.saving.scope import graded, worst

_DATA = ("numpy.", "pandas.", "scipy.", "sklearn.", "torch.Tensor", "torch.nn.", "builtins.")
_AT_WORST = 0.7
# more is not kept lightly
_MOST_KEPT_BYTES = 2 << 30


@dataclass(frozen=True)
class ValueMadeAgain(Rule):
    """See the module."""

    guard = Guard.EXACT

    work_share: float = threshold(0.08, "of the cell is made again: less is not worth keeping results")
    low_share: float = threshold(0.10, "of the cell is made again: less matters little")
    high_share: float = threshold(0.30, "of the cell is made again: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the statement of which most is made again."""
        found = results.get(RemadeValues)
        if not found.total_ns:
            return Abstention(
                self.name,
                "samples of the cell’s stack",
                "Profile the cell with `%%gpuprofile`; `gpuprof doctor` tells why none were taken.",
            )
        values = (each for each in found.values if not each.inputs or _gives_the_same(results, each))
        value = max(values, key=lambda each: each.again * each.share, default=None)
        again = value.again * value.share if value is not None else 0.0
        items = items_made_again(results, self.work_share)
        if items is not None and items.share > again:
            return self._of_items(results, items) if items.share >= self.work_share else None
        if value is None or again < self.work_share:
            return None
        share, text = value.again * value.share, _named(value)
        severity = graded(share, self.high_share, self.low_share)
        return Finding(
            rule=self.name,
            severity=Severity.LOW if _for_a_reason(results, value) else severity,
            title=f"The same value is computed again and again: {units.percent(value.share)} of the cell",
            explanation=_explanation(value, text),
            evidence={
                "work_ms": units.milliseconds(value.ns),
                "work_share": round(value.share, 4),
                "made": value.made,
                "contents": value.contents,
                "value_bytes": value.bytes,
            },
            where=Where(lines=value.cell_lines, ranges_ns=worst(value.during)),
            during=value.during,
            change=_change(value, text) + _seeding(results, value),
            diff=_diff(results, value),
            looked_rows=results.get(LookedLines).below(value.file, value.first, value.last),
            saving=_saving(value, share),
        )

    def _of_items(self, results: Results, found: ItemsMadeAgain) -> Finding:
        lines = tuple(range(found.time.first, found.time.last + 1))
        device = results.get(DeviceActivity).primary is not None
        return Finding(
            rule=self.name,
            # the time on the host is not the device's
            severity=Severity.LOW if device else graded(found.share, self.high_share, self.low_share),
            title=found.title,
            explanation=found.explanation,
            evidence={
                "work_ms": units.milliseconds(found.time.ns),
                "work_share": round(found.time.share, 4),
                "made": found.items.passes,
                "contents": 1,
            },
            where=Where(lines=lines, ranges_ns=worst(found.time.during)),
            during=found.time.during,
            change=found.change,
            looked_rows=results.get(LookedLines).below("", found.time.first, found.time.last),
            saving=found.saving(),
        )


def _explanation(value: RemadeValue, text: str) -> str:
    where = f"{_line(value)}{f' in `{value.function}`' if value.function else ''}"
    # of what is handed on only the call is meant, not the line
    subject = f"in {where}, `{value.call}`" if value.handed_to else f"{where} (mostly `{value.call}`)"
    takes = f"{_capital(subject)} takes {units.duration(value.ns)}, {units.percent(value.share)} of the cell."
    if value.inputs:
        depend = "depends" if len(value.names) == 1 else "depend"
        if value.counted:
            return (
                f"{takes} {_capital(text)} {depend} on {_inputs(value)} alone, and each pass over the data asks for "
                f"the same ones: about {units.count(value.made)} samples were read of {units.count(value.contents)}."
            )
        return (
            f"{takes} {_capital(text)} {depend} on {_inputs(value)} alone. In {value.made} calls that were looked at, "
            f"{_inputs(value)} had only {units.plural(value.contents, 'different value')}."
        )
    was = "was" if len(value.names) == 1 else "were"
    several = f"with only {value.contents} different contents"
    contents = "always with the same content" if value.contents == 1 else several
    return (
        f"{takes} {_capital(text)} {was} computed at least {value.made} times, {contents} "
        f"({value.kind}, {units.size(value.bytes)})."
    )


def _saving(value: RemadeValue, share: float) -> Saving:
    basis = "estimate: the sampled time of this statement, less that for each content once"
    central_ns = value.again * value.ns
    return Saving(_AT_WORST * central_ns, central_ns, value.ns, share, "C", basis, of_cell=True)


def _for_a_reason(results: Results, value: RemadeValue) -> bool:
    """Whether the call may do something else that is needed, or is repeated on purpose."""
    cell = results.context.cell
    if cell is not None and not results.context.optimizers and times_its_calls(cell.source):
        return True
    tree = parsed(cell.source) if cell is not None and not value.file else None
    if tree is not None and only_repeats(tree, value.first):
        return True
    if value.contents * value.bytes > _MOST_KEPT_BYTES:
        return True
    # the time on the host is not the device's
    return results.get(DeviceActivity).primary is not None or not _is_of_data(results, value)


def _is_of_data(results: Results, value: RemadeValue) -> bool:
    """Whether it is a function, or a method of data or of a library's object: another object may keep a state."""
    stacks = results.context.stacks
    files = stacks.files if stacks else ()
    if value.inputs or not value.of_object or value.of_object in LIBRARIES:
        return True
    if any(value.of_object in imported_names(source) for source in _sources(results)):
        return True
    file = value.file or next((each.filename for each in files if each.kind == "cell"), "")
    kinds = {
        each.kind for each in operands_at(results.context.operands, file, value.first) if each.name == value.of_object
    }
    return bool(kinds) and all(kind.startswith(_DATA) for kind in kinds)


def _gives_the_same(results: Results, value: RemadeValue) -> bool:
    """Whether the text says that the statement gives the same for the same inputs, with no file written meanwhile."""
    cell, stacks = results.context.cell, results.context.stacks
    other = [each.source for each in (stacks.files if stacks else ()) if each.filename == value.file]
    source = other[0] if other else cell.source if cell and not value.file else ""
    tree, around = parsed(source), parsed(cell.source if cell else "")
    statements = (each for each in ast.walk(tree) if isinstance(each, ast.Assign)) if tree is not None else ()
    made = next((each.value for each in statements if each.lineno == value.first), None)
    if tree is None or made is None:
        return False
    known = RepeatableReads(tree)
    if around is not None and known.reads_files(made) and RepeatableReads(around).written_beside(value.led_by):
        return False
    # tensors of the notebook may be weights, which change as they are trained
    others = known.not_data(made) - {each.partition(".")[0] for each in value.inputs} - {"self"}
    return not others and known.is_steady(made)


def _change(value: RemadeValue, text: str) -> str:
    if value.counted:
        return (
            f"Compute {text} once for each sample, in `__init__` or in the first pass, and take it from there by "
            f"{_inputs(value)}. Do not change in place what is kept."
        )
    if value.inputs:
        return (
            f"Keep {text} for each value of {_inputs(value)}: in a dict, or with `functools.cache` where all arguments "
            "are numbers, strings or tuples of them. Do not change in place what is kept."
        )
    if value.contents == 1:
        return f"Compute {text} once, before the loop that repeats it, and pass it on."
    kept = units.size(value.contents * value.bytes)
    return (
        f"Compute {text} once for each of the inputs and keep the results ({kept}): in a dict by what they depend on, "
        "or, where all arguments are numbers, strings or tuples of them, with `functools.cache`. If a loop outside "
        "goes over settings that it does not depend on, compute it before that loop."
    )


def _sources(results: Results) -> list[str]:
    """The texts of the cell and of the notebook's other cells."""
    cell, stacks = results.context.cell, results.context.stacks
    files = stacks.files if stacks else ()
    return [cell.source if cell else "", *(each.source for each in files if each.kind == "notebook")]


def _seeding(results: Results, value: RemadeValue) -> str:
    if not seeds(value.call, _sources(results)):
        return ""
    return " It also seeds the generators: seed in each iteration as before."


def _diff(results: Results, value: RemadeValue) -> str | None:
    """Where it is always the same, by the statement itself or the one that leads to it."""
    if value.contents != 1:
        return None
    lines = (value.first, *value.cell_lines) if not value.file else value.cell_lines
    return cell_diff(results, lambda source: _edit(source, lines))


def _edit(source: str, lines: tuple[int, ...]) -> str | None:
    from gpuprof.code_edits.loops.hoisted import move_before_loop

    return move_before_loop(source, lines)


def _inputs(value: RemadeValue) -> str:
    return " and ".join(f"`{each}`" for each in value.inputs)


def _named(value: RemadeValue) -> str:
    """`x`; `the argument x of train`."""
    names = f"`{', '.join(value.names)}`"
    return f"the argument {names} of `{value.handed_to}`" if value.handed_to else names


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _line(value: RemadeValue) -> str:
    """`line 16`, `line 3 of In [2]`."""
    count = f" of In [{value.execution_count}]" if value.execution_count is not None else ""
    return f"line {value.first}{count}"
