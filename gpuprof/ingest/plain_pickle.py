"""Reads the plain data of a pickle: numbers, texts, lists, tuples and dictionaries, and nothing else.

A pickle is a program for a small machine, and the machine of the standard library can do more than make data: load any
class, fill a memo of any size, take the hash of tuples nested without end. This one knows only what pickling plain data
uses. It takes no size and no memo index on trust, so that its work and its memory grow with the file's length at most.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from struct import Struct
from typing import Any

_DEEPEST = 100  # marks open at the same time; a snapshot has six
_LONGEST_INT = 9  # bytes, as addresses need; of longer numbers any number share one hash
_NEWEST = 5
_KEYS = frozenset((str, int))  # not tuples: nested ones take for ever to hash
_STOP, _LONG_BINGET = ord("."), ord("j")
_INDEX = Struct("<I").unpack_from
_FLOAT = Struct(">d").unpack_from


class PickleError(Exception):
    """The pickle is broken, cut short, or not of plain data; the message says how, `at` is the byte."""

    def __init__(self, problem: str, at: int):
        self.at = at
        super().__init__(problem)


class PickledClassError(Exception):
    """The pickle wants more than plain data, which could run any code; the message names what."""


def read_plain(data: bytes) -> Any:
    """The plain data of a pickle of protocol 2 to 5. PickleError or PickledClassError where it is something else."""
    return _Machine(data).run()


class _Machine:
    """`stack` holds what was made since the last mark, `below` the stacks under the marks, `memo` what is shared."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: list[Any] = []

    def run(self) -> Any:
        data, memo, began = self.data, self.memo, 0
        try:
            while (code := data[began]) != _STOP:
                if code == _LONG_BINGET and began + 4 < len(data):  # every third opcode of a snapshot: no call for it
                    self.stack.append(memo[_INDEX(data, began + 1)[0]])
                    began += 5
                    continue
                self.at = began + 1
                _STEPS[code](self)
                began = self.at
            if self.below or len(self.stack) != 1:
                raise PickleError("it does not end with one object", began)
            return self.stack[0]
        except KeyError:
            raise PickleError(f"{_opcode(data[began])} is not used for plain data", began) from None
        except IndexError:
            early = began >= len(data)
            raise PickleError("it ends early" if early else f"{_opcode(data[began])} has no operand", began) from None

    def number(self, size: int, *, signed: bool = False) -> int:
        """The little-endian number of `size` bytes that comes next."""
        start = self.at
        self.at = end = start + size
        if end > len(self.data):
            raise _short(size, start)
        return int.from_bytes(self.data[start:end], "little", signed=signed)

    def bytes(self, size: int) -> bytes:
        """The `size` bytes that come next."""
        start = self.at
        self.at = end = start + size
        if end > len(self.data):
            raise _short(size, start)
        return self.data[start:end]

    def text(self, size: int) -> str:
        # half a surrogate, which the standard library would let in, cannot be printed
        return str(self.bytes(size), "utf-8", "backslashreplace")

    def mark(self) -> None:
        if len(self.below) == _DEEPEST:
            raise PickleError(f"it is nested more than {_DEEPEST} levels deep", self.at - 1)
        self.below.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.below.pop()
        return items

    def top(self, kind: type) -> Any:
        if type(self.stack[-1]) is not kind:
            raise PickleError(f"a {type(self.stack[-1]).__name__} stands where a {kind.__name__} should", self.at - 1)
        return self.stack[-1]

    def set_items(self, items: list[Any]) -> None:
        keys = items[::2]
        if not _KEYS.issuperset(map(type, keys)) or len(items) % 2:
            raise PickleError("a dictionary's key is neither text nor a whole number", self.at - 1)
        self.top(dict).update(zip(keys, items[1::2], strict=True))

    def last(self, count: int) -> list[Any]:
        if len(self.stack) < count:
            raise IndexError
        items = self.stack[-count:]
        del self.stack[-count:]
        return items

    def put(self, index: int) -> None:
        if index > len(self.memo):
            raise PickleError(f"memo index {index:,}, where {len(self.memo):,} are in use", self.at)
        if index == len(self.memo):
            self.memo.append(self.stack[-1])
        else:
            self.memo[index] = self.stack[-1]


def _short(size: int, start: int) -> PickleError:
    return PickleError(f"it ends early, {size:,} bytes should follow", start)


def _opcode(code: int) -> str:
    return f"opcode {_NAMES[code]}" if code in _NAMES else f"the byte 0x{code:02x}"


def _proto(machine: _Machine) -> None:
    if (protocol := machine.number(1)) > _NEWEST:
        raise PickleError(f"protocol {protocol} is not known", machine.at - 1)


def _frame(machine: _Machine) -> None:
    size = machine.number(8)
    if size > len(machine.data) - machine.at:
        raise PickleError(f"it ends early, a frame of {size:,} bytes should follow", machine.at)


def _long(machine: _Machine) -> None:
    if (size := machine.number(1)) > _LONGEST_INT:
        raise PickleError(f"a number of {size} bytes, {_LONGEST_INT} at most are plain", machine.at - 1)
    machine.stack.append(machine.number(size, signed=True))


def _append(machine: _Machine) -> None:
    value = machine.stack.pop()
    machine.top(list).append(value)


def _appends(machine: _Machine) -> None:
    items = machine.since_mark()
    machine.top(list).extend(items)


def _tuple(machine: _Machine) -> None:
    items = machine.since_mark()
    machine.stack.append(tuple(items))


def _global(machine: _Machine) -> None:
    end = machine.data.find(b"\n", machine.data.find(b"\n", machine.at) + 1)
    raise PickledClassError(machine.text(max(0, end - machine.at)).replace("\n", ".", 1))


def _stack_global(machine: _Machine) -> None:
    raise PickledClassError(".".join(part if isinstance(part, str) else "?" for part in machine.last(2)))


def _extension(machine: _Machine) -> None:
    raise PickledClassError("a registered class")


def _persistent(machine: _Machine) -> None:
    raise PickledClassError("an object from outside")


def _constant(make: Callable[[], Any]) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(make())


def _whole(size: int, *, signed: bool = False) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(machine.number(size, signed=signed))


def _sized_text(size: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(machine.text(machine.number(size)))


def _sized_bytes(size: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(machine.bytes(machine.number(size)))


def _tuple_of(count: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(tuple(machine.last(count)))


def _put(size: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.put(machine.number(size))


def _get(size: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(machine.memo[machine.number(size)])


_BY_NAME: dict[str, Callable[[_Machine], None]] = {
    "PROTO": _proto,
    "FRAME": _frame,
    "MARK": _Machine.mark,
    "NONE": _constant(lambda: None),
    "NEWTRUE": _constant(lambda: True),
    "NEWFALSE": _constant(lambda: False),
    "BININT1": _whole(1),
    "BININT2": _whole(2),
    "BININT": _whole(4, signed=True),
    "LONG1": _long,
    "BINFLOAT": lambda machine: machine.stack.append(_FLOAT(machine.bytes(8))[0]),
    "SHORT_BINUNICODE": _sized_text(1),
    "BINUNICODE": _sized_text(4),
    "BINUNICODE8": _sized_text(8),
    "SHORT_BINBYTES": _sized_bytes(1),
    "BINBYTES": _sized_bytes(4),
    "BINBYTES8": _sized_bytes(8),
    "EMPTY_LIST": _constant(list),
    "APPEND": _append,
    "APPENDS": _appends,
    "EMPTY_DICT": _constant(dict),
    "SETITEM": lambda machine: machine.set_items(machine.last(2)),
    "SETITEMS": lambda machine: machine.set_items(machine.since_mark()),
    "EMPTY_TUPLE": _constant(tuple),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "TUPLE": _tuple,
    "BINPUT": _put(1),
    "LONG_BINPUT": _put(4),
    "MEMOIZE": lambda machine: machine.put(len(machine.memo)),
    "BINGET": _get(1),
    "LONG_BINGET": _get(4),
    "GLOBAL": _global,
    "INST": _global,
    "STACK_GLOBAL": _stack_global,
    **dict.fromkeys(("EXT1", "EXT2", "EXT4"), _extension),
    **dict.fromkeys(("PERSID", "BINPERSID"), _persistent),
}
_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
_STEPS = {code: _BY_NAME[name] for code, name in _NAMES.items() if name in _BY_NAME}
