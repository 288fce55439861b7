"""The settings that a cell's facts make worth a try: the likeliest to help first, in case the time is short."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gpuprof.code_edits.data.loaders import copy_without_blocking, pin_batches, set_for_workers, set_loader
from gpuprof.code_edits.data.whole_batches import fetch_whole_batches
from gpuprof.code_edits.loops.optimizers import set_optimizer
from gpuprof.code_edits.loops.switches import set_threads, try_out_convolutions
from gpuprof.code_edits.models.modules import compile_model, lay_out_channels_last, lay_out_model
from gpuprof.code_edits.models.precision import add_autocast, set_matmul_precision
from gpuprof.code_edits.syntax.moved_lines import moved_line
from gpuprof.model.context import Loader
from gpuprof.rules.base.guard import FUSED_TOLERANCE, Guard
from gpuprof.verification.tuning.facts import CellFacts
from gpuprof.verification.tuning.setting import CHANGING, GROUPS, Setting

Edit = Callable[[str], str | None]
_FUSED = ("Adam", "AdamW", "SGD")
_FUSED_ON_CPU = (*_FUSED, "Adagrad")
_MOST_COUNTS = 3
_AHEAD = 4


def offers(facts: CellFacts, *, only: Collection[str] = (), allow_changing: bool = False) -> list[Setting]:
    """In the order in which they are tried; `only` names groups. Not all of them find a place in the cell."""
    made = [
        *_batches(facts),
        *_workers(facts),
        *_pinning(facts),
        *_threads(facts),
        *_optimizer(facts),
        *_layout(facts),
        *_precision(facts),
        *_compiled(facts),
        *_prefetch(facts),
    ]
    allowed = [each for each in made if allow_changing or each.group not in CHANGING]
    return [each for each in allowed if not only or each.group in only]


def unknown_groups(only: Collection[str]) -> list[str]:
    """Those that are no groups."""
    return [each for each in only if each not in GROUPS]


def _batches(facts: CellFacts) -> list[Setting]:
    loaders = [each for each in facts.loaders if each.iterable is False or each.samples is not None]
    edit = _on_each([each for each in loaders if each.batch_size], facts, fetch_whole_batches)
    return [Setting("batches fetched whole", "batches", edit)] if loaders else []


def _workers(facts: CellFacts) -> list[Setting]:
    """Not for iterable datasets, of which each worker would give all samples."""
    loaders = [each for each in facts.loaders if each.samples is not None and not each.iterable]
    if not loaders or not facts.forks:
        return []
    now = max(each.workers for each in loaders)
    counts = _worker_counts(facts.cores) - {now}
    made = []
    for count in sorted(counts):
        arguments = {"num_workers": str(count)} | ({"persistent_workers": "True"} if count else {})
        made.append(Setting(_named(arguments), "workers", _with(loaders, facts, set_loader, **arguments)))
    if now:
        none = {"num_workers": "0", "persistent_workers": "False"}
        made.append(Setting("num_workers=0", "workers", _with(loaders, facts, set_loader, **none)))
        again = [each for each in loaders if each.workers and not each.persistent_workers]
        lasting = _with(again, facts, set_for_workers, persistent_workers="True")
        made.append(Setting("persistent_workers=True", "workers", lasting))
    return made


_PREFETCHED = 2  # batches a worker, where nothing else is asked


def _worker_counts(cores: int) -> set[int]:
    """At most three: one, about half of the cores, all."""
    return set(sorted({1, max(cores // 2, 1), max(cores, 2)})[:_MOST_COUNTS])


def _prefetch(facts: CellFacts) -> list[Setting]:
    """Also where there are no workers yet: it is then tried with those that the race found."""
    loaders = [each for each in facts.loaders if (each.prefetch_factor or _PREFETCHED) < _AHEAD]
    edit = _with(loaders, facts, set_for_workers, prefetch_factor=str(_AHEAD))
    return [Setting(f"prefetch_factor={_AHEAD}", "prefetch", edit)] if loaders else []


def _pinning(facts: CellFacts) -> list[Setting]:
    if not facts.on_device:
        return []
    loaders = [each for each in facts.loaders if not each.pin_memory]
    lines = [each.line for each in loaders if each.line is not None]
    if loaders and len(lines) == len(loaders):

        def pinned(source: str) -> str | None:
            moved = [_moved(facts, source, line) for line in lines]
            known = [line for line in moved if line is not None]
            return pin_batches(source, known) if len(known) == len(moved) else None

        return [Setting("pin_memory=True, non_blocking=True", "pinning", pinned)]
    if facts.loaders and not loaders:
        edit = _on_each(facts.loaders, facts, copy_without_blocking)
        return [Setting("non_blocking=True", "pinning", edit)]
    return []


def _threads(facts: CellFacts) -> list[Setting]:
    """Of a cell on a device they matter little: only one, which leaves the cores to the workers."""
    counts = {1} if facts.on_device else {1, max(facts.cores // 2, 1), facts.cores}
    return [
        Setting(f"set_num_threads({count})", "threads", lambda source, count=count: set_threads(source, count))  # type: ignore[misc]
        for count in sorted(counts - {facts.threads}, reverse=True)
    ]


def _optimizer(facts: CellFacts) -> list[Setting]:
    """Every optimizer of a class that has it on its device; not for complex numbers, which it lacks."""
    places = []
    for each in facts.optimizers:
        device = (each.device or "").partition(":")[0]
        classes = _FUSED if device == "cuda" else _FUSED_ON_CPU if device == "cpu" else ()
        has_it = each.name in classes and each.floating is not False
        if each.line is not None and has_it and not each.fused:
            places.append((each.line, each.name))

    def fused(source: str) -> str | None:
        now = source
        for line, name in places:
            at = _moved(facts, now, line)
            now = (set_optimizer(now, at, name, fused="True") if at is not None else None) or now
        return None if now == source else now

    return [Setting("fused=True", "optimizer", fused, tolerance=FUSED_TOLERANCE)] if places else []


def _layout(facts: CellFacts) -> list[Setting]:
    if not facts.convolves:
        return []

    def laid_out(source: str) -> str | None:
        return lay_out_channels_last(source, facts.models) or lay_out_model(source, facts.models)

    made = [Setting("channels_last", "layout", laid_out, Guard.NUMERIC)]
    if facts.on_device:
        made.append(Setting("cudnn.benchmark", "convolutions", try_out_convolutions, Guard.NUMERIC))
    return made


def _compiled(facts: CellFacts) -> list[Setting]:
    if not facts.compiles:
        return []
    edit: Edit = lambda source: compile_model(source, (), facts.models)  # noqa: E731
    return [Setting("model.compile()", "compile", edit, Guard.NUMERIC)]


def _precision(facts: CellFacts) -> list[Setting]:
    device = "cuda" if facts.on_device else "cpu"
    made = []
    if facts.has_tf32:
        made.append(
            Setting("TF32 products", "tf32", lambda source: set_matmul_precision(source, "high"), Guard.NUMERIC)
        )
    if facts.has_bfloat16:
        edit: Edit = lambda source: add_autocast(source, device, "bfloat16", facts.models)  # noqa: E731
        made.append(Setting("bfloat16 autocast", "autocast", edit, Guard.NUMERIC))
    return made


def _named(arguments: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in arguments.items())


def _with(loaders: Collection[Loader], facts: CellFacts, edit: Callable[..., str | None], **arguments: str) -> Edit:
    return _on_each(loaders, facts, lambda source, line: edit(source, line, **arguments))


def _on_each(loaders: Collection[Loader], facts: CellFacts, edit: Callable[[str, int], str | None]) -> Edit:
    """The edit at every loader's line, one after the other; None where it finds no place at any."""

    def made(source: str) -> str | None:
        now = source
        for line in dict.fromkeys(each.line for each in loaders if each.line is not None):
            at = _moved(facts, now, line)
            changed = edit(now, at) if at is not None else None
            now = changed if changed is not None else now
        return None if now == source else now

    return made


def _moved(facts: CellFacts, source: str, line: int) -> int | None:
    return moved_line(facts.source, source, line)
