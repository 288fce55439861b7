"""Whatever ends the thread that reads a file reaches the caller, and the thread is gone."""

from __future__ import annotations

import gzip
import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from gpuprof.errors import UnreadableError
from gpuprof.ingest import stream
from gpuprof.ingest.load import load_trace, read_trace_file
from gpuprof.ingest.stream import ByteStream
from tests.ingest.kineto_text import EVENTS, compact, save

# a caller that waits for ever is ended here, not timed
pytestmark = pytest.mark.timeout(60)

CHUNK = 256
TEXT = compact(EVENTS * 12)
BLOCKS = len(TEXT) // CHUNK


class StoppedError(BaseException):
    """Neither an Exception nor known to anyone."""


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() <= before


def fail_at(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
    """The reader raises in place of its block `number`."""
    for way in ("_plain", "_inflated"):
        read = getattr(ByteStream, way)

        def reader(self: ByteStream, file: IO[bytes], read: Any = read) -> Iterator[bytes]:
            for at, piece in enumerate(read(self, file)):
                if at == number:
                    raise error
                yield piece

        monkeypatch.setattr(ByteStream, way, reader)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
@pytest.mark.parametrize("number", range(BLOCKS))
def test_no_memory_at_any_block_is_one_clear_line(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, TEXT, name)
    fail_at(monkeypatch, number, MemoryError())
    with pytest.raises(UnreadableError, match="there is not enough memory to read it") as caught:
        read_trace_file(path, chunk_bytes=CHUNK)
    assert str(path) in str(caught.value) and "; expected " in str(caught.value) and "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, MemoryError)


def test_a_file_that_is_given_up_is_read_no_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed = list[int]()
    plain = ByteStream._plain

    def counted(self: ByteStream, file: IO[bytes]) -> Iterator[bytes]:
        for piece in plain(self, file):
            handed.append(len(piece))
            yield piece

    monkeypatch.setattr(ByteStream, "_plain", counted)
    pieces = iter(ByteStream(save(tmp_path, TEXT), CHUNK))
    next(pieces)
    pieces.close()
    # what was read ahead, the piece that was handed out, and one that waited for room
    assert len(handed) <= stream._READ_AHEAD + 2 < BLOCKS


def test_there_are_more_blocks_than_are_read_ahead() -> None:
    assert BLOCKS > 2 * stream._READ_AHEAD


@pytest.mark.parametrize("error", [StoppedError(), KeyboardInterrupt(), SystemExit(3), ValueError("a fault of ours")])
@pytest.mark.parametrize("number", [0, 1, BLOCKS - 1])
def test_anything_else_reaches_the_caller_as_it_is(
    number: int, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, TEXT)
    fail_at(monkeypatch, number, error)
    with pytest.raises(type(error)) as caught:
        read_trace_file(path, chunk_bytes=CHUNK)
    assert caught.value is error


def test_a_disk_that_fails_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, TEXT)
    fail_at(monkeypatch, 3, OSError(5, "Input/output error"))
    with pytest.raises(UnreadableError, match=r"cannot be read \(\[Errno 5\] Input/output error\)"):
        read_trace_file(path, chunk_bytes=CHUNK)


def test_not_even_room_to_hand_over_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells the caller of the failure may fail for want of memory, too."""
    path = save(tmp_path, TEXT)

    class Full(queue.Queue[bytes | None]):
        def put(self, item: bytes | None, block: bool = True, timeout: float | None = None) -> None:
            raise MemoryError

    monkeypatch.setattr(queue, "Queue", Full)
    with pytest.raises(UnreadableError, match="there is not enough memory to read it"):
        read_trace_file(path, chunk_bytes=CHUNK)


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_a_thread_that_cannot_start_is_one_clear_line(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, TEXT)

    def refuse(_: threading.Thread) -> None:
        raise error

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(UnreadableError, match=r"no thread could be started|not enough memory"):
        read_trace_file(path, chunk_bytes=CHUNK)


def test_an_interrupt_while_waiting_for_the_thread_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, TEXT)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(queue.Queue, "get", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_trace_file(path, chunk_bytes=CHUNK)


def test_a_recording_whose_trace_finds_no_memory_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recording.json").write_bytes(json.dumps({"format": 1, "context": {"run_id": "r"}}).encode())
    (tmp_path / "kineto.json.gz").write_bytes(gzip.compress(TEXT.encode()))
    fail_at(monkeypatch, 0, MemoryError())
    trace = load_trace(tmp_path)
    assert trace.context.run_id == "r"
    assert "there is not enough memory to read it" in trace.source.notes[0]
