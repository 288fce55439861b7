"""What acts on the world without an audit event (compiled writers, deferred calls, the notebook)."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from gpuprof.verification.effects.effect import Effect, EffectKind
from gpuprof.verification.effects.events import shown, written, written_by_number

Rule = Callable[[tuple[Any, ...], dict[str, Any]], Effect | None]

_HARMLESS_MAGICS = frozenset({"matplotlib", "config", "precision", "autoreload", "pylab", "time", "timeit"})
_SENDING = ("log", "add_", "save", "set_", "finish", "end_", "alert", "upload", "append", "assign", "link_", "update")


class Watching(Protocol):
    """Who is asked."""

    def met(self, effect: Effect | None) -> None:
        """StoppedEffect where it must not happen."""

    def starts(self, thread: threading.Thread) -> None:
        """It is about to be started."""


def _writes(at: int, *names: str) -> Rule:
    """The file that is argument `at`, or one of these by name; in memory there is none."""

    def rule(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Effect | None:
        path = args[at] if at < len(args) else next((kwargs[name] for name in names if name in kwargs), None)
        return written(path) if isinstance(path, str | bytes | os.PathLike) else None

    return rule


def _opens(reading: tuple[Any, ...], default: Any, at: int, *names: str) -> Rule:
    """Writes the file that is argument 1, but in one of the modes that only read."""

    def rule(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Effect | None:
        mode = args[at] if at < len(args) else next((kwargs[name] for name in names if name in kwargs), default)
        return None if mode in reading else written(args[1] if len(args) > 1 else "")

    return rule


def _shared_memory(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Effect | None:
    shared = kwargs.get("shared", args[1] if len(args) > 1 else False)
    return written(args[0] if args else kwargs.get("filename", "")) if shared else None


def _by_number(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Effect | None:
    return written_by_number(args[0]) if args and isinstance(args[0], int) else None


def _is(what: str, kind: EffectKind = EffectKind.OTHER, *, direct: bool = False) -> Rule:
    effect = Effect(what, kind, direct=direct)
    return lambda _args, _kwargs: effect


def _line_magic(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Effect | None:
    name = args[1] if len(args) > 1 else ""
    return None if name in _HARMLESS_MAGICS else Effect(f"runs a magic, %{name}", EffectKind.OTHER)


def _command(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Effect | None:
    return Effect(f"runs a shell command, {shown(args[1] if len(args) > 1 else '')}", EffectKind.PROCESSES)


_NETWORK, _PROCESSES = EffectKind.NETWORK, EffectKind.PROCESSES
_RENDEZVOUS = _is("starts torch.distributed", _NETWORK)
_TRACKS = _is("sends to an experiment tracker", _NETWORK)
_WAITS = _is("waits for the user")
# module, attribute, rule; a module that nobody has imported is left alone
_DOORS: tuple[tuple[str, str, Rule], ...] = (
    ("torch._C", "PyTorchFileWriter.__init__", _writes(1, "file_name")),
    ("torch._C", "ScriptModule.save", _writes(1, "filename")),
    ("torch._C", "ScriptModule._save_for_mobile", _writes(1, "filename")),
    ("torch._C", "ScriptFunction.save", _writes(1, "filename")),
    ("torch._C._autograd", "_ProfilerResult.save", _writes(1)),
    ("torch", "from_file", _shared_memory),
    ("torch", "UntypedStorage.from_file", _shared_memory),
    ("torch._C._distributed_c10d", "TCPStore.__init__", _RENDEZVOUS),
    ("torch._C._distributed_c10d", "FileStore.__init__", _RENDEZVOUS),
    ("multiprocessing.process", "BaseProcess.start", _is("starts a process", _PROCESSES)),
    ("_thread", "start_new_thread", _is("starts a thread that Python cannot list", direct=True)),
    ("atexit", "register", _is("leaves something to be done when Python ends", direct=True)),
    *(("os", name, _writes(0, "path")) for name in ("mkfifo", "mknod")),
    *(("os", name, _by_number) for name in ("write", "pwrite", "writev", "pwritev", "sendfile")),
    ("os", "copy_file_range", lambda args, kwargs: _by_number(args[1:], kwargs)),
    ("builtins", "input", _WAITS),
    ("getpass", "getpass", _WAITS),
    *(("ipykernel.kernelbase", f"Kernel.{name}", _WAITS) for name in ("raw_input", "getpass")),
    ("h5py._hl.files", "File.__init__", _opens(("r",), "r", 2, "mode")),
    ("soundfile", "SoundFile.__init__", _opens(("r", None), "r", 2, "mode")),
    *(("safetensors.torch", name, _writes(1, "filename")) for name in ("serialize_file", "save_file")),
    *(("safetensors.numpy", name, _writes(1, "filename")) for name in ("serialize_file", "save_file")),
    ("pyarrow.parquet.core", "ParquetWriter.__init__", _writes(1, "where")),
    *(("cv2", name, _writes(0, "filename")) for name in ("imwrite", "VideoWriter")),
    *(("polars", f"DataFrame.write_{name}", _writes(1, "file")) for name in ("csv", "parquet", "ipc", "json")),
    ("psycopg2", "connect", _is("connects to a database", _NETWORK)),
    ("duckdb", "connect", _is("opens a database", EffectKind.FILES)),
)
# whose public methods of these names hand over to a thread or process that sends
_TRACKERS = (
    *(("wandb", ""), ("wandb.sdk.wandb_run", "Run"), ("mlflow", ""), ("mlflow.tracking.client", "MlflowClient")),
    *(("neptune.metadata_containers", "Run"), ("comet_ml", "BaseExperiment"), ("comet_ml", "CometExperiment")),
    ("torch.utils.tensorboard.writer", "SummaryWriter"),
)


@contextlib.contextmanager
def doors_guarded(watch: Watching) -> Iterator[None]:
    """Wrap them; all are put back."""
    with contextlib.ExitStack() as stack:
        for holder, name, rule in (*_found(), *_trackers(), *_notebook(), *_event_loop()):
            original = getattr(holder, name, None)
            if original is not None:
                guarded = _guarded(watch, original, rule)
                bound = isinstance(holder, type) and not callable(getattr(type(original), "__get__", None))
                _replaced(stack, holder, name, staticmethod(guarded) if bound else guarded)
        _replaced(stack, threading.Thread, "start", _announced(watch, threading.Thread.start))
        yield


def _guarded(watch: Watching, original: Any, rule: Rule) -> Any:
    @functools.wraps(original)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        watch.met(rule(args, kwargs))
        return original(*args, **kwargs)

    return guarded


def _announced(watch: Watching, original: Any) -> Any:
    @functools.wraps(original)
    def start(thread: threading.Thread) -> None:
        watch.starts(thread)
        original(thread)

    return start


def _replaced(stack: contextlib.ExitStack, holder: Any, name: str, value: Any) -> None:
    own = vars(holder).get(name) if name in vars(holder) else None
    try:
        setattr(holder, name, value)
    except (AttributeError, TypeError):  # a compiled class that cannot be changed
        return
    if own is None:
        stack.callback(delattr, holder, name)
    else:
        stack.callback(setattr, holder, name, own)


def _found() -> Iterator[tuple[Any, str, Rule]]:
    for module, path, rule in _DOORS:
        *outer, name = path.split(".")
        holder = sys.modules.get(module)
        for each in outer:
            holder = getattr(holder, each, None)
        if holder is not None:
            yield holder, name, rule


def _trackers() -> Iterator[tuple[Any, str, Rule]]:
    for module, kind in _TRACKERS:
        holder: Any = sys.modules.get(module)
        holder = getattr(holder, kind, None) if kind else holder
        for name in list(vars(holder)) if holder is not None else ():
            if (
                name.startswith(_SENDING)
                and callable(getattr(holder, name))
                and not isinstance(getattr(holder, name), type)
            ):
                yield holder, name, _TRACKS


def _notebook() -> Iterator[tuple[Any, str, Rule]]:
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is not None:
        yield type(shell), "run_line_magic", _line_magic
        yield type(shell), "run_cell_magic", lambda args, _: Effect(f"runs a magic, %%{args[1]}", EffectKind.OTHER)
        for name in ("system", "getoutput"):
            yield type(shell), name, _command


def _event_loop() -> Iterator[tuple[Any, str, Rule]]:
    """What is left to the notebook's own loop runs when the cell has ended."""
    loop = asyncio._get_running_loop()
    if loop is None:
        return

    def rule(args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Effect | None:
        return Effect("leaves work to the event loop", EffectKind.OTHER, direct=True) if args[0] is loop else None

    for name in ("call_soon", "call_at", "call_soon_threadsafe"):
        yield asyncio.BaseEventLoop, name, rule
