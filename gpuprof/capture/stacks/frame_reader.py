"""Runs in a process of its own: reads the Python frames of one thread of another process from its memory.

It is started by its path, with nothing but the standard library, and must not import gpuprof. Its arguments are the
process and the numbers of `FrameLayout.arguments`. It samples until a byte arrives on standard input or the other
process is gone, and then writes what it saw to standard output as JSON: texts and line tables in hexadecimal.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import time
from _random import Random  # the module `random` takes longer to import than all else here
from array import array

MOST_FRAMES = 3000
MOST_BYTES = 1 << 20  # of one text or line table
SHARE = 0.006  # of one core: with its start, 1% of a cell of 8 s
LEAST_PERIOD_S, MOST_PERIOD_S = 0.01, 0.2
# after so many stretches it samples half as often, after twice as many again: a day takes some 30 MB
MANY = 400_000
# new frames are expected within so many bytes above those of the last look, and side by side within NEAR
ROOM, NEAR = 8192, 1 << 18
TRIES = 8
COUNTED = 32  # looks, for which the processor time is averaged


class Reader:
    """Reads stacks. `codes` (UTF-8 of file and name, line table, first line) and `stacks` (code and offset of each
    frame, innermost first) hold each one once."""

    def __init__(self, pid: int, layout: list[int]) -> None:
        # fmt: off
        (
            self.thread, self.thread_word, self.via_word, self.code_word, self.previous_word, self.instruction_word,
            self.code_type, self.code_size, self.filename_word, self.name_word, self.lines_word, self.first_line_at,
            self.text_mask, self.ascii, self.latin, self.two, self.four,
            self.ascii_head, self.other_head, self.bytes_head,
        ) = layout
        # fmt: on
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        self.frame = struct.Struct(f"{max(self.code_word, self.previous_word, self.instruction_word) + 1}Q")
        self.codes: list[tuple[bytes, bytes, bytes, int]] = []
        self.stacks: list[list[int]] = []
        self._number_of: dict[tuple[int, ...], int] = {}
        self._stack_of: dict[tuple[int, ...], int] = {}
        self.low = self.high = 0
        self.outermost = self.other = 0

    def word(self, address: int) -> int:
        """The pointer that is there; ValueError where there is no memory."""
        raw = os.pread(self.memory, 8, address)
        if len(raw) < 8:
            raise ValueError("cut")
        return int.from_bytes(raw, sys.byteorder)

    def sample(self) -> int:
        """The number of the stack that is there now; OSError or ValueError where it changed while it was read."""
        at = self.word(self.thread + 8 * self.thread_word)
        if self.via_word >= 0:
            at = self.word(at + 8 * self.via_word)
        addresses, places = self.walk(at)
        self.check(places)
        key = tuple(places)
        number = self._stack_of.get(key)
        if number is None:
            frames = self.resolved(places)
            number = self._stack_of[key] = len(self.stacks)
            self.stacks.append(frames)
            # most frames lie side by side: they are read in one go next time
            near = [each for each in addresses if abs(each - addresses[-1]) < NEAR]
            self.low, self.high = min(near, default=0), max(near, default=-ROOM) + ROOM
        return number

    def check(self, places: list[int]) -> None:
        """ValueError for a stack that lacks its outer frames: the record on the C stack that says where the first frame
        is may be gone, and its place in use for something else, before it is read. A new outermost frame has to be seen
        twice in a row."""
        outermost = places[-2] if places else 0
        if outermost != self.outermost:
            again, self.other = outermost == self.other, outermost
            if not outermost or (self.outermost and not again):
                raise ValueError("cut")
            self.outermost = outermost

    def walk(self, at: int) -> tuple[list[int], list[int]]:
        """Where each frame is, innermost first; code and instruction of each."""
        memory, frame, size = self.memory, self.frame, self.frame.size
        code_word, previous, instruction = self.code_word, self.previous_word, self.instruction_word
        low = self.low
        block = os.pread(memory, self.high - low, low) if low else b""
        last = low + len(block) - size
        addresses, places = [], []
        while at:
            words = (
                frame.unpack_from(block, at - low) if low <= at <= last else frame.unpack(os.pread(memory, size, at))
            )
            addresses.append(at)
            places.append(words[code_word] & ~7)
            places.append(words[instruction])
            at = words[previous]
            if len(addresses) > MOST_FRAMES:
                raise ValueError("endless")
        return addresses, places

    def resolved(self, places: list[int]) -> list[int]:
        """Number of the code and offset of the instruction of each frame; what is no code is left out."""
        frames = []
        for at in range(0, len(places), 2):
            code = places[at]
            head = os.pread(self.memory, self.code_size, code)
            if len(head) < self.code_size:
                raise ValueError("no code")
            words = struct.unpack_from(f"{self.code_size // 8}Q", head)
            if words[1] != self.code_type:
                continue
            first = struct.unpack_from("i", head, self.first_line_at)[0]
            key = code, words[self.filename_word], words[self.name_word], words[self.lines_word], first
            number = self._number_of.get(key)
            if number is None:
                texts = self.text(key[1]), self.text(key[2]), self.data(key[3])
                number = self._number_of[key] = len(self.codes)
                self.codes.append((*texts, first))
            frames.append(number)
            frames.append(places[at + 1] - code - self.code_size)
        return frames

    def text(self, address: int) -> bytes:
        """UTF-8 of a `str`."""
        head = os.pread(self.memory, 40, address)
        size = int.from_bytes(head[16:24], sys.byteorder)
        state = int.from_bytes(head[32:36], sys.byteorder) & self.text_mask
        if not 0 <= size < MOST_BYTES:
            raise ValueError("no text")
        if state == self.ascii:
            return self.whole(address + self.ascii_head, size)
        each = {self.latin: 1, self.two: 2, self.four: 4}.get(state)
        if each is None:
            raise ValueError("no text")
        raw = self.whole(address + self.other_head, size * each)
        coding = {1: "latin-1", 2: "utf-16", 4: "utf-32"}[each] + ("" if each == 1 else "-" + sys.byteorder[0] + "e")
        return raw.decode(coding, "replace").encode("utf-8", "replace")

    def data(self, address: int) -> bytes:
        """The content of a `bytes`."""
        size = self.word(address + 16)
        if not 0 <= size < MOST_BYTES:
            raise ValueError("no bytes")
        return self.whole(address + self.bytes_head, size)

    def whole(self, address: int, size: int) -> bytes:
        """So many bytes, or ValueError."""
        raw = os.pread(self.memory, size, address) if size else b""
        if len(raw) < size:
            raise ValueError("cut")
        return raw


def opened(pid: int, layout: list[int]) -> Reader:
    """The right to read may come a moment after the start."""
    for _ in range(50):
        try:
            return Reader(pid, layout)
        except PermissionError:
            time.sleep(0.005)
    return Reader(pid, layout)


def watch(reader: Reader) -> tuple[array[int], array[int], int, int]:
    """Until told to end: begin of each stretch in Unix ns, the number of its stack, looks, and looks that failed."""
    times, seen = array("q"), array("q")
    chance = Random().random
    period, least, many = LEAST_PERIOD_S, LEAST_PERIOD_S, MANY
    count, torn, spent, parent = 0, 0, time.process_time(), os.getppid()
    begin = time.monotonic()
    while True:
        now = time.time_ns()
        stack = looked(reader)
        if stack < 0:
            torn += 1
            if os.getppid() != parent:  # a worker that was forked may hold standard input open
                break
        elif not seen or seen[-1] != stack:
            times.append(now)
            seen.append(stack)
        count += 1
        if count % COUNTED == 0:
            if len(times) > many:
                least, many = 2 * least, 2 * many
            cost, spent = (time.process_time() - spent) / COUNTED, time.process_time()
            period = min(max(cost / SHARE, least), MOST_PERIOD_S)
        # one look in each period, anywhere in it: no rhythm of the program can hide from it
        begin = max(begin + period, time.monotonic() - period)
        due = begin + chance() * period
        if select.select([0], [], [], max(due - time.monotonic(), 0))[0]:
            break
    return times, seen, count, torn


def looked(reader: Reader) -> int:
    """The number of the stack; -1 where it changed each time while it was read."""
    for _ in range(TRIES):
        try:
            return reader.sample()
        except (OSError, OverflowError, ValueError, struct.error):
            reader.low = reader.high = 0
    return -1


def main() -> None:
    """See the module."""
    pid, *layout = (int(each) for each in sys.argv[1:])
    reader = opened(pid, layout)
    times, seen, count, torn = watch(reader)
    end_ns = time.time_ns()
    codes = ",".join(
        f'["{file.hex()}","{name.hex()}","{lines.hex()}",{first}]' for file, name, lines, first in reader.codes
    )
    told = f"[[{codes}],{reader.stacks},{times.tolist()},{seen.tolist()},{end_ns},{count},{torn}"
    with os.fdopen(1, "w") as output:
        output.write(f"{told},{time.process_time_ns()}]")


if __name__ == "__main__":
    main()
