"""A Kineto file as a head, batches of events and a foot, without ever holding the whole of it.

A batch is cut where one event of `traceEvents` ends and the next begins. A guessed cut needs no proof: what stands
before it decodes as a list of events only if it is one.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from gpuprof import units
from gpuprof.errors import ForeignFileError, TraceError, UnreadableError
from gpuprof.ingest import foreign
from gpuprof.ingest.event import Event, EventTime
from gpuprof.ingest.plain_operators import PlainOperators, split
from gpuprof.ingest.repair import has_surrogates, mend, mend_events
from gpuprof.ingest.stream import KINETO, ByteStream

_EVENTS_KEY = re.compile(rb"\"traceEvents\"\s*:\s*\[")
_BARE_LIST = re.compile(rb"\s*\[\s*(\S)")
_BYTE = re.compile(r"\(byte (\d+)\)")
_BASE = re.compile(rb"\"baseTimeNanoseconds\"\s*:\s*(\d+)")
_HEAD_LIMIT = 64 << 20
_GUESSES = 40
_MARGIN = 64  # white space that may stand between two events

_events = msgspec.json.Decoder(list[Event])
_times = msgspec.json.Decoder(list[EventTime])


class _BrokenError(UnreadableError):
    """JSON broken beyond repair, `at` bytes behind the beginning of the text in hand."""

    def __init__(self, path: Path, offset: int, at: int):
        self.at = at
        expected = "JSON as Kineto writes it; export the trace again, or mend the text there"
        super().__init__(path, "the JSON is broken", where=f"byte {offset + at:,}", expected=expected)


class Batch:
    """Some events in file order. `text` is their JSON list, `offset` the byte of the (inflated) file it begins at.

    With `operators`, those stood among the events too, and `whole` is the text that held all.
    """

    def __init__(
        self,
        events: list[Event],
        text: bytes,
        offset: int,
        operators: PlainOperators | None = None,
        whole: bytes | None = None,
    ):
        self.events = events
        self.text = text
        self.offset = offset
        self.operators = operators
        self.whole = text if whole is None else whole

    def time_texts(self) -> list[bytes]:
        """What stands in `ts`, event by event, as text."""
        return [bytes(event.ts) for event in _times.decode(self.text)]


class Document:
    """Iterates over the batches of one file; the other attributes are complete when the iteration is.

    `fields`: everything beside `traceEvents`. `keyed`: the file is an object, not a bare list. `truncated`: the file
    ends early. `repaired`: how many pieces of it were not valid JSON and were mended. `notes`: plain sentences.
    TraceError where it is no Kineto trace or broken beyond repair.
    """

    def __init__(self, stream: ByteStream):
        self.path: Path = stream.path
        self.fields: dict[str, Any] = {}
        self.truncated = False
        self.repaired = 0
        self.notes: list[str] = []
        self.keyed = False
        self._stream = stream
        self._offset = 0

    @property
    def bytes_read(self) -> int:
        """How many (inflated) bytes the file held so far."""
        return self._stream.bytes_read

    def __iter__(self) -> Generator[Batch, None, None]:
        # closing: an error must not leave the reading thread at work
        with closing(iter(self._stream)) as pieces:
            buffer, ended = self._read_head(pieces), False
            for piece in pieces:
                buffer += piece
                if not ended and (cut := self._cut(buffer)):
                    batch, buffer, ended = cut
                    yield batch
        if not ended:
            batch, buffer, ended = self._last(buffer)
            yield batch
        self._read_foot(buffer.strip(), ended)

    def _read_head(self, pieces: Iterable[bytes]) -> bytes:
        buffer, scanned = b"", 0
        for piece in pieces:
            buffer += piece
            if not self._offset and buffer.startswith(b"\xef\xbb\xbf"):
                buffer, self._offset = buffer[3:], 3
            self._refuse_other_text(buffer)
            start = self._find_events(buffer, scanned)
            if start is not None:
                self._offset += start
                return buffer[start:]
            if len(buffer) > _HEAD_LIMIT:
                what = f"no `traceEvents` in its first {units.size(_HEAD_LIMIT)}"
                raise ForeignFileError(self.path, what, expected=KINETO)
            scanned = max(0, len(buffer) - _MARGIN)
        raise self._no_events(buffer)

    def _refuse_other_text(self, buffer: bytes) -> None:
        if buffer.lstrip()[:1] not in (b"", b"{", b"["):
            raise ForeignFileError(self.path, foreign.describe(buffer[:65536]), where="byte 0", expected=KINETO)

    def _find_events(self, buffer: bytes, scanned: int) -> int | None:
        """Where the first event begins; None while more must be read. `scanned`: how far it was searched before."""
        if (bare := _BARE_LIST.match(buffer)) is not None:
            if bare[1] not in b"{]":
                what = foreign.MEMORY_TIMELINE if bare[1] == b"[" else "a JSON list, but not one of events"
                raise ForeignFileError(self.path, f"this is {what}", where="byte 0", expected=KINETO)
            return bare.start(1)
        for found in _EVENTS_KEY.finditer(buffer, scanned):
            try:
                self.fields = msgspec.json.decode(buffer[: found.start()] + b'"":0}', type=dict[str, Any])
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if "truncated" in str(error):
                    continue  # a key of something inside the head
                self._mend_head(buffer[: found.start()])
            self.fields.pop("", None)
            self.keyed = True
            return found.end()
        return None

    def _mend_head(self, head: bytes) -> None:
        try:
            self.fields = msgspec.json.decode(mend(head) + b'"":0}', type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.notes.append("The head of the file is not valid JSON: what it says of devices and settings is lost.")
            if base := _BASE.search(head):
                self.fields = {"baseTimeNanoseconds": int(base[1])}
        self.repaired += 1

    def _no_events(self, buffer: bytes) -> TraceError:
        where = f"byte {self._offset + len(buffer):,}"
        if self._stream.damage:
            return UnreadableError(self.path, self._stream.damage, expected=f"{KINETO}, whole")
        if not buffer.strip(b" \t\r\n\0"):
            return UnreadableError(self.path, "the file holds nothing", where="byte 0", expected=KINETO)
        what = foreign.describe(buffer[:65536])
        try:
            msgspec.json.decode(buffer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if what != foreign.NO_EVENTS:
                return ForeignFileError(self.path, what, where="byte 0", expected=KINETO)
            if "truncated" in str(error):
                problem = "the file ends before its first event"
                return UnreadableError(self.path, problem, where=where, expected=f"{KINETO} with `traceEvents`")
            byte = _BYTE.search(str(error))
            where = f"byte {int(byte[1]):,}" if byte else "byte 0"
            return UnreadableError(self.path, "the JSON is broken", where=where, expected=KINETO)
        return ForeignFileError(self.path, what, where="key `traceEvents`", expected=KINETO)

    def _cut(self, text: bytes) -> tuple[Batch, bytes, bool] | None:
        """(events up to the last boundary that proves right, what follows, whether the list ended); None: read on."""
        end = len(text)
        for _ in range(_GUESSES):
            end = _boundary(text, end)
            if end < 0:
                return None
            if found := self._decode(text[:end] + b"]"):
                batch, rest = found
                self._offset += end + 1
                # Anything behind the list, but for the bracket added here, means that it had ended before the cut.
                return (batch, rest[:-1] + text[end:], True) if rest else (batch, text[end + 1 :], False)
        return None

    def _last(self, text: bytes) -> tuple[Batch, bytes, bool]:
        """The same for the end of the file, where a cut list is read up to its last whole event."""
        try:
            if found := self._decode(text):
                return *found, True
            found = self._decode(text.rstrip().removesuffix(b",") + b"]")
        except _BrokenError as error:
            if b"}" in text[error.at :]:
                raise
            found = None  # broken and cut in the same event
        end = len(text)
        while found is None and (end := _boundary(text, end)) >= 0:
            found = self._decode(text[:end] + b"]")
        return (*found, False) if found else (Batch([], b"[]", self._offset), b"", False)

    def _decode(self, text: bytes) -> tuple[Batch, bytes] | None:
        """The events of the list whose text, behind its `[`, is given, and what follows its end.

        None where the text ends inside. Broken JSON is mended where that is safe.
        """
        broken = 0
        for attempt in (None, mend, mend_events):
            text = text if attempt is None else attempt(text)
            try:
                return self._decode_list(b"[" + text, attempt is not None)
            except UnicodeDecodeError:
                continue
            except msgspec.ValidationError as error:
                problem = f"an event is not as Kineto writes it ({error})"
                where = f"byte {self._offset:,} and after"
                raise UnreadableError(self.path, problem, where=where, expected=KINETO) from error
            except msgspec.DecodeError as error:
                if "truncated" in str(error):
                    # so the parser also calls half a surrogate
                    if attempt is None and has_surrogates(text):
                        continue
                    return None
                broken = broken or int(_BYTE.findall(str(error))[-1]) - 1
        raise _BrokenError(self.path, self._offset, broken)

    def _decode_list(self, text: bytes, mended: bool) -> tuple[Batch, bytes]:
        if not mended and (found := self._decode_others(text)):
            return found
        try:
            batch, rest = Batch(_events.decode(text), text, self._offset), b""
        except msgspec.DecodeError as error:
            if "trailing characters" not in str(error):
                raise
            close = text.rindex(b"]", 0, int(_BYTE.findall(str(error))[-1]) - 1) + 1
            batch, rest = Batch(_events.decode(text[:close]), text[:close], self._offset), text[close:]
        self.repaired += mended
        return batch, rest

    def _decode_others(self, text: bytes) -> tuple[Batch, bytes] | None:
        """The same where operators need no parsing; None where there are none or anything is odd."""
        others, operators = split(text)
        if operators is None:
            return None
        rest = b""
        try:
            events = _events.decode(others)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if "trailing characters" not in str(error):
                return None
            close = others.rindex(b"]", 0, int(_BYTE.findall(str(error))[-1]) - 1) + 1
            others, rest = others[:close], others[close:]
            if operators.end > len(text) - len(rest):
                return None
            events = _events.decode(others)
        whole = text[: len(text) - len(rest)]
        return Batch(events, others, self._offset, operators, whole), rest

    def _read_foot(self, rest: bytes, ended: bool) -> None:
        if not ended:
            self._cut_short()
        elif rest:
            foot = b"{" + rest.removeprefix(b",")
            try:
                self.fields |= msgspec.json.decode(foot, type=dict[str, Any])
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                if "truncated" in str(error):
                    self._cut_short()
                self._mend_foot(foot)
        elif self.keyed:
            self._cut_short()
        if self._stream.damage and not self.truncated:
            self.notes.append(f"{self._stream.damage[0].upper()}{self._stream.damage[1:]}; the JSON in it is whole.")

    def _cut_short(self) -> None:
        self.truncated = True
        why = self._stream.damage or f"the file ends in the middle, at byte {self._stream.bytes_read:,}"
        self.notes.append(f"{why[0].upper()}{why[1:]}; it was read up to its last whole event.")

    def _mend_foot(self, foot: bytes) -> None:
        try:
            self.fields |= msgspec.json.decode(mend(foot), type=dict[str, Any])
            self.repaired += 1
        except (msgspec.DecodeError, UnicodeDecodeError):
            if not self.truncated:
                self.notes.append("The end of the file, behind the events, is not valid JSON and was left out.")
            if base := _BASE.search(foot):
                self.fields.setdefault("baseTimeNanoseconds", int(base[1]))


def _boundary(text: bytes, end: int) -> int:
    """The last comma before `end` that stands between a `}` and a `{`; -1 where there is none."""
    while (end := text.rfind(b"{", 0, end)) > 0:
        before = text[max(0, end - _MARGIN) : end].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            return text.rindex(b",", 0, end)
    return -1
