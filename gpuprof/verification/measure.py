"""The two doors: two cells in one namespace, or two functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from gpuprof.errors import UsageError, VerificationError
from gpuprof.rules.base.guard import EXACT_TOLERANCE, Guard
from gpuprof.verification.cells.hooks import Hooks
from gpuprof.verification.cells.variable_reads import read_names
from gpuprof.verification.cells.variants import CallVariant, CellVariant, Variant
from gpuprof.verification.effects.unseen import refuse_awaiting, refuse_resets
from gpuprof.verification.measurement import Measurement
from gpuprof.verification.protected import roots_of, run_protected
from gpuprof.verification.state.snapshot import Snapshot
from gpuprof.verification.trial import BUDGET_S, MOST_PAIRS, Settings, Trial

_GUARDS = {"exact": Guard.EXACT, "numeric": Guard.NUMERIC, "semantic": Guard.SEMANTIC}
_HALF = re.compile(r"\b(bfloat16|float16|half|autocast)\b")


def measure_cells(
    before: str,
    after: str,
    namespace: dict[str, Any],
    *,
    guard: Guard = Guard.EXACT,
    tolerance: float = EXACT_TOLERANCE,
    budget_s: float = BUDGET_S,
    most_pairs: int = MOST_PAIRS,
    whole_cell: bool = False,
    predicted: tuple[float, float, float] | None = None,
    seed: int | None = None,
    allow_effects: bool = False,
    on_progress: Callable[[str], None] = lambda text: None,
) -> Measurement:
    """Measure the cell `after` against the cell `before`, both plain Python run in `namespace`.

    Steps are timed, or with `whole_cell` the cell from its first line to its last. Whatever the cells change, in the
    namespace, in what it reaches and in the process, is put back, however this ends. VerificationError where that
    cannot be done; what would act on the world (files, processes, network) is stopped before it happens, but for
    `allow_effects`. VariantError where one of the two raised.
    """
    names, variants = _read(before, after, namespace)
    roots = roots_of(names, namespace)
    half = bool(_HALF.search(after))
    settings = Settings(
        guard,
        tolerance,
        half,
        budget_s,
        most_pairs,
        whole_cell,
        predicted=predicted,
        seed=seed,
        on_progress=on_progress,
    )
    sources = () if allow_effects else (before, after)
    for source in sources:
        refuse_resets(source)
    return _compare(variants, roots, [namespace], settings, allow_effects=allow_effects)


def verify(
    a: Callable[[], Any],
    b: Callable[[], Any],
    *,
    state: Iterable[Any] = (),
    guard: str = "exact",
    tolerance: float = EXACT_TOLERANCE,
    budget_s: float = BUDGET_S,
    pairs: int = MOST_PAIRS,
    allow_effects: bool = False,
) -> Measurement:
    """Measure function `b` against function `a`: each call is one step, and what it returns its loss.

    The loss of a call that runs `backward()` is what it was called on. What the two functions reach (through their
    closures, the globals they use, bound objects) and `state` are put back before every block and at the end.
    `guard` says how far `b` may compute something else: "exact" (losses within `tolerance`, relative), "numeric" (other
    arithmetic: TF32, autocast, compile) or "semantic" (another training). A function that would write a file, start a
    program or use the network is stopped before it does, unless `allow_effects`. UsageError where an argument is
    wrong, VerificationError where the two cannot be measured, VariantError where one of them raised.
    """
    if guard not in _GUARDS:
        raise UsageError(f"verify(guard={guard!r}): expected one of {', '.join(_GUARDS)}")
    if not callable(a) or not callable(b):
        raise UsageError("verify(a, b): expected two functions without arguments; each call of one is a step")
    if budget_s <= 0 or pairs < 1:
        raise UsageError("verify(): expected budget_s above 0 and pairs of 1 or more")
    settings = Settings(_GUARDS[guard], tolerance, half=True, budget_s=budget_s, most_pairs=pairs)
    roots = [(_name(a, "a"), a), (_name(b, "b"), b), *((f"state[{at}]", each) for at, each in enumerate(state))]
    variants = CallVariant("the first function", a), CallVariant("the second function", b)
    return _compare(variants, roots, [], settings, allow_effects=allow_effects)


def _compare(
    variants: tuple[Variant, Variant],
    roots: list[tuple[str, Any]],
    namespaces: list[dict[str, Any]],
    settings: Settings,
    *,
    allow_effects: bool,
) -> Measurement:
    def measure(snapshot: Snapshot, hooks: Hooks) -> Measurement:
        return Trial(*variants, snapshot, hooks, settings).run()

    return run_protected(measure, roots, namespaces, allow_effects=allow_effects)


def _read(before: str, after: str, namespace: dict[str, Any]) -> tuple[set[str] | None, tuple[Variant, Variant]]:
    try:
        found = [read_names(source) for source in (before, after)]
        for source in (before, after):
            refuse_awaiting(source)  # it does not compile, and deserves a better reason
        variants = CellVariant("the cell", before, namespace), CellVariant("the changed cell", after, namespace)
    except SyntaxError as error:
        raise VerificationError(f"the cell is not plain Python (line {error.lineno}: {error.msg})") from error
    return None if None in found else {name for names in found if names is not None for name in names}, variants


def _name(function: Any, otherwise: str) -> str:
    return str(getattr(function, "__name__", otherwise))
