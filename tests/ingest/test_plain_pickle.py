"""The reader of pickles makes what the standard library makes of plain data, and nothing of anything else."""

from __future__ import annotations

import contextlib
import pickle
import pickletools
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.ingest.plain_pickle import PickledClassError, PickleError, read_plain

# what takes exponential time is ended here, not timed
pytestmark = pytest.mark.timeout(60)

# of the size that addresses have; text that can be encoded
LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.text() | st.integers(-(2**70), 2**70)
PLAIN = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner) | st.lists(inner, max_size=5).map(tuple),
    max_leaves=30,
)


@given(value=PLAIN, protocol=st.integers(3, 5), optimized=st.booleans())
def test_plain_data_comes_back(value: Any, protocol: int, optimized: bool) -> None:
    data = pickle.dumps(value, protocol)
    assert read_plain(pickletools.optimize(data) if optimized else data) == value


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_many_objects_and_long_texts_come_back(protocol: int) -> None:
    shared = {"name": "é" * 70_000, "line": 2**62}
    value = [{"frames": [shared] * 3, "size": number, "at": (number, -number)} for number in range(3_000)]
    read = read_plain(pickle.dumps(value, protocol))
    assert read == value
    assert read[0]["frames"][0] is read[-1]["frames"][2]


def test_a_list_that_holds_itself_comes_back() -> None:
    value: list[Any] = [1]
    value.append(value)
    read = read_plain(pickle.dumps(value))
    assert read[0] == 1 and read[1] is read


def test_half_a_surrogate_is_written_out() -> None:
    assert read_plain(pickle.dumps("a\ud800")) == "a\\xed\\xa0\\x80"


def nested(levels: int) -> bytes:
    """A dictionary whose key is a tuple of twice the same tuple, and so on: 2 to the power of `levels` leaves."""
    return b"\x80\x04}" + b")\x94" + b"".join(b"h%ch%c\x86\x94" % (n, n) for n in range(levels)) + b"K\x01s."


def linked(count: int) -> bytes:
    """A dictionary whose key is a tuple in a tuple in a tuple."""
    return b"\x80\x04})" + b"\x85" * count + b"K\x01s."


TEN_BYTES = b"\x80\x04}]r\xff\xff\xff\x0f."
HOSTILE = {
    "memo index": (TEN_BYTES, "memo index 268,435,455, where 0 are in use"),
    "memo index, largest": (b"\x80\x02]r\xff\xff\xff\xff.", "memo index 4,294,967,295"),
    "memo index after one": (b"\x80\x02]q\x00q\x02.", "memo index 2, where 1 are in use"),
    "memo entry that is not there": (b"\x80\x02h\x07.", "opcode BINGET has no operand"),
    "long memo entry that is not there": (b"\x80\x02j\x07\x00\x00\x00.", "opcode LONG_BINGET has no operand"),
    "cut memo entry": (b"\x80\x02j\x07\x00", "it ends early, 4 bytes should follow"),
    "frame": (b"\x80\x04\x95" + b"\xff" * 8 + b".", "a frame of 18,446,744,073,709,551,615 bytes"),
    "text": (b"\x80\x04X\xff\xff\xff\x7fa.", "it ends early, 2,147,483,647 bytes should follow"),
    "long text": (b"\x80\x04\x8d" + b"\xff" * 8 + b"a.", "it ends early, 18,446,744,073,709,551,615 bytes"),
    "bytes": (b"\x80\x04\x8e" + b"\xff" * 7 + b"\x0fa.", "it ends early"),
    "byte array": (b"\x80\x05\x96" + b"\xff" * 8 + b"a.", "opcode BYTEARRAY8 is not used for plain data"),
    "long number": (b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b".", "a number of 255 bytes"),
    "longer number": (b"\x80\x02\x8b\xff\xff\xff\x7f.", "opcode LONG4 is not used for plain data"),
    "marks": (b"\x80\x02" + b"(" * 1_000_000 + b".", "nested more than 100 levels"),
    "copies": (b"\x80\x02]2.", "opcode DUP is not used"),
    "nested tuples as a key": (nested(60), "key is neither text nor a whole number"),
    "a long chain as a key": (linked(100_000), "key is neither text nor a whole number"),
    "list as a key": (b"\x80\x02}]K\x01s.", "key is neither text nor a whole number"),
    "set": (pickle.dumps({1}, 4), "opcode EMPTY_SET is not used"),
    "frozen set": (pickle.dumps(frozenset([1]), 4), "opcode FROZENSET is not used"),
    "key without a value": (b"\x80\x02}(K\x01u.", "neither text nor a whole number"),
    "items of a list": (b"\x80\x02](K\x01K\x02u.", "a list stands where a dict should"),
    "appended to a text": (b"\x80\x02X\x01\x00\x00\x00aK\x01a.", "a str stands where a list should"),
    "no mark": (b"\x80\x02]e.", "opcode APPENDS has no operand"),
    "nothing on the stack": (b"\x80\x02.", "it does not end with one object"),
    "too much on the stack": (b"\x80\x02NN.", "it does not end with one object"),
    "an open mark": (b"\x80\x02N(.", "it does not end with one object"),
    "protocol": (b"\x80\x06N.", "protocol 6 is not known"),
    "no opcode": (b"\x80\x02\xff.", "the byte 0xff is not used"),
    "text of protocol 0": (b"\x80\x02S'a'\n.", "opcode STRING is not used"),
    "nothing": (b"", "it ends early"),
    "no end": (b"\x80\x02N", "it ends early"),
}


@pytest.mark.parametrize("which", HOSTILE)
def test_a_hostile_pickle_is_refused_and_takes_no_memory(which: str) -> None:
    data, says = HOSTILE[which]
    tracemalloc.start()
    try:
        with pytest.raises(PickleError) as caught:
            read_plain(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert says in str(caught.value) and "\n" not in str(caught.value)
    assert 0 <= caught.value.at <= len(data)
    assert peak < 1_000_000 + 200 * len(data)


def test_the_ten_bytes_are_ten() -> None:
    assert len(TEN_BYTES) == 10


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"\x80\x02cposix\nmkdir\n.", "posix.mkdir"),
        (b"\x80\x02(iposix\nmkdir\n.", "posix.mkdir"),
        (b"\x80\x04\x8c\x05posix\x8c\x05mkdir\x93.", "posix.mkdir"),
        (b"\x80\x04]]\x93.", "?.?"),
        (b"\x80\x02cposix", ""),
        (b"\x80\x02\x82\x01.", "a registered class"),
        (b"\x80\x02\x84\x01\x00\x00\x00.", "a registered class"),
        (b"\x80\x02Pa\n.", "an object from outside"),
        (b"\x80\x02NQ.", "an object from outside"),
    ],
)
def test_whatever_asks_for_a_class_is_refused(data: bytes, wanted: str) -> None:
    with pytest.raises(PickledClassError) as caught:
        read_plain(data)
    assert str(caught.value) == wanted


OPCODES = st.sampled_from([opcode.code.encode("latin-1") for opcode in pickletools.opcodes])


@given(data=st.binary(max_size=200) | st.lists(OPCODES | st.binary(max_size=2), max_size=60).map(b"".join))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(PickleError, PickledClassError):
        read_plain(b"\x80\x04" + data + b".")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_cut_anywhere_it_ends_early(protocol: int) -> None:
    data = pickle.dumps({"segments": [{"device": 0, "at": 1.5, "id": (0, 2**40)}, None], "a": "é" * 300}, protocol)
    for end in range(len(data)):
        with pytest.raises(PickleError, match="ends early"):
            read_plain(data[:end])
