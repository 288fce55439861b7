from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpuprof.capture.lines.line_log import LineLog
from gpuprof.capture.lines.line_monitor import LineMonitor, monitoring
from gpuprof.model.table import Table

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

CELL = "ipykernel_1/100.py"
OTHER = "ipykernel_1/200.py"


class Clock:
    """Goes on by what the code sleeps, and by nothing else."""

    def __init__(self) -> None:
        self.now_ns = 10**18

    def sleep(self, milliseconds: int) -> None:
        self.now_ns += milliseconds * 1_000_000


class Follower:
    """A monitor around pieces of code, run as the cell or another cell."""

    def __init__(self, clock: Clock) -> None:
        self.monitor = LineMonitor(LineLog(CELL))
        self.names: dict[str, Any] = {"sleep": clock.sleep}

    def define(self, source: str, filename: str = OTHER) -> None:
        exec(compile(source, filename, "exec"), self.names)

    def run(self, source: str, filename: str = CELL) -> Table:
        self.monitor.install()
        try:
            self.monitor.begin()
            exec(compile(source, filename, "exec"), self.names)
        finally:
            self.monitor.remove()
        return self.monitor.log.table()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "time_ns", lambda: made.now_ns)
    return made


@pytest.fixture
def follower(clock: Clock) -> Iterator[Follower]:
    made = Follower(clock)
    yield made
    made.monitor.remove()


def own_ms(table: Table) -> dict[tuple[int, int], int]:
    """Of each file's lines, those that took any time."""
    lengths = np.diff(table["time_ns"]) // 1_000_000
    spent: Counter[tuple[int, int]] = Counter()
    for file, line, length in zip(table["source_file"], table["line"], lengths, strict=False):
        spent[int(file), int(line)] += int(length)
    return dict(+spent)


def test_every_line_of_the_cell_has_its_own_time(follower: Follower) -> None:
    spent = own_ms(follower.run("for _ in range(3):\n    sleep(20)\n    sleep(1)\n"))

    assert spent == {(0, 2): 60, (0, 3): 3}


def test_what_follows_a_call_on_its_line_counts_for_the_line(follower: Follower) -> None:
    follower.define("def short():\n    sleep(2)\n    return 1\n")

    table = follower.run("x = [short(), sleep(50)]\n")

    spent = own_ms(table)
    assert spent == {(0, 1): 50, (1, 2): 2}
    assert follower.monitor.log.files == [CELL, OTHER]
    inside = table["source_file"] == 1
    assert set(table["cell_line"][inside]) == {1}


def test_generators_and_exceptions_leave_their_lines(follower: Follower) -> None:
    follower.define(
        "def numbers():\n    sleep(10)\n    yield 1\n    sleep(10)\n    yield 2\n"
        "def fails():\n    sleep(10)\n    raise ValueError\n"
    )

    spent = own_ms(
        follower.run("for n in numbers():\n    sleep(30)\ntry:\n    fails()\nexcept ValueError:\n    sleep(30)\n")
    )

    assert spent == {(0, 2): 60, (0, 6): 30, (1, 2): 10, (1, 4): 10, (1, 7): 10}


def test_library_code_is_not_followed(follower: Follower) -> None:
    follower.define("def helper():\n    sleep(10)\n", filename="/somewhere/library.py")

    table = follower.run("helper()\n")

    assert set(table["source_file"]) == {0, -1}
    assert own_ms(table) == {(0, 1): 10}


def test_lines_that_come_too_often_are_dropped_and_the_rest_is_followed(follower: Follower) -> None:
    follower.define("def dense():\n    total = 0\n    for n in range(200_000):\n        total += n\n    return total\n")

    table = follower.run("dense()\nsleep(50)\n")

    assert any("`dense` around line 3" in note for note in follower.monitor.notes)
    assert len(table) < 100_000
    assert own_ms(table) == {(0, 2): 50}


def test_tool_id_is_given_back_and_taken_ids_are_left_alone(follower: Follower) -> None:
    before = len(follower.run("x = 1\n"))
    assert monitoring.get_tool(4) is None and monitoring.get_tool(2) is None

    monitoring.use_tool_id(3, "one")
    monitoring.use_tool_id(4, "another")
    try:
        table = follower.run("x = 1\n")
    finally:
        monitoring.free_tool_id(3)
        monitoring.free_tool_id(4)
    assert len(table) == before
    assert "other tools" in follower.monitor.notes[-1]


def test_a_frame_that_runs_already_is_followed(follower: Follower) -> None:
    follower.names["monitor"] = follower.monitor
    source = "monitor.install()\nmonitor.begin()\nsleep(20)\nmonitor.pause()\nsleep(20)\n"

    exec(compile(source, CELL, "exec"), follower.names)

    spent = own_ms(follower.monitor.log.table())
    assert spent == {(0, 3): 20}


def test_following_a_second_time_works(follower: Follower, clock: Clock) -> None:
    follower.define("def again():\n    sleep(10)\n")
    follower.run("again()\n")
    second = Follower(clock)
    second.names = follower.names

    assert own_ms(second.run("again()\n")) == {(1, 2): 10}


def test_what_following_a_line_takes_is_measured(follower: Follower, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_ns = 20_000

    def slow_clock() -> int:
        until = time.perf_counter_ns() + slow_ns
        while time.perf_counter_ns() < until:
            pass
        return 10**18

    table = follower.run("for _ in range(3):\n    pass\n")
    here_ns = follower.monitor.entry_ns
    monkeypatch.setattr(time, "time_ns", slow_clock)
    slowed = Follower(Clock())
    slowed.run("for _ in range(3):\n    pass\n")

    assert here_ns > 0
    assert slowed.monitor.entry_ns >= 0.9 * slow_ns  # the clock is read once per line
    assert int(table["line"].max()) == 2  # the lines that were tried are not among them
    assert slowed.monitor.cost_ns == round(slowed.monitor.log.entries * slowed.monitor.entry_ns)
