"""Which statements make a value again that they have made before: its content was seen to be the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.same_inputs import SameInputs, inputs_of
from gpuprof.analyses.lines.sampled_calls import SampledCalls
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.lines.value_makers import ValueMaker, bare_name, makers
from gpuprof.analyses.loops.written_loops import notebook_sources, parsed
from gpuprof.model.context import Loader
from gpuprof.model.intervals import Intervals
from gpuprof.model.operands import MadeValue
from gpuprof.model.trace import Trace

_FEWEST_MADE = 3
# of the objects that were seen, at most so many have a content of their own
_FEW_CONTENTS = 0.5
_OFTEN = 4
_LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class RemadeValue:
    """A statement in lines `first` to `last` of `file` (empty: the profiled cell), and what it gives a value to.

    Of `names`, `made` objects were seen with `contents` different contents, of `bytes` (all of them together). `ns` of
    the cell, `share` of it, 0..1, were spent in the statement and what it calls: `during` on the trace's clock.
    `call`: what it calls for longest, as it is written; `of_object`: that is a method of a variable's. `handed_to`: the
    function whose argument it is. `cell_lines`:
    the lines of the profiled cell that most of this time was spent in, its own included; of a statement elsewhere
    those that led to it. `inputs`: the variables that it depends on, where these were seen instead of `names`: in
    `made` calls, with `contents` contents. `often`: nearly each look saw another one. `counted`: the calls are samples
    that DataLoaders read. `needed`: how many there are likely to be in all. `led_by`: all lines of the profiled cell
    that it was called from.
    """

    file: str
    execution_count: int | None
    function: str
    first: int
    last: int
    names: tuple[str, ...]
    kind: str
    call: str
    of_object: str
    handed_to: str
    made: int
    contents: int
    bytes: int
    ns: int
    share: float
    during: Intervals
    cell_lines: tuple[int, ...]
    inputs: tuple[str, ...] = ()
    often: bool = False
    counted: bool = False
    needed: int = 0
    led_by: frozenset[int] = frozenset()

    @property
    def again(self) -> float:
        """Which part of the objects had been made before, 0..1: nearly all where each look saw another one, since most
        are made between two looks."""
        few = self.counted or (self.made < _OFTEN * self.contents and not self.often)
        return 1 - max(self.contents, self.needed) / (self.made if few else self.made**2)


@dataclass(frozen=True)
class RemadeValues(Result):
    """`values`: the longest first, each of 1% of the cell at least."""

    values: tuple[RemadeValue, ...]
    total_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what was seen of the variables, the texts, and the sampled stacks."""
        stretches = results.get(Stretches)
        if not trace.context.made_values or not stretches.total_ns:
            return cls((), stretches.total_ns)
        reader = SampledCalls(trace, stretches)
        texts = ((reader.sampled_as(file), parsed(source)) for file, source in notebook_sources(trace))
        sources = {file: tree for file, tree in texts if tree is not None}
        scopes = defaultdict[tuple[str, str, int], list[MadeValue]](list)
        for each in trace.context.made_values:
            scopes[each.file, each.function, each.first].append(each)
        found = [
            value
            for (file, *_), seen in scopes.items()
            if file in sources
            for value in _of_function(reader, (sources[file], *sources.values()), seen, trace.context.loaders)
        ]
        return cls(tuple(sorted(found, key=lambda each: -each.ns)), stretches.total_ns)


def _of_function(
    reader: SampledCalls, trees: Sequence[ast.Module], seen: Sequence[MadeValue], loaders: Sequence[Loader]
) -> Iterator[RemadeValue]:
    """`trees`: its own text first, and all."""
    # where several statements give a name values, all of these were seen together
    by_name, scope = {each.name: each for each in seen}, seen[0]
    for each in makers(trees[0], scope.function, scope.first):
        known = [by_name[name] for name in each.names if name in by_name]
        if len(known) == len(each.names) and _is_remade(known):
            yield from _made_again(reader, scope, each, known)
        elif inputs := inputs_of(trees, each, scope.first, seen, loaders):
            yield from _from_the_same(reader, scope, each, inputs)


def _made_again(
    reader: SampledCalls, scope: MadeValue, maker: ValueMaker, known: Sequence[MadeValue]
) -> Iterator[RemadeValue]:
    """Its results were seen."""
    for value in _statement(reader, scope, maker):
        yield replace(
            value,
            kind=max(known, key=lambda each: each.bytes).kind,
            made=min(each.made for each in known),
            contents=max(each.contents for each in known),
            bytes=sum(each.bytes for each in known),
        )


def _from_the_same(
    reader: SampledCalls, scope: MadeValue, maker: ValueMaker, inputs: SameInputs
) -> Iterator[RemadeValue]:
    """What it computes from was seen."""
    for value in _statement(reader, scope, maker):
        yield replace(
            value,
            made=inputs.calls,
            contents=inputs.contents,
            inputs=inputs.names,
            often=inputs.often,
            counted=inputs.counted,
            needed=inputs.needed,
            led_by=reader.led_by(scope.file, range(maker.first, maker.last + 1)),
        )


def _statement(reader: SampledCalls, scope: MadeValue, maker: ValueMaker) -> Iterator[RemadeValue]:
    """Where it takes 1% of the cell."""
    time = reader.time(scope.file, maker.first, maker.last, maker.called if maker.handed_on else ())
    share = time.ns / max(reader.total_ns, 1)
    if share < _LEAST_SHARE:
        return
    call = max(maker.calls, key=lambda call: time.called.get(bare_name(call), 0.0))
    yield RemadeValue(
        *reader.file(scope.file),
        function=maker.function,
        first=maker.first,
        last=maker.last,
        names=maker.names,
        kind="",
        call=ast.unparse(call.func),
        of_object=_object(call),
        handed_to=scope.function if maker.handed_on else "",
        made=0,
        contents=0,
        bytes=0,
        ns=time.ns,
        share=share,
        during=time.during,
        cell_lines=time.cell_lines,
    )


def _is_remade(known: Sequence[MadeValue]) -> bool:
    """Whether each of them was seen to be made, with few contents, and one is such that this is no chance."""
    made = min(each.made for each in known)
    few = all(0 < each.contents <= _FEW_CONTENTS * made for each in known)
    return made >= _FEWEST_MADE and few and any(each.told for each in known)


def _object(call: ast.Call) -> str:
    """The name of the object of whose methods it is; empty for a function."""
    here: ast.expr = call.func
    while isinstance(here, ast.Attribute | ast.Call | ast.Subscript):
        here = here.func if isinstance(here, ast.Call) else here.value
    return here.id if isinstance(here, ast.Name) and here is not call.func else ""
