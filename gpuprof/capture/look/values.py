"""Storages and what they hold, one number each: a storage is known by weak reference, never kept alive."""

from __future__ import annotations

import functools
import math
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from gpuprof.capture.look.fingerprint_taker import FingerprintTaker
from gpuprof.capture.look.zeros import NOT_COUNTED, ZeroCounter
from gpuprof.model.kinds import ValueKind

# columns of a value while the look lasts, as in the table
STORAGE, MADE_BY, GONE_AT, BYTES, ELEMENTS, DTYPE, SHAPE, DEVICE, FINGERPRINT, KIND, READ_OUTSIDE = range(11)
ZEROS, PATTERN, SUBNORMALS = 11, 12, 13  # until the end the first holds what was counted
_SPARSE = "sparse_coo", "sparse_csr"
_BY_ROWS, _BY_COLUMNS = ("crow_indices", "col_indices", "values"), ("ccol_indices", "row_indices", "values")
# by layout what gives the tensors that such a tensor consists of
_PARTS = {
    "sparse_coo": ("_indices", "_values"),
    **dict.fromkeys(("sparse_csr", "sparse_bsr"), _BY_ROWS),
    **dict.fromkeys(("sparse_csc", "sparse_bsc"), _BY_COLUMNS),
}
# an optimizer changes them, and nothing else has their content: no fingerprint
_KEPT = ValueKind.PARAMETER, ValueKind.OPTIMIZER_STATE
# whose zeros are of the moment
_TRAINED = (*_KEPT, ValueKind.GRADIENT)


class _StorageReference(weakref.ref[Any]):
    """With the address of the storage and its number. Its callback is a C function: Python drops a Ctrl-C that arrives
    in the Python code of one."""

    __slots__ = ("key", "number")
    key: int
    number: int


class KnownStorage:
    """One storage that is alive. `value`: the row of what it holds; `exposed`: something else than operators may write
    to it; `checked`: the count of doubts up to which its content is as it was seen, and `checked_for` the operator for
    which it was compared last; `unfilled`: nothing was written; `derived`: it follows from what the operator that made
    it read, and needs no fingerprint."""

    __slots__ = (
        *("checked", "checked_for", "derived", "exposed", "kind", "number", "reference", "seen"),
        *("unfilled", "value"),
    )

    def __init__(self, number: int, reference: Any, value: int):
        self.number, self.reference, self.value = number, reference, value
        self.kind = ValueKind.OTHER
        self.exposed = self.unfilled = self.derived = False
        self.checked, self.checked_for = 0, -1
        self.seen: tuple[int, int] | None = None  # a tensor and its version, while no operator has written since


class Values:
    """What storages hold, from when it is seen first. `rows` are values; `count` says how many operators have run."""

    def __init__(
        self,
        fingerprints: FingerprintTaker,
        zeros: ZeroCounter,
        number_of: Callable[[str], int],
        count: Callable[[], int],
    ):
        import torch

        self._storage_of = torch._C.TensorBase.untyped_storage
        self._parameter = torch.nn.Parameter
        self._fingerprints, self._zeros = fingerprints, zeros
        self._number_of = number_of
        self._count = count
        self._alive: dict[int, KnownStorage] = {}
        self._freed: deque[_StorageReference] = deque()
        self._parameters: dict[int, weakref.ref[Any]] = {}
        self._expected: dict[int, tuple[weakref.ref[Any], ValueKind]] = {}
        self._numbered = 0
        self._doubts = 0
        self.rows: list[list[Any]] = []
        self.unseen_writes = 0
        self.wanted_bytes = self.taken_bytes = 0
        self._described: dict[Any, int] = {}

    def doubt(self) -> None:
        """Something may have written anywhere without an operator: contents are compared before they are trusted."""
        self._doubts += 1

    def sweep(self) -> None:
        """Take note of the storages that were freed since the last operator began or ended. Before any are looked up:
        their addresses are used again."""
        while self._freed:
            freed = self._freed.popleft()
            known = self._alive.get(freed.key)
            if known is not None and known.number == freed.number:
                del self._alive[freed.key]
                self.rows[known.value][GONE_AT] = self._count()

    def known(self, tensor: Any) -> KnownStorage | None:
        """The storage of a tensor that was seen before."""
        storage = self._storage(tensor)
        return None if storage is None else self._alive.get(storage._cdata)

    def find(self, tensor: Any) -> KnownStorage | None:
        """The storage of a tensor; None where it has none that can be told."""
        return self.find_made(tensor, -1)[0]

    def find_made(self, tensor: Any, made_by: int) -> tuple[KnownStorage | None, bool]:
        """The storage of a tensor, and whether it was known before; a new one holds what `made_by` made."""
        storage = self._storage(tensor)
        if storage is None:
            return None, False
        known = self._alive.get(storage._cdata)
        before = known is not None
        if known is None:
            known = self._add(tensor, storage, made_by)
        if type(tensor) is self._parameter and id(tensor) not in self._parameters:
            self._parameters[id(tensor)] = weakref.ref(tensor)
            if known.kind is ValueKind.OTHER:
                self.is_a(known, ValueKind.PARAMETER)
        return known, before

    def read(self, known: KnownStorage, tensor: Any, *, content: bool) -> int:
        """The value that an operator is about to read; `content`: its fingerprint will be wanted."""
        version = None if tensor.is_inference() else tensor._version
        unseen = known.seen is not None and known.seen[0] == id(tensor) and known.seen[1] != version
        known.seen = None if version is None else (id(tensor), version)
        # an operator that reads many views of one storage reads it once
        exposed = known.exposed and known.checked_for != self._count()
        if content and (unseen or known.unfilled or exposed or known.checked != self._doubts):
            self._check(known, tensor, unseen=unseen or known.unfilled)
        row = self.rows[known.value]
        if content and row[FINGERPRINT] is None and not known.derived and known.kind not in _KEPT:
            row[FINGERPRINT] = self._fingerprints.take(tensor, self._storage_of(tensor))
            self.wanted_bytes += row[BYTES]
            self.taken_bytes += 0 if row[FINGERPRINT] is None else row[BYTES]
        return known.value

    def count_zeros(self, known: KnownStorage, tensor: Any, where: Hashable) -> None:
        """Of what it holds, which is about to be multiplied there; once, and of what operators make a sample."""
        row = self.rows[known.value]
        if row[ZEROS] is not None or known.kind in _TRAINED:
            return
        if row[MADE_BY] < 0 or self._zeros.is_due(where):
            row[ZEROS] = self._zeros.count(tensor, self._storage_of(tensor))

    def count_mask(self, known: KnownStorage, tensor: Any, name: str) -> None:
        """Of what it holds, by which the operator of that name may select; once."""
        row = self.rows[known.value]
        if row[ZEROS] is None and known.kind not in _TRAINED:
            row[ZEROS] = self._zeros.masks.count(tensor, self._storage_of(tensor), name)

    def count_subnormals(self, known: KnownStorage, tensor: Any, where: Hashable) -> None:
        """Of what it holds, which an operator is about to read there; once, and of what is made each time a part."""
        row = self.rows[known.value]
        if row[SUBNORMALS] is None and not known.unfilled and self._zeros.subnormals.is_due(where):
            row[SUBNORMALS] = self._zeros.subnormals.count(tensor, self._storage_of(tensor))

    def end(self) -> None:
        """Fill in what had to wait for a device."""
        for row in self.rows:
            row[FINGERPRINT] = self._fingerprints.number(row[FINGERPRINT])
            if not isinstance(row[ZEROS], float):
                row[ZEROS], row[PATTERN] = self._zeros.told(row[ZEROS] or NOT_COUNTED)
            row[SUBNORMALS] = math.nan if row[SUBNORMALS] is None else row[SUBNORMALS]

    def write(self, known: KnownStorage, tensor: Any, made_by: int, *, derived: bool = False) -> int:
        """The value after an operator has written to it through `tensor`."""
        self.rows[known.value][GONE_AT] = made_by + 1
        known.seen, known.unfilled, known.checked, known.derived = None, False, self._doubts, derived
        known.value = self._row(known, tensor, self._storage_of(tensor), made_by)
        return known.value

    def nbytes(self, known: KnownStorage) -> int:
        """The size of a storage."""
        return int(self.rows[known.value][BYTES])

    def expect(self, tensors: Iterable[Any], kind: ValueKind) -> None:
        """Their storages are of that kind, should they be seen."""
        for tensor in tensors:
            storage = self._storage(tensor)
            if kind is ValueKind.PARAMETER:
                self._parameters[id(tensor)] = weakref.ref(tensor)
            if storage is not None:
                self._expected[storage._cdata] = (weakref.ref(storage), kind)

    def is_a(self, known: KnownStorage, kind: ValueKind) -> None:
        """What that storage holds, now and from now on, is of that kind."""
        known.kind = kind
        self.rows[known.value][KIND] = int(kind)

    def read_outside(self, tensor: Any, *, may_write: bool = False) -> None:
        """Something that is no operator reads it."""
        known = self.find(tensor)
        if known is not None:
            self.rows[known.value][READ_OUTSIDE] = True
            known.exposed = known.exposed or may_write

    def mark_gradients(self) -> None:
        """The tensors that are gradients of parameters now: no operator makes them so."""
        for each in list(self._parameters.values()):
            parameter = each()
            gradient = None if parameter is None else parameter.grad
            known = None if gradient is None else self.known(gradient)
            if known is not None and known.kind is ValueKind.OTHER:
                self.is_a(known, ValueKind.GRADIENT)

    def mark(self, tensors: Iterable[Any], kind: ValueKind) -> None:
        """Storages that are known are of that kind."""
        for tensor in tensors:
            known = self.known(tensor)
            if known is not None and known.kind is ValueKind.OTHER:
                self.is_a(known, kind)

    def _storage(self, tensor: Any) -> Any:
        return self._storage_of(tensor) if has_storage(tensor) else None

    def _add(self, tensor: Any, storage: Any, made_by: int) -> KnownStorage:
        key, number = storage._cdata, self._numbered
        self._numbered += 1
        reference = _StorageReference(storage, self._freed.append)
        reference.key, reference.number = key, number
        known = self._alive[key] = KnownStorage(number, reference, len(self.rows))
        # memory of numpy, of other processes, of files
        known.exposed = made_by < 0 and not storage.resizable()
        known.checked = self._doubts
        expected = self._expected.get(key)
        if expected is not None and expected[0]() is storage:
            known.kind = expected[1]
        self._row(known, tensor, storage, made_by)
        return known

    def _row(self, known: KnownStorage, tensor: Any, storage: Any, made_by: int) -> int:
        nbytes, name = storage.nbytes(), self._described_as
        self.rows.append(
            [
                *(known.number, made_by, -1, nbytes, nbytes // max(tensor.element_size(), 1)),
                *(name(tensor.dtype), name(tensor.shape), name(tensor.device), None, int(known.kind), False),
                *(None, 0, None),
            ]
        )
        return len(self.rows) - 1

    def _described_as(self, what: Any) -> int:
        number = self._described.get(what)
        if number is None:
            text = str(list(what)) if isinstance(what, tuple) else str(what).removeprefix("torch.")
            number = self._described[what] = self._number_of(text)
        return number

    def _check(self, known: KnownStorage, tensor: Any, *, unseen: bool) -> None:
        """Compare with the fingerprint; what cannot be compared counts as changed."""
        known.checked, known.checked_for = self._doubts, self._count()
        before = self.rows[known.value][FINGERPRINT]
        now = self._fingerprints.take(tensor, self._storage_of(tensor))
        same = before is not None and now is not None and self._fingerprints.same(before, now)
        if unseen and not same:
            self.unseen_writes += 1
        if known.unfilled:
            # still the value of the operator that allocated it
            known.unfilled, self.rows[known.value][FINGERPRINT] = False, now
            known.exposed = True
        elif not same:
            self.rows[known.value][GONE_AT] = self._count()
            known.derived = False
            known.value = self._row(known, tensor, self._storage_of(tensor), -1)
            self.rows[known.value][FINGERPRINT] = now


def parts_of(tensor: Any) -> tuple[Any, ...]:
    """The tensors that a sparse tensor consists of, each with a storage: indices and values; empty for any other."""
    import torch

    # the layout of a subclass may be computed by code of its own
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is torch.strided:
        return ()
    names = _PARTS.get(str(tensor.layout).removeprefix("torch."))
    if names is None or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return ()
    parts = tuple(getattr(tensor, name)() for name in names)
    return parts if all(map(has_storage, parts)) else ()


def stored_as(tensor: Any) -> str | None:
    """`sparse_coo [6000, 6000] 126000` of a sparse tensor: layout, shape, and how many entries it stores; else None."""
    import torch

    # the layout of a subclass may be computed by code of its own
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return None
    layout = str(tensor.layout).removeprefix("torch.")
    if layout not in _SPARSE or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return None
    return f"{layout} {list(tensor.shape)} {tensor._nnz()}"


def has_storage(tensor: Any) -> bool:
    """Strided, with memory of its own to point to on the host or a CUDA device: no nested, sparse or wrapped tensor."""
    torch = _torch()
    if tensor.is_sparse or not (tensor.is_cpu or tensor.is_cuda):
        return False
    return (
        tensor.layout is torch.strided
        and not tensor.is_nested
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


@functools.cache
def _torch() -> Any:
    import torch  # once: it is asked for several times for each operator

    return torch
