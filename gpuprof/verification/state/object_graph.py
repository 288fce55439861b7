"""Everything that code can reach from some variables, kept so that all of it can be put back in place.

Objects keep their identity: what holds a reference to one sees it as it was. What cannot be put back (an iterator, an
open file, a process) is refused by the name of the variable that leads to it.
"""

from __future__ import annotations

import functools
import gc
import itertools
import types
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gpuprof.errors import VerificationError
from gpuprof.units import plural
from gpuprof.verification.cells import user_code
from gpuprof.verification.cells.variable_reads import global_names
from gpuprof.verification.state.object_kinds import describe_refused, is_constant, is_left_alone, slots_of
from gpuprof.verification.state.object_states import (
    ArrayState,
    BindingsState,
    ClassState,
    ClosureState,
    DictState,
    ObjectState,
    SequenceState,
    SetState,
    SlotsState,
    own_state,
)
from gpuprof.verification.state.tensors import CopiedTensorState, StorageState, TensorState

_MOST_OBJECTS = 20_000_000
_LONGEST_PATH = 60
_PLAIN = frozenset({dict, list, tuple, set, frozenset})
_SEQUENCES = (list, deque, bytearray, array)


class ObjectGraph:
    """Found from `roots` (variable → object), with the functions and classes of the user's that they lead to.

    VerificationError, with the way to the object, where something cannot be put back.
    """

    def __init__(self, roots: Iterable[tuple[str, Any]], namespaces: Iterable[dict[str, Any]] = ()):
        self.functions: dict[int, types.FunctionType] = {}
        self.graph_nodes: list[Any] = []
        self.loaders: list[Any] = []
        self._namespaces = [*namespaces]
        self._bindings: dict[int, ObjectState] = {}
        self._states: list[ObjectState] = []
        self._large: list[ObjectState] = []
        self._storages: set[Any] = set()
        self._seen: dict[int, Any] = {}
        self._waiting: list[tuple[str, Any]] = []
        for namespace in self._namespaces:
            self._bind(namespace)
        self._add(roots)
        with _collection_off():
            while self._waiting:
                self._visit(*self._waiting.pop())
        self._seen.clear()

    @property
    def large(self) -> list[ObjectState]:
        """The states whose copies take memory, by `bytes`; `keep` has still to be called on each."""
        return self._large

    def restore(self) -> None:
        """Put everything back: containers first, then what is in them, the names last."""
        problems: list[Exception] = []
        for state in (*self._states, *self._large, *self._bindings.values()):
            try:
                state.restore()
            except Exception as error:  # noqa: BLE001 - one object that resists must not keep the others from coming back
                problems.append(error)
        if problems:
            raise VerificationError(
                f"{plural(len(problems), 'object')} could not be put back as it was, the first for this reason: "
                f"{type(problems[0]).__name__}: {problems[0]}; run the cells that made your variables again"
            )

    def _add(self, found: Iterable[tuple[str, Any]]) -> None:
        self._waiting.extend((path, value) for path, value in found if not is_constant(value))

    def _bind(self, namespace: dict[str, Any]) -> None:
        self._bindings.setdefault(id(namespace), BindingsState(namespace))

    def _visit(self, path: str, value: Any) -> None:
        if id(value) in self._seen:
            return
        plain = type(value) in _PLAIN  # there may be millions
        if not plain and is_left_alone(value):
            return
        self._seen[id(value)] = value
        if len(self._seen) > _MOST_OBJECTS:
            raise VerificationError(
                f"`{_root(path)}` leads to more than {_MOST_OBJECTS:,} objects, too many to put back; measure a part "
                "of it with gpuprof.verify(a, b)"
            )
        if plain:
            self._container(path, value)
            return
        if (refused := describe_refused(value)) is not None:
            raise VerificationError(
                f"`{_root(path)}` cannot be put back as it was: {_short(path)} is {refused}; make it inside the cell, "
                "or measure two functions without it with gpuprof.verify(a, b)"
            )
        if _is_tensor(value):
            try:
                self._tensor(path, value)
            except (RuntimeError, NotImplementedError, AttributeError, ValueError, TypeError) as error:
                raise VerificationError(
                    f"`{_root(path)}` cannot be put back as it was: {_short(path)} is a {type(value).__name__} that "
                    f"does not tell its state ({error}); measure two functions without it with gpuprof.verify(a, b)"
                ) from error
        elif isinstance(value, np.ndarray):
            self._array(path, value)
        elif isinstance(value, types.FunctionType):
            self._function(path, value)
        elif isinstance(value, type):
            self._class(path, value)
        elif not self._container(path, value):
            self._object(path, value)

    def _container(self, path: str, value: Any) -> bool:
        """Whether it is one of Python's own containers or references; its attributes, if any, are added too."""
        if isinstance(value, dict):
            self._states.append(DictState(value))
            self._add((path, key) for key in value)
            self._add((f"{path}[{key!r}]" if isinstance(key, str | int) else path, each) for key, each in value.items())
        elif isinstance(value, _SEQUENCES):
            self._states.append(SequenceState(value))
            self._add((f"{path}[{at}]", each) for at, each in enumerate(value))
        elif isinstance(value, set):
            self._states.append(SetState(value))
            self._add((path, each) for each in value)
        elif isinstance(value, tuple | frozenset):
            self._add((path, each) for each in value)
        elif isinstance(value, types.MethodType):
            self._add([(path, value.__self__), (path, value.__func__)])
        elif isinstance(value, types.BuiltinFunctionType):
            self._add([(path, value.__self__)])
        elif isinstance(value, functools.partial):
            self._add([(path, value.func), (path, value.args), (path, value.keywords)])
        elif isinstance(value, staticmethod | classmethod):
            self._add([(path, value.__func__)])
        elif isinstance(value, property):
            self._add((path, each) for each in (value.fget, value.fset, value.fdel))
        elif isinstance(value, types.CellType):
            state = ClosureState(value)
            self._states.append(state)
            self._add([] if state.empty else [(path, state.contents)])
        elif isinstance(value, types.ModuleType):
            self._bind(vars(value))
            self._add((f"{path}.{name}", each) for name, each in vars(value).items())
        else:
            return False
        if (
            type(value) not in _PLAIN
            and type(value).__module__ != "builtins"
            and hasattr(value, "__dict__")
            and not isinstance(value, types.ModuleType)
        ):
            self._object(path, value)
        return True

    def _object(self, path: str, value: Any) -> None:
        if (state := own_state(value)) is not None:
            self._states.append(state)
            return
        kind = type(value)
        self._add([(path, kind)])
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            # a DataLoader's workers go with it; the measured cells start their own
            drop = ("_iterator",) if _is_loader(value) else ()
            if drop:
                self.loaders.append(value)
            self._states.append(DictState(attributes))
            self._members(path, kind, {name: each for name, each in attributes.items() if name not in drop})
        if _is_scripted(value):
            self._add((path, each) for each in (*value.parameters(), *value.buffers()))
        if names := slots_of(kind):
            slots = SlotsState(value, names)
            self._states.append(slots)
            self._members(path, kind, slots.values)

    def _members(self, path: str, kind: type, named: dict[str, Any]) -> None:
        # a library numbers its objects with counts: where these stand changes nothing that a cell computes
        theirs = not user_code.is_users_class(kind, self._namespaces)
        skipped = itertools.count if theirs else ()
        self._add((f"{path}.{name}", each) for name, each in named.items() if not isinstance(each, skipped))

    def _function(self, path: str, function: types.FunctionType) -> None:
        self._add((path, cell) for cell in function.__closure__ or ())
        self._add([(path, function.__defaults__), (path, function.__kwdefaults__), (path, vars(function))])
        names = function.__globals__
        if user_code.is_users(names, self._namespaces):
            self.functions[id(function)] = function
            self._bind(names)
            self._add((name, names[name]) for name in sorted(global_names(function.__code__)) if name in names)

    def _class(self, path: str, kind: type) -> None:
        if user_code.is_users_class(kind, self._namespaces):
            self._states.append(ClassState(kind))
            self._add((f"{path}.{name}", each) for name, each in vars(kind).items())
            self._add((path, base) for base in kind.__mro__[1:])

    def _array(self, path: str, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject:
            self._add((path, each) for each in array.flat)
        if array.flags.writeable:
            self._large.append(ArrayState(array))

    def _tensor(self, path: str, tensor: Any) -> None:
        import torch

        if tensor.grad_fn is not None:
            self.graph_nodes.append(tensor.grad_fn)
        self._add([(path, getattr(tensor, "__dict__", None) or None)])
        if tensor.device.type == "meta":
            return
        if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
            self._states.append(CopiedTensorState(tensor))
            return
        state = TensorState(tensor)
        self._states.append(state)
        self._add([(f"{path}.grad", state.gradient), *((path, hook) for hook in state.hooks)])
        storage = tensor.untyped_storage()
        key = (tensor.device, storage.data_ptr())
        if storage.nbytes() and key not in self._storages:
            self._storages.add(key)
            self._large.append(StorageState(storage))


@contextmanager
def _collection_off() -> Iterator[None]:
    """All that is made stays: looking through it for garbage, again and again, takes longer than making it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _root(path: str) -> str:
    return path.split(".")[0].split("[")[0]


def _short(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"{path[: _LONGEST_PATH // 2]}…{path[-_LONGEST_PATH // 2 :]}"


def _is_tensor(value: Any) -> bool:
    import torch

    return issubclass(type(value), torch.Tensor)


def _is_loader(value: Any) -> bool:
    from torch.utils.data import DataLoader

    return isinstance(value, DataLoader)


def _is_scripted(value: Any) -> bool:
    import torch

    return isinstance(value, torch.jit.ScriptModule)
