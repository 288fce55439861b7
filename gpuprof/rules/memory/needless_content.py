"""What a name need not hold because of what is in it: the same numbers again, zeros, types wider than they need, parts
of its items that nothing reads, or batches that an `itertools.cycle` keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.containers.unread_parts import UnreadParts
from gpuprof.analyses.memory.holder_text import converted_from
from gpuprof.analyses.memory.kept_memory import KeptTensors
from gpuprof.analyses.memory.last_items import LastItems
from gpuprof.rules.memory.holder_words import holder, number_held

_MOST_NAMES = 3
# axes of the windows of a series of single numbers
_SERIES = 2


@dataclass(frozen=True)
class NeedlessMemory:
    """What of `kept` need not be held, bytes. `sure`: the text shows that what is left would do. `leave_it`: when not
    to follow the `change`. `lines` (1-based) of the cell that show it. `falls_bytes`: of the peak, where that is known
    apart from when memory grew."""

    kept: KeptTensors
    bytes: int
    sure: bool
    title: str
    detail: str
    change: str
    leave_it: str
    lines: tuple[int, ...] = ()
    falls_bytes: int | None = None


def repeated(kept: KeptTensors, others: Sequence[KeptTensors] = ()) -> NeedlessMemory:
    """Overlapping windows, or rows that are alike. `others` hold the same as well."""
    times, name = units.count(round(kept.repeated_times)), kept.shown
    rows = "np.broadcast_to" if kept.arrays == kept.tensors else "expand"
    needless = kept.repeated_bytes + sum(each.repeated_bytes for each in others)
    names = _listed((*others, kept))
    store, lines = ("store", "Their lines") if others else ("stores", f"Lines of `{name}`")
    series = ", where `x` is the series as a tensor" if others and rows == "expand" else ""
    spared = f" {_listed(others)} {'are' if len(others) > 1 else 'is'} not needed then." if others else ""
    return NeedlessMemory(
        kept,
        needless,
        kept.in_parts,
        f"{names} {store} each value {times} times: {units.size(needless)} are duplicates",
        f"{lines} are the lines before them, moved on or unchanged: overlapping windows or repeated rows, written out.",
        f"Make `{name}` a view that copies nothing: overlapping windows with {_windows(kept)}, repeated rows with "
        f"`{rows}`{series}.{spared} Each batch then copies only its own part; or cut it in the data set’s "
        "`__getitem__`.",
        f"Leave it when `{name}` is changed in place, or all of it is copied later anyway.",
        lines=tuple(line for each in others for line in each.lines or each.made),
    )


def repeated_alike(held: Sequence[KeptTensors], source: str) -> dict[str, list[KeptTensors]]:
    """Windows of which the text makes others by a conversion, by the name of these."""
    windows = {each.name: each for each in held if each.repeated_bytes and not each.function}
    found: dict[str, list[KeptTensors]] = {}
    for name, each in windows.items():
        before = windows.get(converted_from(source, name))
        if before is not None and before.shape == each.shape:
            found[name] = [*found.pop(before.name, []), before]
    return found


def _listed(others: Sequence[KeptTensors]) -> str:
    return " and ".join(f"`{each.shown}`" for each in others)


def _windows(kept: KeptTensors) -> str:
    """The view with the axes in the order of the tensor: windows, positions, features."""
    view, moved, far = "x.unfold(0, length, step)", ".transpose(1, 2)", "{}.movedim(-1, 1)"
    if kept.arrays == kept.tensors:
        view, moved = "np.lib.stride_tricks.sliding_window_view(x, length, axis=0)[::step]", ".swapaxes(1, 2)"
        far = "np.moveaxis({}, -1, 1)"
    if kept.shape is None:
        return f"`{view}`, followed by `{moved}` where `x` has an axis of features"
    axes = len(kept.shape)
    if axes <= _SERIES:
        return f"`{view}` of a series `x` with one axis"
    # each value stands in as many windows as these have positions, by a step of one
    last = kept.shape[-1] >= kept.repeated_times
    if last and kept.shape[1] < kept.repeated_times:
        return f"`{view}`"
    in_order = f"`{view}{moved}`" if axes == _SERIES + 1 else f"`{far.format(view)}`"
    return f"{in_order}, or `{view}` where the positions come last" if last else in_order


def zeros(kept: KeptTensors) -> NeedlessMemory:
    """One-hot rows, or few other numbers among zeros."""
    needless = kept.zeros_bytes + (kept.alike.needless_bytes if kept.alike else 0)
    names, hold = _names(kept), "hold" if kept.alike else "holds"
    detail = "The other numbers are spread over its rows."
    if kept.one_hot:
        detail = "Each line of it has a single 1, which says no more than the index of a class."
    return NeedlessMemory(
        kept,
        needless,
        kept.one_hot or kept.in_parts or kept.multiplied,
        f"{names} {hold} {units.size(round(needless / kept.zeros_share))}, of which {units.percent(kept.zeros_share)} "
        "are zeros",
        detail.replace("of it", "of them").replace("its", "their") if kept.alike else detail,
        _class_numbers(kept, names) if kept.one_hot else _sparse(kept, names),
        "Leave it when the rows are mixed or smoothed later, as mixup does."
        if kept.one_hot
        else "Leave it when a later call needs the whole matrix, and takes no sparse one.",
        _alike_lines(kept),
        kept.making_bytes,
    )


def _class_numbers(kept: KeptTensors, names: str) -> str:
    if kept.arrays == kept.tensors:
        return (
            f"Keep the class numbers instead of {names}: compare them (`pred == truth`), and count pairs of classes "
            "with `np.bincount(truth * k + pred, minlength=k * k)`, class numbers as `int64`. Where one-hot rows are "
            "needed, make them for each batch only, as `bool` or `uint8`: `np.eye(k, dtype=bool)[y[idx]]`."
        )
    taken = "`cross_entropy` takes them, also with `label_smoothing`. "
    if kept.multiplied:
        taken = "A product with one-hot rows takes rows of the other factor: `w[y]` instead of `one_hot @ w`. "
    return (
        f"Keep the class indices instead of {names}. {taken}Where one-hot rows are needed, make the rows of each batch "
        "only, in the loop or in the data set’s `__getitem__`: `F.one_hot(y[idx], classes)`."
    )


def _sparse(kept: KeptTensors, names: str) -> str:
    each_batch = "make the rows of each batch only, in the loop or in the data set’s `__getitem__`"
    if kept.densified:
        rows = f"`x[idx].{kept.densified}()`"
        if kept.densified == "to_dense":
            rows = "`x.index_select(0, idx).to_dense()`"
        return (
            f"Keep {names} sparse: leave out `.{kept.densified}()` at {_at(kept.made)}, and make only the rows of each "
            f"batch dense, in the loop or in the data set’s `__getitem__`: {rows}."
        )
    if kept.arrays == kept.tensors:
        return (
            f"Make {names} a sparse matrix (`scipy.sparse.csr_matrix`), and make only the rows of each batch dense "
            f"(`x[idx].toarray()`); or {each_batch}."
        )
    return (
        f"Make {names} a sparse tensor (`x.to_sparse_csr()`, which matrix products take as the first factor), or "
        f"{each_batch}."
    )


def narrow(kept: KeptTensors) -> NeedlessMemory:
    """Numbers that a smaller type holds exactly."""
    needless = kept.wide_bytes - kept.narrow_bytes
    wide = kept.wide_bytes + (kept.alike.bytes if kept.alike else 0)
    saved = needless + (kept.alike.needless_bytes if kept.alike else 0)
    names, hold = _names(kept), "hold" if kept.alike else "holds"
    small, large = kept.narrow_type, kept.wide_type
    store, back = f"`x.to(torch.{small})`", f"`x[idx].to(torch.{large})`"
    if kept.arrays == kept.tensors:
        store, back = f"`x.astype(np.{small})`", f"`x[idx].astype(np.{large})`"
    later = f", and convert each batch where it is used: {back}."
    if kept.function and not kept.in_parts:
        later = "."
    elif large == "int64":
        later += " Indexing, `gather` and the targets of `cross_entropy` want `int64`."
    return NeedlessMemory(
        kept,
        saved,
        kept.in_parts,
        f"{names} {hold} {units.size(wide)} of `{large}` that would fit in `{small}`",
        f"Every number looked at, a sample, is exactly a number of `{small}`, which takes {units.size(wide - saved)} "
        f"instead of {units.size(wide)}.",
        f"Make {names} `{small}` at {_at(_lines(kept))} ({store} of each part, or the `dtype` argument of "
        f"the call){later}",
        f"Leave it when later numbers do not fit in `{small}`, such as sums or results of calculations with {names}.",
        _alike_lines(kept),
    )


def _names(kept: KeptTensors) -> str:
    return " and ".join(f"`{name}`" for name in (kept.shown, *(kept.alike.names if kept.alike else ()))[:_MOST_NAMES])


def _lines(kept: KeptTensors) -> tuple[int, ...]:
    return tuple(sorted({*(kept.lines or kept.made), *_alike_lines(kept)}))


def _alike_lines(kept: KeptTensors) -> tuple[int, ...]:
    return kept.alike.lines if kept.alike else ()


def _at(lines: tuple[int, ...]) -> str:
    numbers = ", ".join(map(str, lines[:_MOST_NAMES]))
    return f"line {numbers}" if len(lines) == 1 else f"lines {numbers}"


def cycled(kept: KeptTensors) -> NeedlessMemory:
    """What `itertools.cycle` keeps, to give it again."""
    each, size = kept.cycled_bytes // kept.tensors, units.size(kept.cycled_bytes)
    return NeedlessMemory(
        kept,
        kept.cycled_bytes - each,
        True,
        f"`{kept.name}` keeps {size} of batches in an `itertools.cycle`",
        f"`itertools.cycle` stores everything that it hands out in its first pass: {size} in "
        f"{units.plural(kept.tensors, 'tensor')} so far. A DataLoader under it runs only once: later passes repeat the "
        "same batches in the same order, without new shuffling or augmentation.",
        "Start the DataLoader again for each pass: write `def forever(loader):` with `while True: yield from loader` "
        "in it, and use `forever(loader)` in place of `itertools.cycle(loader)`.",
        "Leave it when each pass has to repeat the same batches.",
    )


def last_few(kept: KeptTensors, last: LastItems) -> NeedlessMemory:
    """Lists that grow in a loop, of which the last items are read."""
    items = max(kept.levels[0].items, last.number)
    names = " and ".join(f"`{name}`" for name in kept.last_names[:_MOST_NAMES])
    several = len(kept.last_names) > 1
    what = f"the last {last.number} items" if last.number > 1 else "the last item"
    dropped = dict.fromkeys((*kept.last_names, *last.joined))
    drops = ", ".join(f"`del {name}[:-{last.text}]`" for name in dropped)
    return NeedlessMemory(
        kept,
        round(kept.last_bytes * (1 - last.number / items)),
        # a later cell may read a name of the notebook
        kept.function is not None,
        f"{names} {'hold' if several else 'holds'} {units.size(kept.last_bytes)}, of which only {what} "
        f"{'are' if last.number > 1 else 'is'} read",
        f"{'They grow' if several else 'It grows'} with each turn of a loop, to {units.count(items)} items"
        f"{' each' if several else ''}. All that is read of {'them' if several else 'it'}, at line "
        f"{', '.join(map(str, last.lines))}, is `[-{last.text}:]`.",
        f"Drop what is no longer read, after each `append`: {drops}.",
        "Leave it when a later cell reads the earlier items.",
        last.lines,
    )


def unread_of_items(kept: KeptTensors, unread: UnreadParts) -> NeedlessMemory:
    """Attributes and entries of a container's items that nothing reads once they are in it."""
    size, parts, read = units.size(unread.bytes), _quoted(unread.steps), _quoted(unread.read)
    lines = kept.lines or kept.made
    return NeedlessMemory(
        kept,
        unread.bytes,
        # a model is what a later cell may want
        not unread.models,
        f"Items of `{kept.name}` keep {size} in {parts} that nothing reads later",
        f"{holder(kept)} holds {number_held(kept)}. Once an item is in `{kept.name}`, the cell reads {read} of it, "
        f"which does not need {parts}.",
        _dropped(unread, f"`{kept.name}`" + (f" at {_at(lines)}" if lines else "")),
        f"Leave it when another cell reads {parts}, or continues with the items.",
    )


def _dropped(unread: UnreadParts, holder_at: str) -> str:
    if all(each.startswith("[") for each in unread.steps):
        return f"Leave {_quoted(unread.steps)} out of what goes into {holder_at}."
    gone = ", ".join(f"`item{each} = None`" for each in unread.steps)
    names = " and ".join(f"`self{each}`" for each in unread.steps)
    return (
        f"Drop what nothing reads when an item is finished, before it goes into {holder_at}: {gone}, with `item` for "
        f"the `{unread.kind}` object. Or keep them in variables of the method that needs them, not as {names}."
    )


def _quoted(parts: Sequence[str]) -> str:
    return " and ".join(f"`{each}`" for each in parts[:_MOST_NAMES])
