"""The same computation runs again and again on the same inputs.

What it finds
    In the close look, operators that ran before with the same arguments on tensors of the same content, and take 5% of
    the operators' time or more: an inverse, a mask, a filterbank, a backbone that is computed in each iteration, or
    several times within one. What follows from it counts, too, as far as nothing new comes in. Random operators, fills,
    updates of weights, and what activation checkpointing computes again in the backward pass do not count. Where the
    look ended within an iteration, what it saw counts by the sampled time of its lines.

Why it costs
    The result is known already. Everything that leads to it is done for nothing, and so is the derivative of each
    further copy in the backward pass.

What to do
    Compute it once and keep the result: before the loop where it is the same in each iteration, in a variable or a
    buffer of the module (`register_buffer`); once per iteration where it is needed several times within one. Where it
    is the same as in the iteration before, and changes now and then, keep the value of the last iteration. Under
    `torch.no_grad()` where it is kept for later iterations: a second backward pass through one graph is an error.
    Within an iteration with gradients, if one of its uses needs them, and with one backward pass for all of them.

When to leave it
    When keeping the result takes more memory than there is. Where the inputs change now and then, compute it anew
    then. A cell without training that times its calls repeats them on purpose: there it is low.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines, UserLine
from gpuprof.analyses.dataflow.random_lines import random_at
from gpuprof.analyses.dataflow.repeated_chains import Again, Chain
from gpuprof.analyses.dataflow.repeated_work import RepeatedWork
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.rules.advice.distribution_text import covariance_at
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.calls_of import call_lines
from gpuprof.rules.cell.timed_calls import times_its_calls
from gpuprof.rules.needless.looked import IN_PART, SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.needless.repeated_diff import repeated_diff
from gpuprof.rules.saving.of_looked_operators import share_of_cell, valued
from gpuprof.rules.saving.scope import graded

_NAMED = 3
# of a calculation's time
_NEARLY_ALL = 0.9
_LINES = 5
_MOST_KEPT = 3
_ONE_PASS = "let one backward pass go through it (add the losses up)"
_CHANGES = {
    Again.EACH_ITERATION: "Compute it once, before the loop in which its inputs stay the same, {without}and keep the "
    "result in a variable (in an `nn.Module`, a buffer).",
    Again.LAST_ITERATION: "Keep the value of the last iteration in a variable{computed}, and use it until its inputs "
    "change: where something new takes their place (a state that is accepted), keep the value that was computed for "
    "that.",
    Again.WITHIN_ITERATION: "Compute it once per iteration and use the result again.",
    Again.UNKNOWN: "Compute it once for the same inputs, keep the result, and use it again.",
}
# where autograd records it: a graph serves one backward pass, and what is made without one has no gradient
_WITH_GRAPH = {
    Again.EACH_ITERATION: f" If a step needs its gradients, compute it once per step instead, and {_ONE_PASS}.",
    Again.LAST_ITERATION: f" If a step needs its gradients, compute it once per step instead, and {_ONE_PASS}.",
    Again.WITHIN_ITERATION: " Compute it with gradients, outside of `torch.no_grad()`, give a use that needs none "
    f"`.detach()`, and {_ONE_PASS}.",
    Again.UNKNOWN: " Within one iteration compute it with gradients, outside of `torch.no_grad()`, and "
    f"{_ONE_PASS}. For later iterations compute it under `torch.no_grad()`.",
}
_WHEN = {
    Again.EACH_ITERATION: "in each iteration",
    Again.LAST_ITERATION: "as in the iteration before",
    Again.WITHIN_ITERATION: "several times within an iteration",
    Again.UNKNOWN: "again and again",
}


@dataclass(frozen=True)
class RepeatedOperators(Rule):
    """See the module."""

    guard = Guard.EXACT

    work_share: float = threshold(0.05, "of the operators’ time: less is not worth keeping results")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    chain_share: float = threshold(0.02, "of the operators’ time in one calculation: smaller ones are not named")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else they are not like it")
    fingerprint_share: float = threshold(
        0.5, "of the bytes that came from elsewhere have a fingerprint: else equal contents go unnoticed"
    )

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the calculations that are repeated."""
        lacking = without_look(self.name, results, self.seen_share)
        if lacking is not None:
            return self._in_part(results) or lacking
        large = tuple(chain for chain in results.get(RepeatedWork).chains if chain.share >= self.chain_share)
        share = sum(chain.share for chain in large)
        if share >= self.work_share:
            return self._finding(results, large, share)
        if known(results.context.look).fingerprinted_share < self.fingerprint_share:
            return Abstention(
                self.name,
                "the content of the tensors, to tell whether they are equal",
                "The close look ran out of its budget for them. Smaller tensors take less of it.",
            )
        return None

    def _in_part(self, results: Results) -> Finding | None:
        """Judge a look that ended within an iteration, by the sampled time of the lines: what it saw repeated is."""
        looked = results.get(RepeatedWork)
        large = tuple(chain for chain in looked.chains if chain.share >= self.chain_share)
        share = share_of_cell(results, [chain.rows for chain in large], looked.steady, behind=True)
        if share is None or share < self.low_share:
            return None
        found = self._finding(results, large, share, whole=False)
        about = f"The same computation is repeated: {units.percent(share)} of the cell"
        of_look = round(sum(chain.share for chain in large), 4)
        evidence = {**found.evidence, "repeated_share": of_look, "cell_share": round(share, 4)}
        return replace(found, title=about, explanation=f"{found.explanation} {IN_PART}", evidence=evidence)

    def _finding(self, results: Results, large: tuple[Chain, ...], share: float, *, whole: bool = True) -> Finding:
        first, looked = large[0], results.get(RepeatedWork)
        calls = sum(len(chain.rows) for chain in large)
        cell = results.context.cell
        on_purpose = cell is not None and not results.context.optimizers and times_its_calls(cell.source)
        found = Finding(
            rule=self.name,
            severity=Severity.LOW if on_purpose else graded(share, self.high_share, self.low_share),
            title=f"The same computation is repeated: {units.percent(share)} of the operators’ time",
            explanation=" ".join(_words(results, chain) for chain in large[:_NAMED]),
            evidence={
                "repeated_operators": calls,
                "operators_seen": int(looked.steady.sum()),
                "repeated_share": round(share, 4),
                "operators": ", ".join(first.names[:_NAMED]),
                "result_bytes": max(first.kept_bytes, default=0),
            },
            where=Where(lines=named_lines(results, large)),
            change=_change(first) + _keep(results, first),
            diff=repeated_diff(results, large, whole=whole),
        )
        rows = [chain.rows for chain in large]
        return valued(results, found, share, rows, looked.steady, behind=True)


def _words(results: Results, chain: Chain) -> str:
    """`Line 16 (linalg_inv_ex) repeats 12 operators in each iteration, 63 % of the operators' time.`"""
    lines = results.get(LookedLines)
    where = line_words(lines.line(chain.places[0]))
    more = len(chain.places) - 1
    rest = f" and {units.plural(more, 'other line')}" if more else ""
    name = chain.names[0].rpartition("::")[2]
    return (
        f"{where[0].upper()}{where[1:]}{rest}{_caller(results, chain)} "
        f"({units.plural(len(chain.rows), 'operator')}, most time in `{name}`) "
        f"{'compute' if more else 'computes'} the same {_WHEN[chain.again]}, from equal inputs: "
        f"{units.percent(chain.share)} of the operators’ time."
    )


def _caller(results: Results, chain: Chain) -> str:
    """`, called from line 54`: where nearly all of it was called from one line of the cell. Another line may call the
    same function and need its result."""
    lines = results.get(LookedLines)
    place, share = lines.called_from(results, chain.rows)
    line = lines.line(place) if share >= _NEARLY_ALL else None
    if line is None or place in chain.places:
        return ""
    return f", called from {line_words(line)}"


def _change(chain: Chain) -> str:
    without, computed = ("under `torch.no_grad()`, ", ", computed under `torch.no_grad()`") if chain.graph else ("", "")
    plain = _CHANGES[chain.again].format(without=without, computed=computed)
    return plain + (_WITH_GRAPH[chain.again] if chain.graph else "")


def _keep(results: Results, chain: Chain) -> str:
    """` Keep the result of line 16 (3.74 MiB), which line 20 uses.`"""
    lines = results.get(LookedLines)
    kept = _kept_forward(results, chain)
    leaving = {place for place, leaves in zip(chain.kept, chain.leaves, strict=True) if leaves}
    if kept and leaving.isdisjoint(kept):
        return _inner(results, chain, kept[-1])
    kept = tuple(each for each in kept if each in leaving)
    last = lines.line(kept[-1]) if kept else None
    if last is None:
        return ""
    reader, calls = lines.line(chain.read_at), call_of(results, chain)
    used = f", which {line_words(reader)} uses" if reader is not None and reader != last else ""
    earlier = _earlier_call(results, chain, calls)
    if earlier:
        again = f"`{last.function}()` in line {calls[0]}"
        return f" {again} gives what {earlier} gave before: keep that result, and use it."
    factor = _factor_of(results, last)
    if factor:
        return factor
    what = f"`{last.function}()`, called in line {calls[0]}" if calls else line_words(last)
    random = random_at(results, kept[-1])
    if random:
        return (
            f" Of {line_words(last)} keep only what repeats: `{random}` there gives another result each time, so it "
            "and what follows it stay in the loop."
        )
    sizes = dict(zip(chain.kept, chain.kept_bytes, strict=True))
    others = [lines.line(place) for place in kept[:-1]]
    if others and not calls and len(kept) <= _MOST_KEPT and all(others):
        each = [f"{line_words(lines.line(place))} ({units.size(sizes[place])})" for place in kept]
        return f" Keep the results of {', '.join(each[:-1])} and {each[-1]}{used}."
    most = units.size(max(sizes[place] for place in kept) if calls else sizes[kept[-1]])
    return f" Keep the result of {what} ({most}){used}."


def _inner(results: Results, chain: Chain, place: int) -> str:
    """What repeats is no result of the line, but something on the way to it."""
    where = line_words(results.get(LookedLines).line(place))
    name = chain.names[0].rpartition("::")[2]
    return (
        f" The result of {where} differs each time. What repeats is an intermediate result in what it calls "
        f"(`{name}`). Keep that one, or compute each result from the previous one if it follows from it."
    )


def _factor_of(results: Results, line: UserLine) -> str:
    """Of a distribution that decomposes its matrix each time it is made."""
    given = covariance_at(results.context.cell.source, line.line) if results.context.cell and line.in_cell else ""
    if not given:
        return ""
    return (
        f" What repeats in {line_words(line)} is the decomposition of `{given}`: compute `factor = "
        f"torch.linalg.cholesky({given})` once, and pass `scale_tril=factor` in its place."
    )


def _earlier_call(results: Results, chain: Chain, calls: tuple[int, ...]) -> str:
    """`line 58` where another line of the cell called the function first; empty where the same line did."""
    lines = results.get(LookedLines)
    here, first = lines.called_from(results, chain.rows), lines.called_from(results, chain.firsts)
    line = lines.line(first[0]) if min(here[1], first[1]) >= _NEARLY_ALL and here[0] != first[0] else None
    return line_words(line) if calls and line is not None and line.in_cell else ""


def _kept_forward(results: Results, chain: Chain) -> tuple[int, ...]:
    """The places of results to keep, without those of `backward()`: nobody can keep what is made there."""
    operators = results.get(ValueGraph).operators.take(chain.rows)
    forward = set(operators["place"][~operators["backward"]].tolist())
    return tuple(place for place in chain.kept if place in forward)


def call_of(results: Results, chain: Chain) -> tuple[int, ...]:
    """The lines of the cell that call the function in which all of it happens, for something outside to use it."""
    lines, cell = results.get(LookedLines), results.context.cell
    known = [lines.line(place) for place in (*chain.places, *chain.kept)]
    reader, functions = lines.line(chain.read_at), {each.function if each else None for each in known}
    if cell is None or reader is None or len(functions) != 1 or reader.function in functions:
        return ()
    function = functions.pop()
    inside = all(each is not None and each.in_cell for each in (*known, reader))
    return call_lines(cell.source, function, reader.function) if inside and function else ()


def named_lines(results: Results, large: tuple[Chain, ...]) -> tuple[int, ...]:
    """Lines of the cell: where most of the time goes, what to keep, and where to call it."""
    calls = (line for chain in large[:_NAMED] for line in call_of(results, chain))
    return tuple(sorted({*cell_lines(results, places_of(large)), *calls}))


def places_of(large: tuple[Chain, ...]) -> tuple[int, ...]:
    """The places with most of the time, and those of the results to keep."""
    found: dict[int, None] = {}
    for chain in large[:_NAMED]:
        found |= dict.fromkeys((*chain.places[:_NAMED], *chain.kept[-1:]))
    return tuple(place for place in found if place >= 0)[: _LINES * _NAMED]
