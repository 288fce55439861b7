"""Each iteration of a loop takes longer than the one before, since it works on all that was collected so far.

What it finds
    Iterations (or steps) whose time rises steadily, by at least half over the loop, in a loop whose text collects
    something and works on all of it again: a prefix that a model reads anew for each token, a metric over everything
    so far, an array or tensor that is copied to be made longer, a graph that is kept. Outside the recorded part it is
    known by sampled stacks, where the lines that do so take more and more of the time the longer the collection is,
    also where each epoch begins it anew or a method fills it, where a line does nothing but copy all of it, and where a
    recurrent module (`nn.LSTM`, `nn.GRU`, `nn.RNN`) is given all of a list or tensor that was seen to grow, or a longer
    and longer part of a series, as the close look saw.
    So are hooks and handlers that are added in each iteration and never removed.
    Inputs sorted by length, warm-up, changed clocks and lists that nothing reads are left alone, and so are attention
    over kept keys and values, work whose backward pass grows with it, since its weights change in between, and
    recurrent models that read in both directions, or are trained in that loop.

Why it costs
    The n-th iteration does the work of n: a thousand iterations cost five hundred times as much as one does at the
    end. Ten times as many take a hundred times as long.

What to do
    Keep what the next iteration needs instead of computing it again: keys and values (`use_cache=True`) or the state of
    a recurrent model, running sums instead of a metric over all batches. Append to a list and join it once after the
    loop. Detach what is kept from one iteration to the next. Attach hooks and handlers once, or take them off.

When to leave it
    When each iteration really needs all that came before, and nothing of it can be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.containers.copied_wholes import CopiedWhole, CopiedWholes
from gpuprof.analyses.loops.accumulations import Accumulation, Accumulations, Growing
from gpuprof.analyses.loops.growing_shares import GrowingShare, GrowingShares
from gpuprof.analyses.loops.growth import GrowingLoop, Growth
from gpuprof.analyses.loops.reread_prefixes import RereadPrefix, RereadPrefixes
from gpuprof.analyses.loops.written_loops import sources_of
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.wanted_work import is_fitted_again
from gpuprof.rules.saving.scope import Scope, graded, share_of, worst

_ATTENTION = ("bmm", "softmax", "attention")
_CHANGES = {
    Growing.JOINED: "Do not compute `{name}` anew from its beginning in each iteration: give the model only what is "
    "new and keep its state (keys and values with `use_cache=True`, the hidden state of a recurrent model). Where only "
    "a number of it is needed, keep running sums.",
    Growing.COPIED: "Append the pieces to a list in the loop (`pieces.append(x)`), and join them once after it "
    "(`{name} = torch.cat(pieces)`, `np.concatenate(pieces)`, `pd.concat(pieces)`).",
    Growing.LISTED: "Keep running sums instead of working on all of `{name}` in each iteration, or do it once after "
    "the loop.",
    Growing.PREFIX: "Do not start at the beginning of `{name}` in each iteration: keep the state of the one before "
    "(keys and values, a hidden state, running sums) and give it only the next part.",
    Growing.GRAPH: "Detach what is kept from one iteration to the next (`state = state.detach()`), and leave out "
    "`retain_graph=True`: backward then goes through the latest iteration alone.",
    Growing.ATTACHED: "Call `{name}` once, before the loop. Or keep what it returns, and remove the hook when it is no "
    "longer needed (`handle.remove()`, `removeHandler`).",
}
_FITTED = (
    "A model that is fitted to all data has to read all of it. Fit it again only every few rounds, start from the last "
    "result (`warm_start=True`, the parameters found before), use a model that can be updated (`partial_fit`), or "
    "extend a Cholesky factor by the new row."
)
_STATE = (
    "Keep the state that the model returns and give it only the newest part of `{name}`: "
    "`out, state = rnn(newest, state)`. The first part gets the state that the whole gets now (none, or `None`)."
)
_COPY_BASIS = "estimate: all of it is copied once at the end, by sampled stacks"
_PREFIX_BASIS = "upper bound: only the newest part is read, by sampled stacks"
_BASIS = "upper bound: every iteration as short as the first ones"


@dataclass(frozen=True)
class GrowingIterations(Rule):
    """See the module."""

    growth_factor: float = threshold(1.5, "late iterations over early ones: less is as likely to be drift")
    excess_share: float = threshold(0.10, "of the time judged, beyond iterations of constant cost: less is no matter")
    high_share: float = threshold(0.30, "of the time judged: then it is the first thing to change")
    backward_share: float = threshold(0.20, "of the growth: more is work that is trained, not a result to keep")
    by_row_share: float = threshold(0.20, "of what grows in operators: less, with attention, is a cache that is read")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the loop with the largest excess, else the lines with the largest."""
        loops = [loop for loop in results.get(Growth).loops if self._matters(results, loop)]
        if loops and not results.get(Accumulations).known:
            return Abstention(
                self.name,
                "the text of the cell: iterations take longer and longer, but not whether by what they collect",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold its text.",
            )
        for loop in loops:
            cause = _cause(results, loop)
            if cause is not None and not (self._reads_a_cache(loop, cause) or self._trains(loop, cause)):
                return _if_fitted(results, cause, self._of_loop(results, loop, cause))
        for share in results.get(GrowingShares).found:
            if share.excess_ns >= self.excess_share * share.cell_ns:
                return _if_fitted(results, share.accumulation, self._of_lines(results, share))
        for prefix in results.get(RereadPrefixes).found:
            if prefix.ns >= self.excess_share * prefix.cell_ns:
                return self._of_prefix(results, prefix)
        for copied in results.get(CopiedWholes).found:
            if copied.ns >= self.excess_share * copied.cell_ns:
                return self._of_copies(results, copied)
        return None

    def _matters(self, results: Results, loop: GrowingLoop) -> bool:
        return loop.trend.ratio >= self.growth_factor and _share(results, loop) >= self.excess_share

    def _reads_a_cache(self, loop: GrowingLoop, cause: Accumulation) -> bool:
        """Keys and values that are kept grow, and attention over them; products with weights do not."""
        parts = loop.parts
        attends = any(each in name for name in parts.operators for each in _ATTENTION)
        return cause.growing is not Growing.GRAPH and attends and (parts.by_row_share or 0.0) < self.by_row_share

    def _trains(self, loop: GrowingLoop, cause: Accumulation) -> bool:
        """What has gradients is computed with other weights in each iteration: nothing of it can be kept."""
        return cause.growing is not Growing.GRAPH and (loop.parts.backward_share or 0.0) >= self.backward_share

    def _of_loop(self, results: Results, loop: GrowingLoop, cause: Accumulation) -> Finding:
        scope, trend, parts, share = Scope.of(results), loop.trend, loop.parts, _share(results, loop)
        of_run = share * scope.total_ns
        grows = f" What grows: {_list(parts.operators)}." if parts.operators else ""
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Iterations take longer and longer: {units.percent(share)} of {scope.words}",
            explanation=(
                f"Iteration {units.count(trend.last)} takes {trend.ratio:.1f} times as long as iteration "
                f"{units.count(trend.first)} ({units.duration(trend.late)}, {units.duration(trend.early)}): "
                f"{_words(results, cause)}.{grows}"
            ),
            evidence={
                "iterations": loop.iterations,
                "early_ms": units.milliseconds(trend.early),
                "late_ms": units.milliseconds(trend.late),
                "excess_ms": units.milliseconds(loop.excess_ns),
                "excess_share": round(share, 4),
                **_percent("operators_percent", parts.count_ratio),
                **_percent("elements_percent", parts.elements_ratio),
                "grows": cause.name,
            },
            where=_where(cause, loop),
            change=_CHANGES[cause.growing].format(name=cause.name),
            saving=scope.saving(0, of_run, of_run, _BASIS, part_of=loop.within),
        )

    def _of_lines(self, results: Results, found: GrowingShare) -> Finding:
        scope, cause, share = Scope.of(results), found.accumulation, found.excess_ns / found.cell_ns
        first, _, last = found.thirds
        lines, small, large = _lines(found.lines), units.percent(first), units.percent(last)
        when, lengths = f"In the first third of the loop {small} of the time is in {lines}, in the last {large}", {}
        if found.sizes is not None:
            few, _, many = found.sizes
            had = f"While `{cause.name}` has about {units.count(few)} items"
            when = f"{had}, {small} of the time is in {lines}; while it has {units.count(many)}, {large}"
            lengths = {"first_items": few, "last_items": many}
        of_run = share * results.span_ns
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Work on all of `{cause.name}` takes longer and longer: {units.percent(share)} of the cell",
            explanation=(f"{when}: {_words(results, cause)}. By sampled stacks of the whole cell."),
            evidence={
                "first_share": round(first, 4),
                "last_share": round(last, 4),
                "error_share": round(found.error, 4),
                "excess_ms": units.milliseconds(found.excess_ns),
                "excess_share": round(share, 4),
                **lengths,
                "grows": cause.name,
            },
            where=Where(lines=() if cause.file else found.lines),
            change=_CHANGES[cause.growing].format(name=cause.name),
            saving=scope.saving(0, of_run, of_run, f"{_BASIS}, by sampled stacks"),
        )

    def _of_prefix(self, results: Results, found: RereadPrefix) -> Finding:
        cause, share = found.accumulation, found.ns / found.cell_ns
        read_ns, lengths = float(found.ns), dict[str, float]()
        grew = " In the close look it gets longer by the same number in each iteration."
        if found.first is not None and found.last is not None:
            # all of them, of which one is new
            read_ns *= 1 - 2 / (found.first + found.last)
            lengths = {"first_items": found.first, "last_items": found.last}
            grew = f" It had {units.count(found.first)} items at first, and {units.count(found.last)} at last."
        return Finding(
            rule=self.name,
            severity=graded(read_ns / found.cell_ns, self.high_share),
            title=f"A recurrent model reads all of `{cause.name}` in each iteration: "
            f"{units.percent(share)} of the cell",
            explanation=f"{_capital(_words(results, cause))}.{grew} A recurrent model needs only the newest part, and "
            f"the state that it returned before. It takes {units.duration(found.ns)} of the cell, by sampled stacks.",
            evidence={
                "recurrent_ms": units.milliseconds(found.ns),
                "recurrent_share": round(share, 4),
                **lengths,
                "grows": cause.name,
            },
            where=Where(lines=() if cause.file else tuple(sorted({cause.line, *cause.reads}))),
            change=_STATE.format(name=cause.name),
            saving=Saving(0.0, read_ns, float(found.ns), read_ns / found.cell_ns, "C", _PREFIX_BASIS, of_cell=True),
        )

    def _of_copies(self, results: Results, found: CopiedWhole) -> Finding:
        cause, share = found.accumulation, found.ns / found.cell_ns
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"All of `{cause.name}` is copied each time it gets longer: {units.percent(share)} of the cell",
            explanation=f"{_capital(_words(results, cause))}. That takes {units.duration(found.ns)} of the cell, by "
            "sampled stacks.",
            evidence={
                "copying_ms": units.milliseconds(found.ns),
                "copying_share": round(share, 4),
                "grows": cause.name,
            },
            where=Where(lines=() if cause.file else (cause.line,)),
            change=_CHANGES[cause.growing].format(name=cause.name),
            saving=Saving(0.3 * found.ns, 0.9 * found.ns, float(found.ns), 0.9 * share, "C", _COPY_BASIS, of_cell=True),
        )


def _if_fitted(results: Results, cause: Accumulation, found: Finding) -> Finding:
    """The finding, with what can be done where a model is fitted again to all that there is: a minor matter."""
    texts = dict(sources_of(results.context))
    if cause.growing is Growing.ATTACHED or not is_fitted_again(
        texts.get(cause.file, ""), {*cause.reads, *cause.works}
    ):
        return found
    return replace(found, change=_FITTED, severity=Severity.LOW)


def _capital(text: str) -> str:
    return text if text.startswith("`") else f"{text[0].upper()}{text[1:]}"


def _percent(name: str, ratio: float | None) -> dict[str, float]:
    """A late iteration's share of an early one's, where it is known and there is a difference."""
    return {name: round(100 * ratio, 1)} if ratio is not None and round(ratio, 2) != 1 else {}


def _share(results: Results, loop: GrowingLoop) -> float:
    """Of the time judged; what all iterations of the cell show holds for the recorded ones."""
    if loop.how == "cell":
        return share_of(loop.excess_ns, loop.total_ns)
    return min(Scope.of(results).share(loop.excess_ns), 1.0)


def _cause(results: Results, loop: GrowingLoop) -> Accumulation | None:
    """What the loop collects: it has to be what the growing lines work on. Where no line is known, that of the loop's
    own lines, or the only one of the text."""
    found = results.get(Accumulations).found
    grown = (*loop.parts.lines, *loop.parts.callers)
    if not grown:
        # copies of all of it are one cause of many
        found = tuple(each for each in found if each.growing is not Growing.COPIED)
    if grown:
        return next((each for each in found if any((each.file, line) in grown for line in each.works)), None)
    if loop.line is not None:
        around = [each for each in found if each.file == loop.file and each.first <= loop.line <= each.last]
        return min(around, key=lambda each: each.last - each.first, default=None)
    return found[0] if len({(each.file, each.first) for each in found}) == 1 else None


def _where(cause: Accumulation, loop: GrowingLoop) -> Where:
    attached = cause.growing is Growing.ATTACHED
    grown = {line for file, line in loop.parts.lines if file == cause.file and (attached or cause.holds(file, line))}
    lines = () if cause.file else tuple(sorted({cause.line, *cause.reads, *grown}))
    return Where(lines=lines, ranges_ns=worst(loop.within))


def _words(results: Results, cause: Accumulation) -> str:
    at = f"{_lines(cause.reads)}{_of_cell(results, cause.file)}"
    match cause.growing:
        case Growing.JOINED | Growing.LISTED:
            if cause.reads == (cause.line,):
                return f"{at} makes `{cause.name}` longer, and takes all of it"
            return f"`{cause.name}` gets longer in line {cause.line}, and {at} takes all of it"
        case Growing.COPIED:
            return f"{at} joins all of `{cause.name}` with something new, which copies all of it each time"
        case Growing.PREFIX:
            return f"{at} takes `{cause.name}` from its beginning each time, a longer part of it"
        case Growing.GRAPH:
            return f"{at} goes back through the graphs of earlier iterations, too"
        case Growing.ATTACHED:
            return f"{at} adds one more with `{cause.name}` each time, and none is removed"


def _lines(lines: tuple[int, ...]) -> str:
    return f"line{'s' if len(lines) > 1 else ''} {_list(tuple(map(str, lines)))}"


def _of_cell(results: Results, file: str) -> str:
    """` of In [2]`; nothing for the profiled cell, or one of which the number is not known."""
    stacks = results.context.stacks
    counts = [each.execution_count for each in (stacks.files if stacks else ()) if each.filename == file]
    return f" of In [{counts[0]}]" if file and counts and counts[0] is not None else ""


def _list(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1] if parts else ""
