"""The bytes of a trace file, inflated where it is gzip, read ahead by a thread.

A thread because zlib lets go of the interpreter lock: inflating then costs no time of its own on two cores.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

from gpuprof.errors import ForeignFileError, UnreadableError

KINETO = "a PyTorch profiler trace (Kineto JSON, plain or gzip)"
_GZIP = b"\x1f\x8b"
_SIGNATURES = (
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself; fetch it with `git lfs pull`"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; decompress it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"BZh", "compressed with bzip2; decompress it first"),
    (b"\xfd7zXZ", "compressed with xz; decompress it first"),
    (b"SQLite format 3", "an SQLite database (an Nsight Systems export?)"),
    (b"\x80\x02", "a pickle (a memory snapshot?)"),
    (b"\x80\x04", "a pickle (a memory snapshot?)"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
_READ_AHEAD = 4
_PATIENCE_S = 0.1  # between two looks at whether the other side is still there


class ByteStream:
    """Iterates over the inflated bytes in pieces of about `chunk_bytes`.

    `damage` is set, after the last piece, to one sentence where the gzip data ends early or is broken inside.
    UnreadableError where the file cannot be opened or is empty, ForeignFileError where its first bytes say what else
    it is. Anything else that ends the reading thread (MemoryError) is raised here as it is. `bytes_read` counts what
    was handed out.
    """

    def __init__(self, path: Path, chunk_bytes: int):
        self.path = path
        self.chunk_bytes = chunk_bytes
        self.damage: str | None = None
        self.bytes_read = 0
        self._failed: BaseException | None = None
        self._pieces: queue.Queue[bytes | None] = queue.Queue(_READ_AHEAD)
        self._abandoned = threading.Event()

    def __iter__(self) -> Generator[bytes, None, None]:
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise UnreadableError(
                self.path, f"cannot be opened ({error.strerror})", expected=f"{KINETO} that you may read"
            ) from error
        with file:
            gzipped = self._sniff(file.read(64))
            file.seek(0)
            reader = threading.Thread(target=self._read, args=(file, gzipped), daemon=True, name="gpuprof-read")
            try:
                self._start(reader)
                while (piece := self._next(reader)) is not None:
                    self.bytes_read += len(piece)
                    yield piece
            finally:
                self._abandoned.set()
                if reader.ident is not None:
                    reader.join()
        if isinstance(self._failed, OSError):
            raise UnreadableError(self.path, f"cannot be read ({self._failed})", expected=KINETO) from self._failed
        if self._failed is not None:
            raise self._failed

    def _start(self, reader: threading.Thread) -> None:
        try:
            reader.start()
        except RuntimeError as error:
            raise UnreadableError(
                self.path, f"no thread could be started to read it ({error})", expected="room for one more thread"
            ) from error

    def _next(self, reader: threading.Thread) -> bytes | None:
        """The next piece; None at the end, also where the thread has died without a word."""
        while reader.is_alive():
            with contextlib.suppress(queue.Empty):
                return self._pieces.get(timeout=_PATIENCE_S)
        with contextlib.suppress(queue.Empty):
            return self._pieces.get_nowait()
        return None

    def _sniff(self, head: bytes) -> bool:
        if not head:
            raise UnreadableError(self.path, "the file is empty", where="byte 0", expected=KINETO)
        for signature, what in _SIGNATURES:
            if head.startswith(signature):
                raise ForeignFileError(self.path, f"this is {what}", where="byte 0", expected=KINETO)
        return head.startswith(_GZIP)

    def _read(self, file: IO[bytes], gzipped: bool) -> None:
        try:
            for piece in self._inflated(file) if gzipped else self._plain(file):
                if not self._put(piece):
                    return
        except BaseException as error:  # noqa: BLE001 - the caller waits for this thread: it raises whatever ended it
            self._failed = error
        with contextlib.suppress(MemoryError):  # then the caller sees that the thread has ended
            self._put(None)

    def _put(self, piece: bytes | None) -> bool:
        while not self._abandoned.is_set():
            try:
                self._pieces.put(piece, timeout=_PATIENCE_S)
                return True
            except queue.Full:
                continue
        return False

    def _plain(self, file: IO[bytes]) -> Iterator[bytes]:
        while piece := file.read(self.chunk_bytes):
            yield piece

    def _inflated(self, file: IO[bytes]) -> Iterator[bytes]:
        inflater = zlib.decompressobj(wbits=31)
        waiting = b""
        try:
            while True:
                waiting = waiting or file.read(1 << 20)
                if not waiting:
                    break
                if inflater.eof:
                    # Several gzip members are one file; zeros after the last are padding.
                    waiting = waiting.lstrip(b"\0")
                    inflater = zlib.decompressobj(wbits=31) if waiting else inflater
                    continue
                piece = inflater.decompress(waiting, self.chunk_bytes)
                waiting = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
                if piece:
                    yield piece
            if not inflater.eof and (piece := inflater.flush()):
                yield piece
            if not inflater.eof:
                self.damage = f"the gzip data ends early, at byte {file.tell():,} of the file"
        except zlib.error as error:
            self.damage = f"the gzip data is broken before byte {file.tell():,} of the file ({error})"
