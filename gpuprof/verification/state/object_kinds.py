"""What kind of object it is: a constant, something to leave alone, or something that cannot be put back."""

from __future__ import annotations

import datetime
import enum
import functools
import io
import multiprocessing.process
import pathlib
import re
import socket
import subprocess
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpuprof.verification.cells.user_code import is_users_module

_CONSTANTS: tuple[type, ...] = (
    *(int, float, complex, bool, str, bytes, range, slice, type(None), type(Ellipsis), type(NotImplemented)),
    *(np.generic, np.dtype, np.ufunc, enum.Enum, pathlib.PurePath, re.Pattern, types.CodeType, type(re.match("", ""))),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
)
_LEFT_ALONE: tuple[type, ...] = (
    *(weakref.ref, weakref.ProxyType, weakref.CallableProxyType, types.FrameType, types.TracebackType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType),
    *(types.MethodWrapperType, types.ClassMethodDescriptorType, types.MappingProxyType, types.GenericAlias),
    *(type(threading.Lock()), type(threading.RLock()), threading.local, types.UnionType),
    *(type({}.keys()), type({}.values()), type({}.items())),
)
# machinery whose objects no training cell works on, or that hold nothing of a cell's own
_MACHINERY = (
    *("IPython", "ipykernel", "traitlets", "ipywidgets", "comm", "zmq", "tornado", "asyncio", "logging", "gpuprof"),
    *(
        "torch._C",
        "torch._dynamo",
        "torch._inductor",
        "torch.fx",
        "torch._ops",
        "torch.cuda.streams",
        "torch.cuda.graphs",
    ),
    *(
        "importlib",
        "_frozen_importlib",
        "_frozen_importlib_external",
        "weakref",
        "_weakrefset",
        "inspect",
        "contextvars",
    ),
    *("typing", "abc", "_abc", "ctypes", "PIL", "multiprocessing.context", "multiprocessing.synchronize"),
)
_LIVE = {
    "multiprocessing.queues": "a queue between processes",
    "multiprocessing.pool": "a pool of processes",
    "multiprocessing.managers": "an object of another process",
    "multiprocessing.connection": "a connection between processes",
    "concurrent.futures": "a pool of threads or processes",
    "queue": "a queue between threads",
    "sqlite3": "a connection to a database",
}
_CONTENTS = (int, float, complex, bool, str, bytes, type(None))


def is_constant(value: Any) -> bool:
    """Whether nothing can change it."""
    return type(value) in _CONTENTS or isinstance(value, _CONSTANTS) or _is_torch_constant(value)


def is_left_alone(value: Any) -> bool:
    """Whether it is no part of what a cell computes with: machinery of Python, torch, the notebook, or of ours."""
    if isinstance(value, _LEFT_ALONE):
        return True
    if isinstance(value, types.ModuleType):
        return not is_users_module(value.__name__, getattr(value, "__file__", None)) or value.__name__ == "__main__"
    if isinstance(value, types.BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType | type)
    if value in (sys.stdout, sys.stderr, sys.stdin) if isinstance(value, io.IOBase) else False:
        return True
    if isinstance(value, types.FunctionType | type | multiprocessing.process.BaseProcess):
        return False
    return _is_machinery(type(value).__module__) and not _holds_state(value)


def describe_refused(value: Any) -> str | None:
    """What it is, in words, where its state cannot be put back; else None."""
    kind = type(value)
    if isinstance(value, types.GeneratorType | types.AsyncGeneratorType | types.CoroutineType):
        return "a generator that has been started elsewhere"
    if _is_loader_iterator(value) or (isinstance(value, Iterator) and not hasattr(value, "__dict__")):
        return "an iterator, which has a place that cannot be set"
    if isinstance(value, io.IOBase) and not isinstance(value, io.StringIO | io.BytesIO):
        return None if value.closed else "an open file"
    if isinstance(value, socket.socket):
        return "a connection"
    if isinstance(value, threading.Thread | subprocess.Popen | multiprocessing.process.BaseProcess):
        return "a thread or process"
    for module, name in _LIVE.items():
        if kind.__module__.startswith(module):
            return name
    return None if _is_plain(value, kind) else _opaque(value, kind)


def slots_of(kind: type) -> list[str]:
    """The attributes in slots of a class and its bases."""
    found: list[str] = []
    for base in kind.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            hidden = name.startswith("__") and not name.endswith("__")
            found.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]


@functools.cache
def _is_machinery(module: str) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in _MACHINERY)


def _is_plain(value: Any, kind: type) -> bool:
    """Whether its state stands in attributes, or it is one of the containers that are known."""
    return (
        hasattr(value, "__dict__")
        or bool(slots_of(kind))
        or kind.__module__ in ("builtins", "numpy", "collections")
        or _holds_state(value)
    )


def _opaque(value: Any, kind: type) -> str | None:
    """An object of compiled code: what cannot be copied (a video, a cursor) holds a state of its own."""
    try:
        value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - whatever it raises: it cannot be copied
        return f"a {kind.__module__}.{kind.__qualname__}, whose state cannot be copied"
    return None


def _holds_state(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor | torch.Generator | torch.nn.Module)


def _is_torch_constant(value: Any) -> bool:
    import torch

    return isinstance(
        value, torch.dtype | torch.device | torch.layout | torch.memory_format | torch.finfo | torch.iinfo
    )


def _is_loader_iterator(value: Any) -> bool:
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    return isinstance(value, _BaseDataLoaderIter)
