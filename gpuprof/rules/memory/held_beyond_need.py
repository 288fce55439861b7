"""A name holds much more memory than what it is used for.

What it finds
    Tensors, or NumPy's arrays, that a name of the notebook holds at the end of the cell or near its peak, or a variable
    of a function while it runs, also inside of containers and objects, or a list that a comprehension is filling, and
    that make the peak higher than it need be, by at least a tenth of it. They are small views, each of which keeps the
    whole tensor that it was cut from; or many copies of a model's parameters; or one tensor that holds the same numbers
    again and again, such as overlapping windows, or almost only zeros, such as one-hot targets; or numbers in a type
    that is wider than they need, such as pictures of whole numbers up to 255 in `float32`, of which a sample is looked
    at; or models and optimizers in a list of which only the best or the last item is taken; or whole activations or
    outputs of which all that the text reads later is a mean, a maximum or one position; or batches that an
    `itertools.cycle` over a DataLoader keeps; or the items of a list that one later loop alone reads, one after the
    other, also in a function that the list is given to; or lists that grow with each turn of a loop, of which the last
    few items are read; or attributes and entries of a list's items, such as an optimizer or the data of a fit, that
    nothing reads once the item is in the list.

Why it costs
    A view keeps all of its tensor alive. A copy of the weights for each iterate, each window written out, and each
    activation of which a mean would do, take the memory that a larger model or batch could use. So do all outputs at
    once, where the loop that reads them needs one at a time. Numbers in `float64` take eight times what they take in
    `uint8`.

What to do
    Of a part of a tensor keep `part.clone()`. Where only the mean of the copies is used, keep one running sum. Make
    windows with `x.unfold(0, length, 1)`, which copies nothing, or cut them in the data set's `__getitem__`; where `x`
    has an axis of features, `.transpose(1, 2)` after it puts the windows' positions before the features. Rows that are
    all alike are `row.expand(n, -1)`. Instead of one-hot rows keep the class indices: `cross_entropy` takes them, also
    with `label_smoothing`. Make other matrices of zeros sparse, or make the rows of each batch only. Numbers that a
    smaller type holds exactly are kept in that type, and each batch of them is converted where it is used. Reduce what
    a loop or a hook keeps before it keeps it: `kept.append(x.mean(1))`. Where a later loop reads each item once, give
    it a generator in place of the list, or do its work in the loop that makes the item, and keep only the result. Where
    the last few items are read, drop those before: `del kept[:-8]`.

When to leave it
    When another cell needs what would no longer be held. Each finding says what that is: the other parts of a tensor,
    each copy, the whole activations, the wider type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.containers.chosen_items import ChosenItems
from gpuprof.analyses.containers.inner_containers import InnerContainer
from gpuprof.analyses.containers.single_reads import SingleRead
from gpuprof.analyses.memory.kept_memory import OWN_KINDS, DeviceKept, KeptMemory, KeptTensors
from gpuprof.analyses.memory.reducing_calls import Reduction
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.holder_words import holder, number_held
from gpuprof.rules.memory.memory_kept_by_hooks_or_graphs import MemoryKeptByHooksOrGraphs
from gpuprof.rules.memory.needless_content import (
    NeedlessMemory,
    cycled,
    last_few,
    narrow,
    repeated,
    repeated_alike,
    unread_of_items,
    zeros,
)
from gpuprof.rules.memory.saved_memory import (
    HIGH_SHARE,
    LEAST_MIB,
    MEDIUM_SHARE,
    MIB,
    SavedMemory,
    place_of,
)

_NOTEBOOKS = ("ipykernel", "IPython")
_MOST_CALLS = 3
_LONGEST_TEXT = 60
_PART_OF_ITEMS = 0.3
_OTHER_ITEMS = "Leave it when another cell needs the other items."


@dataclass(frozen=True)
class HeldBeyondNeed(Rule):
    """See the module."""

    copies: float = threshold(4, "fewer sets of parameters are a best state, an average, or a teacher")
    saved_mib: float = threshold(LEAST_MIB, "less limits nothing")
    saved_share: float = threshold(0.1, "of the peak: less matters little")
    medium_share: float = threshold(MEDIUM_SHARE, "of the peak: then it limits what else fits")
    high_share: float = threshold(HIGH_SHARE, "of the peak: then fix it first")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what names hold beyond what they show."""
        found, context = results.get(KeptMemory), results.context
        if not found.known:
            front_end = context.environment.front_end if context.environment else None
            if context.held is None and not (front_end or "").startswith(_NOTEBOOKS):
                return None
            return Abstention(
                self.name,
                "what the names of the notebook hold",
                "This recording does not hold it; profile the cell again with `%%gpuprofile`.",
            )
        told = MemoryKeptByHooksOrGraphs().check(results)
        names = str(told.evidence["names"]).split(", ") if isinstance(told, Finding) else []
        source = context.cell.source if context.cell is not None else ""
        answers = [self._device(each, names, source) for each in found.devices]
        findings = [each for each in answers if isinstance(each, Finding)]
        if findings:
            return max(findings, key=lambda each: float(each.evidence["saved_bytes"]))
        return next((each for each in answers if each is not None), None)

    def _device(self, memory: DeviceKept, told: list[str], source: str) -> Finding | Abstention | None:
        """`told`: names of which it is said that a hook or graphs fill them."""
        kept_here = [kept for kept in memory.kept if not kept.hook or kept.name not in told]
        alike = repeated_alike(kept_here, source)
        copied = {id(each) for others in alike.values() for each in others}
        needless = [
            each
            for kept in kept_here
            if id(kept) not in copied
            for each in _needless(kept, self.copies, alike.get(kept.name, ()))
        ]
        large = [each for each in needless if each.bytes >= self.saved_mib * MIB]
        if not large:
            return None
        if memory.grown_bytes is None or not memory.peak_bytes:
            return Abstention(
                self.name,
                f"how much the memory of {place_of(memory)} grew",
                "A cell of less than a second has too few readings; let it run for longer.",
            )
        # of each name the largest, the largest first
        firsts: dict[tuple[str, str | None], NeedlessMemory] = {}
        for each in sorted(large, key=lambda each: -each.bytes):
            firsts.setdefault((each.kept.name, each.kept.function), each)
        found = [self._finding(memory, each) for each in firsts.values()]
        return max((each for each in found if each), key=lambda each: each.severity, default=None)

    def _finding(self, memory: DeviceKept, first: NeedlessMemory) -> Finding | None:
        """Where the peak falls by enough."""
        saved = SavedMemory.of(memory, first.bytes, refilled=first.kept.refilled)
        if first.falls_bytes is not None:
            saved = SavedMemory(saved.place, first.falls_bytes, saved.peak_bytes)
        if saved.saved_bytes < self.saved_mib * MIB or saved.share < self.saved_share:
            return None
        severity = saved.severity(self.high_share, self.medium_share) if first.sure else Severity.LOW
        kept = first.kept
        return Finding(
            rule=self.name,
            severity=severity,
            title=first.title,
            explanation=f"{first.detail} {saved.words()}",
            evidence={
                "needless_bytes": first.bytes,
                "held_bytes": kept.bytes,
                "tensors": kept.tensors,
                **saved.evidence(),
                "names": ", ".join((kept.name, *(kept.alike.names if kept.alike else ()))),
            },
            where=Where(lines=tuple(sorted({*(kept.lines or kept.made), *first.lines}))),
            change=first.change,
            leave_it=first.leave_it,
        )


def _needless(kept: KeptTensors, copies: float, alike: Sequence[KeptTensors]) -> list[NeedlessMemory]:
    """What the name need not hold, where the notebook is seen to fill or make it; `alike` hold the same windows."""
    # of the variables of functions, what the text or the content alone shows
    of_text = kept.read_once or kept.last or kept.unread
    shown = kept.function is None or of_text or kept.zeros_bytes or kept.narrow_type or kept.cycled_bytes
    # what is gone at the end may just have been in the making
    filled = kept.filled or (kept.made and shown and kept.kind != "peak")
    if kept.kind not in OWN_KINDS or not filled:
        return []
    found = _reduced_later(kept)
    if kept.hook:
        # the rest of what a hook fills is memory_kept_by_hooks_or_graphs' to judge
        return found
    best_alone = kept.chosen and kept.inner and max(kept.copies, kept.inner.items) >= copies
    if kept.read_once and not found and not best_alone and not _mostly_unread(kept):
        found.append(_read_later(kept, kept.read_once))
    if kept.last is not None:
        found.append(last_few(kept, kept.last))
    if kept.cycled_bytes:
        found.append(cycled(kept))
    if kept.unseen_bytes:
        found.append(_behind_views(kept))
    if kept.copies >= copies:
        found.append(_copies(kept))
    elif kept.chosen and kept.inner and kept.inner.items >= copies:
        found.append(_chosen_inside(kept, kept.chosen, kept.inner))
    elif kept.function and kept.chosen and kept.items and kept.items >= copies:
        found.append(_chosen_alone(kept, kept.chosen, kept.items))
    elif kept.unread is not None:
        found.append(unread_of_items(kept, kept.unread))
    if kept.repeated_bytes:
        found.append(repeated(kept, alike))
    if kept.zeros_bytes:
        found.append(zeros(kept))
    elif kept.narrow_type and not kept.updated:
        found.append(narrow(kept))
    return found


def _mostly_unread(kept: KeptTensors) -> bool:
    """Whether it is simpler to drop parts of its items than not to keep them."""
    return kept.unread is not None and not kept.unread.models and kept.unread.bytes >= _PART_OF_ITEMS * kept.bytes


def _behind_views(kept: KeptTensors) -> NeedlessMemory:
    number = number_held(kept)
    return NeedlessMemory(
        kept,
        kept.unseen_bytes,
        True,
        f"The views in `{kept.name}` keep {units.size(kept.unseen_bytes)} of unused storage alive",
        f"{holder(kept)} holds {number} over {units.size(kept.bytes)} of storage, and "
        f"{units.percent(kept.unseen_bytes / kept.bytes)} of that lies behind small views: a part of a tensor keeps "
        "all of it.",
        f"Store a copy of the part in `{kept.name}` instead of the view: `x[:, 0].{_copied(kept)}()` "
        "instead of `x[:, 0]`.",
        "Leave it when the other parts of these tensors are needed later.",
    )


def _copies(kept: KeptTensors) -> NeedlessMemory:
    each = kept.copied_bytes // kept.copies
    if kept.chosen is not None:
        return _one_of_all(kept, kept.chosen, kept.copied_bytes - each * (kept.inner.number if kept.inner else 1))
    otherwise = "" if kept.combined else " Where each is needed, save them to files with `torch.save`."
    return NeedlessMemory(
        kept,
        kept.copied_bytes - each,
        kept.combined,
        f"`{kept.name}` holds {units.plural(kept.copies, 'copy', 'copies')} of a model’s parameters: "
        f"{units.size(kept.copied_bytes)}",
        f"One copy takes {units.size(each)}.",
        f"Where only the mean of what is in `{kept.name}` is used, keep one running sum (`total[k] += v`) and divide "
        f"it at the end, or use `torch.optim.swa_utils.AveragedModel`.{otherwise}",
        "Leave it when each copy is needed by itself, as in an ensemble.",
    )


def _one_of_all(kept: KeptTensors, chosen: ChosenItems, needless: int) -> NeedlessMemory:
    calls = " and ".join(f"`{each}`" for each in chosen.calls[:_MOST_CALLS])
    return NeedlessMemory(
        kept,
        needless,
        True,
        f"`{kept.name}` keeps {units.size(kept.copied_bytes)} of model states, but only {calls} "
        f"{'are' if ' and ' in calls else 'is'} used",
        f"{holder(kept)} holds {number_held(kept)}. The cell reads nothing of them but {calls}, at "
        f"{_at(chosen.lines)}.",
        f"Keep only what is used. Before the loop set `best, best_score = None, float('-inf')`. At "
        f"{_at(kept.lines or kept.made)}, with `score` for the number that is compared, replace the copy when a better "
        "one comes (`if score > best_score: best_score, best = score, copy.deepcopy(model.state_dict())`) instead of "
        f"adding it to `{_filled(kept)}`. Use `best` at {_at(chosen.lines)}.",
        _OTHER_ITEMS,
        chosen.lines,
    )


def _chosen_alone(kept: KeptTensors, chosen: ChosenItems, items: int) -> NeedlessMemory:
    """Of a function's own list, which nothing reads after it: the items that nothing takes."""
    calls = " and ".join(f"`{each}`" for each in chosen.calls[:_MOST_CALLS])
    verb = "are" if " and " in calls else "is"
    return NeedlessMemory(
        kept,
        round(kept.bytes * (1 - min(len(chosen.calls) / items, 1.0))),
        True,
        f"`{kept.name}` keeps {units.size(kept.bytes)}, but only {calls} {verb} used",
        f"{holder(kept)} of `{kept.function}` had {items} items, with {number_held(kept)} in all: models, optimizers "
        f"or results. Nothing is read of their tensors but {calls}, at {_at(chosen.lines)}.",
        f"Keep only what is used: where a better item comes (`if score < best_score: best_score, best = score, item`), "
        f"replace the one before, and put only the numbers of each into `{kept.name}`. An optimizer that is not used "
        "again need not be kept.",
        _OTHER_ITEMS,
        chosen.lines,
    )


def _chosen_inside(kept: KeptTensors, chosen: ChosenItems, inner: InnerContainer) -> NeedlessMemory:
    """Of containers in objects: the items that nothing takes."""
    calls = " and ".join(f"`{each}`" for each in chosen.calls[:_MOST_CALLS])
    verb = "are" if " and " in calls else "is"
    return NeedlessMemory(
        kept,
        round(kept.way_bytes * (1 - min(len(chosen.calls) / inner.items, 1.0))),
        True,
        f"`{kept.name}` keeps {units.size(kept.way_bytes)} in `{inner.name}`, but only {calls} {verb} used",
        f"{holder(kept)} holds {number_held(kept)}. Nothing is read of the tensors in `{inner.name}` but {calls}, at "
        f"{_at(chosen.lines)}.",
        f"Keep only what is used: at {_at(inner.lines or kept.lines)}, replace the item before where a better one "
        f"comes (`if score < best_score: best_score, best = score, item`), and put only the numbers of each into "
        f"`{inner.name}`.",
        _OTHER_ITEMS,
        chosen.lines,
    )


def _filled(kept: KeptTensors) -> str:
    return kept.inner.name if kept.inner else kept.name


def _copied(kept: KeptTensors) -> str:
    """The method that copies what it holds."""
    return "copy" if kept.arrays == kept.tensors else "clone"


def _reduced_later(kept: KeptTensors) -> list[NeedlessMemory]:
    """Where a loop or a hook keeps whole tensors of which only reductions are read."""
    left = kept.later.left_share(kept.shape, kept.tensors) if kept.later and kept.shape and kept.lines else None
    if kept.later is None or left is None:
        return []
    reductions, name = kept.later.reductions, kept.name
    calls = " and ".join(dict.fromkeys(f"`{each.call}`" for each in reductions[:_MOST_CALLS]))
    lines = tuple(sorted({each.line for each in reductions}))
    verb = "are" if " and " in calls else "is"
    again = f", and as much joined: {units.size(kept.joined_bytes)}" if kept.joined_bytes else ""
    shape = "×".join(map(str, kept.shape or ()))
    return [
        NeedlessMemory(
            kept,
            round((kept.bytes + kept.joined_bytes) * (1 - left)),
            # a single number of all may be for show, with the rest for another cell
            any(each.axes is not None for each in reductions),
            f"`{name}` holds {units.size(kept.bytes)}, of which only {calls} {verb} read",
            f"{holder(kept)} holds {number_held(kept)} of up to {shape}{again}. All that is read of them, "
            f"at {_at(lines)}, {verb} {calls}: {units.size(round(kept.bytes * left))}.",
            f"Reduce each tensor before it is kept, at {_at(kept.lines)}: store {_reduced(reductions, kept)} in "
            f"`{name}` instead of the whole tensor.",
            "Leave it when another cell needs the whole tensors.",
            lines,
        )
    ]


def _read_later(kept: KeptTensors, once: SingleRead) -> NeedlessMemory:
    """Where one later loop reads what the first has kept, item by item."""
    whole, items = kept.bytes + kept.together_bytes, max(kept.tensors // once.parts, 1)
    names = " and ".join(f"`{name}`" for name in sorted(once.names, key=lambda each: each != kept.name))
    shape = "×".join(map(str, kept.shape or ()))
    verb, them = ("holds", "it") if len(once.names) == 1 else ("hold", "them")
    reader = f"one loop in `{once.given_to}`" if once.given_to else "one later loop"
    return NeedlessMemory(
        kept,
        # one item is alive at a time
        whole - whole // items,
        True,
        f"{names} {verb} {units.size(whole)} that {reader} reads item by item",
        f"{holder(kept)} holds {number_held(kept)} of up to {shape}, put into it at "
        f"{_at(once.filled)}. Nothing but the loop at line {once.read_in} reads {them}, one item at a time, and it "
        "keeps only what it makes of each.",
        _as_it_is_made(once, names, them),
        f"Leave it when another cell reads {them} again, or when making an item changes what the later loop uses.",
        tuple(sorted({once.made_in, once.read_in})),
    )


def _as_it_is_made(once: SingleRead, names: str, them: str) -> str:
    """The change: each item is read as soon as it is made."""
    need = "is" if them == "it" else "are"
    unless = f"{names} {need} then not needed, unless a later cell reads {them}."
    text = once.source.text if len(once.names) == 1 else ""
    if text and len(text) <= _LONGEST_TEXT:
        to = f"to `{once.given_to}`" if once.given_to else f"to the loop at line {once.read_in}"
        itself = f"Give `{text}` itself {to}, without a list of it"
        if once.source.comprehension:
            itself = f"Give the comprehension at line {once.made_in} {to} as a generator, `({text[1:-1]})`"
        return f"{itself}: each item is then made when the loop asks for it, and one is held at a time. {unless}"
    if once.given_to:
        return (
            f"Make the loop at line {once.made_in} a function that yields each item in place of putting it into "
            f"{names}, and give that generator to `{once.given_to}`. {unless}"
        )
    return (
        f"Do the work of the loop at line {once.read_in} in the loop at line {once.made_in}, on each item as soon as "
        f"it is made, and keep only the result. {unless}"
    )


def _at(lines: tuple[int, ...]) -> str:
    numbers = ", ".join(map(str, lines[:_MOST_CALLS]))
    return f"line {numbers}" if len(lines) == 1 else f"lines {numbers}"


def _reduced(reductions: tuple[Reduction, ...], kept: KeptTensors) -> str:
    """What to store: of a tensor `x` that goes in."""
    if any(each.over_items for each in reductions):
        return "one running result"
    if any(each.of.stacked for each in reductions):
        return "the reduced one"
    copy = _copied(kept)
    written = (f"`x{each.call}.{copy}()`" if each.call[0] == "[" else f"`x.{each.call}`" for each in reductions)
    return " and ".join(list(dict.fromkeys(written))[:_MOST_CALLS])
