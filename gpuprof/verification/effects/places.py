"""Who does it: the frames from where an effect would happen, outward, to the user's code or to harmless machinery."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from gpuprof.verification.cells.user_code import is_users
from gpuprof.verification.effects.effect import Effect, EffectKind

_OURS = __name__.partition(".")[0]
# these stand between a cell and what it does; any other code of ours runs when the cell has ended
_BETWEEN = (__name__.rpartition(".")[0], "gpuprof.verification.cells.hooks")
_VARIANT = "<gpuprof: "
LEFT_BEHIND = "code that the cell leaves behind"
_FILES, _PROCESSES, _NETWORK = EffectKind.FILES, EffectKind.PROCESSES, EffectKind.NETWORK


@dataclass(frozen=True)
class _Machinery:
    """Modules whose effects of these kinds nobody minds when they are repeated.

    `near`: with nothing but Python's library between. `cached`: files only in the folders of caches.
    """

    modules: tuple[str, ...]
    kinds: tuple[EffectKind, ...]
    near: bool = True
    cached: bool = False


_HARMLESS = (
    # compiled modules
    _Machinery(("_frozen_importlib_external", "importlib._bootstrap_external"), (_FILES,)),
    # a DataLoader starts its workers and ends them; these hand their batches over through the sockets below
    _Machinery(("torch.utils.data.dataloader", "torch.utils.data._utils"), (_PROCESSES,)),
    _Machinery(
        (
            "multiprocessing.resource_sharer",
            "multiprocessing.util",
            "multiprocessing.heap",
            "multiprocessing.forkserver",
        ),
        (_FILES, _NETWORK),
    ),
    # compiling again gives the same: kernels in the compilers' own folders
    _Machinery(("torch._inductor", "triton", "torch.utils._triton"), (_PROCESSES,), near=False),
    _Machinery(("torch._inductor", "torch._dynamo", "torch._functorch", "triton"), (_FILES,), near=False, cached=True),
    _Machinery(("numba.core.caching", "matplotlib.font_manager"), (_FILES,), near=False),
)


def cache_folders() -> tuple[str, ...]:
    """Where compilers keep what they have compiled."""
    named = [os.environ.get(name) for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME")]
    own = [str(Path.home() / name) for name in (".triton", ".cache", ".nv")]
    return tuple(os.path.realpath(each) for each in (tempfile.gettempdir(), *own, *named) if each)


def place(
    frame: FrameType | None, effect: Effect, namespaces: Iterable[dict[str, Any]], caches: tuple[str, ...]
) -> str | None:
    """Where it would happen, to be read before a verb; None where machinery does it that may."""
    spaces, near = list(namespaces), True
    while frame is not None:
        names = frame.f_globals
        module = str(names.get("__name__", ""))
        ours = module.startswith(_BETWEEN)
        if not ours and module.partition(".")[0] == _OURS:
            break
        if not ours and any(_may(each, module, effect, near, caches) for each in _HARMLESS):
            return None
        if frame.f_code.co_filename.startswith(_VARIANT) or (not ours and is_users(names, spaces)):
            return _line(frame)
        near = near and (ours or module.partition(".")[0] in sys.stdlib_module_names)
        if effect.direct and not near:
            return None
        frame = frame.f_back
    return None if effect.direct else LEFT_BEHIND


def _may(machinery: _Machinery, module: str, effect: Effect, near: bool, caches: tuple[str, ...]) -> bool:
    if effect.kind not in machinery.kinds or (machinery.near and not near):
        return False
    if not any(module == each or module.startswith(f"{each}.") for each in machinery.modules):
        return False
    return not machinery.cached or (bool(effect.paths) and all(_inside(each, caches) for each in effect.paths))


def _inside(path: str, folders: tuple[str, ...]) -> bool:
    real = os.path.realpath(path)
    return any(real == each or real.startswith(f"{each}{os.sep}") for each in folders)


def _line(frame: FrameType) -> str:
    """`line 3 of the cell`, or the function and the line of the cell that leads to it."""
    name = frame.f_code.co_qualname.removeprefix("<module>")
    outer: FrameType | None = frame
    while outer is not None:
        filename = outer.f_code.co_filename
        if filename.startswith(_VARIANT):
            line = f"line {outer.f_lineno} of {filename.removeprefix(_VARIANT).rstrip('>')}"
            return line if outer is frame or not name else f"{name}(), called in {line},"
        outer = outer.f_back
    where = Path(frame.f_code.co_filename).name
    return f"{name}(), line {frame.f_lineno}," if name else f"line {frame.f_lineno} of {where}"
