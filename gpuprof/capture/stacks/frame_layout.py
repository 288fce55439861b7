"""Where this interpreter keeps the frames of a thread: found by looking for what is known, so no table of versions.

Everything is read through `/proc/self/mem`, which answers a wrong address with an error and not with a crash. What is
found is right or nothing: each place has to hold the very object that Python says is there.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from types import CodeType, FrameType

from gpuprof.errors import CaptureError

_WORDS = 16
_STACK_REFERENCE = ~7  # from Python 3.14 on the lowest bits say who owns the object


@dataclass(frozen=True)
class CodeLayout:
    """Words of a code object that point to its file name, qualified name and line table; the byte of its first line."""

    code_type: int
    code_size: int
    filename_word: int
    name_word: int
    lines_word: int
    first_line_at: int


@dataclass(frozen=True)
class TextLayout:
    """What the masked state of a `str` is for each width of its characters, and how long the heads are in bytes."""

    mask: int
    ascii: int
    latin: int
    two_bytes: int
    four_bytes: int
    ascii_head: int
    other_head: int
    bytes_head: int


@dataclass(frozen=True)
class FrameLayout:
    """Words (8 bytes) of the thread's state, and of a frame. `via_word` is -1 where the thread points to the frame."""

    thread_word: int
    via_word: int
    code_word: int
    previous_word: int
    instruction_word: int
    code: CodeLayout
    text: TextLayout

    def arguments(self, thread: int) -> list[str]:
        """For frame_reader.py: of the thread whose state is there."""
        own = (self.thread_word, self.via_word, self.code_word, self.previous_word, self.instruction_word)
        return [str(each) for each in (thread, *own, *astuple(self.code), *astuple(self.text))]


_thread_state = ctypes.pythonapi["PyThreadState_Get"]
_thread_state.restype = ctypes.c_void_p


def thread_state() -> int:
    """Where the state of the calling thread is."""
    return int(_thread_state())


@functools.cache
def frame_layout() -> FrameLayout:
    """Of this interpreter. CaptureError where it is not as expected, or its memory cannot be read."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8 or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise CaptureError("the frames of this interpreter are not known")
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY)
    except OSError as error:
        raise CaptureError(f"the memory of this process cannot be read ({error.strerror})") from error
    try:
        code = _code_layout(memory)
        return _outer(memory, code, _text_layout())
    except (OSError, LookupError, OverflowError, struct.error) as error:
        raise CaptureError(f"the frames of this interpreter were not found ({error})") from error
    finally:
        os.close(memory)


def _outer(memory: int, code: CodeLayout, text: TextLayout) -> FrameLayout:
    """The caller of the function that looks, so that there is a frame before its frame."""
    return _looked(memory, code, text)


def _looked(memory: int, code: CodeLayout, text: TextLayout) -> FrameLayout:
    own = sys._getframe()
    before = own.f_back
    try:
        assert before is not None
        at, at_before = _interpreter_frame(memory, own), _interpreter_frame(memory, before)
        words = _read(memory, at, _WORDS)
        words_before = _read(memory, at_before, _WORDS)
        code_word = _only(words, id(own.f_code), _STACK_REFERENCE)
        first = id(before.f_code) + code.code_size
        instruction_word = _only(words_before, first + before.f_lasti)
        previous_word = _only(words, at_before)
        # no other Python function may run from here on: what runs now is this frame
        thread = _thread_state()
        state = struct.unpack("64Q", os.pread(memory, 512, thread))
        if at in state:
            return FrameLayout(state.index(at), -1, code_word, previous_word, instruction_word, code, text)
        for place, pointer in enumerate(state):
            try:
                inside = struct.unpack("3Q", os.pread(memory, 24, pointer))
            except (OSError, OverflowError, struct.error):
                continue
            if at in inside:
                return FrameLayout(place, inside.index(at), code_word, previous_word, instruction_word, code, text)
        raise LookupError("no thread points to its frame")
    finally:
        del own, before  # a frame that holds itself holds those that called it, and their tensors


def _interpreter_frame(memory: int, frame: FrameType) -> int:
    """Where the interpreter keeps a frame of which Python has an object."""
    for pointer in _read(memory, id(frame), 6)[2:]:
        try:
            words = _read(memory, pointer, _WORDS)
        except (OSError, OverflowError, struct.error):
            continue
        if id(frame.f_code) in [each & _STACK_REFERENCE for each in words]:
            return pointer
    raise LookupError("no frame")


def _code_layout(memory: int) -> CodeLayout:
    lines = 70_001
    whole = compile("\n" * (lines - 1) + "class Outer:\n def inner(): pass", "gpuprof-layout", "exec")
    outer = next(each for each in whole.co_consts if isinstance(each, CodeType))
    inner = next(each for each in outer.co_consts if isinstance(each, CodeType))
    size = CodeType.__basicsize__
    words = _read(memory, id(inner), size // 8)
    if words[1] != id(CodeType):
        raise LookupError("no type")
    halves = struct.unpack(f"{size // 4}i", os.pread(memory, size // 4 * 4, id(inner)))
    return CodeLayout(
        code_type=id(CodeType),
        code_size=size,
        filename_word=_only(words, id(inner.co_filename)),
        name_word=_only(words, id(inner.co_qualname)),
        lines_word=_only(words, id(inner.co_linetable)),
        first_line_at=4 * _only(halves, inner.co_firstlineno),
    )


def _text_layout() -> TextLayout:
    """Texts of each width, of many sizes, some interned: what is the same in one width and differs between two."""
    kinds = {"ascii": "t", "latin": "\xe9", "two": "\u0151", "four": "\U0001f40d"}
    probes = {name: [sign * size for size in range(2, 34)] for name, sign in kinds.items()}
    probes = {name: [*texts, *(sys.intern(f"gpuprof {each}") for each in texts)] for name, texts in probes.items()}
    # not by `pread`, which would wait for the GIL each time where another thread computes
    heads = {name: [ctypes.string_at(id(each) + 32, 4) for each in texts] for name, texts in probes.items()}
    for byte in range(4):
        seen = {name: [each[byte] for each in texts] for name, texts in heads.items()}
        firsts = [states[0] for states in seen.values()]
        mask = functools.reduce(int.__or__, (each ^ firsts[0] for each in firsts))
        for states in seen.values():
            mask &= ~functools.reduce(int.__or__, (each ^ states[0] for each in states))
        told = {name: (states[0] & mask) << 8 * byte for name, states in seen.items()}
        if len(set(told.values())) == len(kinds):
            return TextLayout(
                mask=mask << 8 * byte,
                ascii=told["ascii"],
                latin=told["latin"],
                two_bytes=told["two"],
                four_bytes=told["four"],
                ascii_head=sys.getsizeof("t") - 2,
                other_head=sys.getsizeof("\u0151") - 2 * 2,
                bytes_head=sys.getsizeof(b"") - 1,
            )
    raise LookupError("texts are alike")


def _read(memory: int, address: int, words: int) -> tuple[int, ...]:
    return struct.unpack(f"{words}Q", os.pread(memory, 8 * words, address))


def _only(words: Sequence[int], wanted: int, mask: int = -1) -> int:
    """Where it is; LookupError unless it is at one place."""
    places = [at for at, each in enumerate(words) if each & mask == wanted]
    if len(places) != 1:
        raise LookupError("a place is not certain")
    return places[0]
