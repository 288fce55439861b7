"""Both samplers look at real code: the shares have to be those of a stopwatch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import torch

from gpuprof.capture.base.own_processes import OWN
from gpuprof.capture.stacks import spy
from gpuprof.capture.stacks.folding import StackTree
from gpuprof.capture.stacks.memory_sampler import MemorySampler
from gpuprof.capture.stacks.spy import SpySampler
from gpuprof.capture.stacks.stacks import StackWatch
from gpuprof.capture.stacks.thread_sampler import UNKNOWN_LINE, ThreadSampler
from gpuprof.errors import CaptureError

HERE = str(Path(__file__))
LONG = set(range(1_000_000))


def holds_the_gil(until: float) -> None:
    while time.monotonic() < until:
        LONG - {1}
        torch.ones(4).sum()


def gives_up_the_gil(until: float) -> None:
    left = torch.ones(400, 400)
    while time.monotonic() < until:
        left @ left
        _ = sorted([2, 1])


def lines_of(rows: list[tuple[int, int, int]], tree: StackTree) -> dict[tuple[str, int], float]:
    """Seconds by function and line of this file."""
    table, spent = tree.table(), dict[tuple[str, int], float]()
    for begin, end, node in rows:
        while node >= 0 and tree.files[table["sampled_file"][node]].filename != HERE:
            node = int(table["parent"][node])
        if node >= 0:
            key = (tree.functions[table["function"][node]], int(table["line"][node]))
            spent[key] = spent.get(key, 0.0) + (end - begin) / 1e9
    return spent


def line(function: object, text: str) -> int:
    source = Path(HERE).read_text().splitlines()
    start = function.__code__.co_firstlineno  # type: ignore[attr-defined]
    return next(number for number in range(start, start + 9) if text in source[number - 1])


def wait_until_it_samples(sampler: SpySampler) -> None:
    """The newest part: on a busy machine it takes a while to read where Python keeps its frames."""
    for _ in range(400):
        sampler._parts[-1].note_begin()
        if sampler._parts[-1].begin_ns:
            return
        time.sleep(0.05)


@pytest.fixture
def by_spy() -> Iterator[SpySampler]:
    sampler = SpySampler()
    try:
        sampler.start()
    except CaptureError as error:  # pragma: no cover  - a machine that forbids it
        pytest.skip(str(error))
    wait_until_it_samples(sampler)
    yield sampler
    sampler.abandon()


@pytest.fixture
def by_memory() -> Iterator[MemorySampler]:
    sampler = MemorySampler()
    try:
        sampler.start()
    except CaptureError as error:  # pragma: no cover  - a machine that forbids it
        pytest.skip(str(error))
    yield sampler
    sampler.abandon()


@pytest.fixture(params=["memory", "py-spy"])
def outside(request: pytest.FixtureRequest) -> Iterator[MemorySampler | SpySampler]:
    yield request.getfixturevalue("by_memory" if request.param == "memory" else "by_spy")


def long_enough_s(sampler: MemorySampler | SpySampler) -> float:
    """For 20 samples: py-spy takes 5 a second where frames are many, and a busy machine misses some."""
    return max(20 / sampler.rate_hz, 1.0) if isinstance(sampler, SpySampler) else 0.6


@pytest.mark.parametrize(("function", "text"), [(holds_the_gil, "LONG - {1}"), (gives_up_the_gil, "left @ left")])
def test_the_time_is_given_to_the_line_that_takes_it(
    outside: MemorySampler | SpySampler, function: object, text: str
) -> None:
    time.sleep(0.3)
    began = time.time_ns()
    function(time.monotonic() + max(1.5, long_enough_s(outside)))  # type: ignore[operator]
    ended = time.time_ns()
    tree = StackTree(HERE)
    rows = outside.finish(tree)

    spent = lines_of([row for row in rows if row[1] > began and row[0] < ended], tree)
    name = function.__name__  # type: ignore[attr-defined]
    share = 0.6 if isinstance(outside, SpySampler) else 0.75
    assert spent[name, line(function, text)] > share * sum(each for (of, _), each in spent.items() if of == name)
    assert outside.cpu_ns > 0
    assert outside.rate_hz > 0


def test_the_times_are_those_of_the_clock(outside: MemorySampler | SpySampler) -> None:
    time.sleep(0.5)
    began = time.time_ns()
    holds_the_gil(time.monotonic() + long_enough_s(outside))
    ended = time.time_ns()
    time.sleep(0.3)
    tree = StackTree(HERE)
    rows = outside.finish(tree)

    inside = [(begin, end) for begin, end, node in rows if lines_of([(begin, end, node)], tree) and begin < end]
    held = [each for each in inside if each[1] - each[0] < 10**9]
    names = {at: node for at, _, node in rows}
    table = tree.table()
    own = [at for at, node in names.items() if node >= 0 and "holds_the_gil" in path_of(node, tree, table)]
    # py-spy's clock begins when it says so: a busy machine may let it look at the first stack a second later
    slack = 2 * 10**9 if isinstance(outside, SpySampler) else 10**8
    assert held and own
    assert began - slack < min(own) < ended + slack
    assert max(own) < ended + slack


def path_of(node: int, tree: StackTree, table: object) -> set[str]:
    found = set()
    while node >= 0:
        found.add(tree.functions[table["function"][node]])  # type: ignore[index]
        node = int(table["parent"][node])  # type: ignore[index]
    return found


def test_nothing_is_left_behind(by_spy: SpySampler) -> None:
    folders = [part.folder for part in by_spy._parts]
    pids = [part.process.pid for part in by_spy._parts]
    time.sleep(long_enough_s(by_spy))
    by_spy.finish(StackTree(HERE))

    assert not any(folder.exists() for folder in folders)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_long_cell_is_sampled_in_parts(by_spy: SpySampler, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(long_enough_s(by_spy))
    monkeypatch.setattr(spy, "_PART_NS", 0)
    by_spy.tick()
    monkeypatch.undo()
    parted_ns = time.time_ns()
    wait_until_it_samples(by_spy)
    time.sleep(long_enough_s(by_spy))
    tree = StackTree(HERE)
    rows = by_spy.finish(tree)

    assert rows == sorted(rows)
    assert rows[0][0] < parted_ns < rows[-1][1]
    assert rows[-1][1] - rows[0][0] > 800_000_000


def test_a_thread_tells_the_line_of_the_operator_that_runs() -> None:
    sampler = ThreadSampler()
    sampler.start()
    gives_up_the_gil(time.monotonic() + 1.0)
    sampler.stop()
    tree = StackTree(HERE)
    nodes = sampler.instants(tree)
    seen = lines_of([(0, 1_000_000_000, node) for _, node in nodes], tree)

    product = line(gives_up_the_gil, "left @ left")
    assert seen["gives_up_the_gil", product] > 0.7 * sum(seen.values())
    assert sampler.cpu_ns > 0 and sampler.samples == len(nodes)


def test_a_thread_does_not_guess_who_held_the_gil() -> None:
    sampler = ThreadSampler()
    sampler.start()
    holds_the_gil(time.monotonic() + 1.0)
    sampler.stop()
    tree = StackTree(HERE)
    spent = lines_of(sampler.stretches(tree), tree)

    wrong = line(holds_the_gil, "torch.ones(4)")
    # how much depends on when the operating system wakes the thread; not all of it, at any rate
    assert spent.get(("holds_the_gil", wrong), 0.0) < sum(spent.values())
    assert any(at == UNKNOWN_LINE or at == line(holds_the_gil, "LONG - {1}") for _, at in spent)


@pytest.fixture
def memory_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemorySampler, "refused", True)


def test_the_cell_is_sampled_by_reading_memory() -> None:
    watch = StackWatch(HERE, None)
    watch.start()
    gives_up_the_gil(time.monotonic() + 1.0)
    watch.tick()
    found, (nodes, samples, _) = watch.finish()

    assert found is not None and found.how == "memory" and not watch.notes
    assert len(nodes) and len(samples)
    assert found.cost_share is not None and found.cost_share > 0


def test_where_memory_cannot_be_read_py_spy_samples_and_no_note_is_needed(memory_is_closed: None) -> None:
    watch = StackWatch(HERE, None)
    watch.start()
    gives_up_the_gil(time.monotonic() + 2.0)
    found, _ = watch.finish()
    watch.abandon()
    assert found is not None and found.how == "py-spy" and not watch.notes


def test_where_reading_ends_by_itself_py_spy_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemorySampler, "refused", False)
    watch = StackWatch(HERE, None)
    watch.start()
    reader = watch._outside
    assert isinstance(reader, MemorySampler) and reader._process is not None
    reader._process.kill()
    reader._process.wait()
    watch.tick()

    assert isinstance(watch._outside, SpySampler) and MemorySampler.refused
    assert reader._output is not None and reader._output.closed
    watch.abandon()
    assert not OWN


@pytest.mark.usefixtures("memory_is_closed")
def test_where_py_spy_cannot_be_had_a_thread_samples_and_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise CaptureError("py-spy is not installed")

    monkeypatch.setattr(spy, "_binary", missing)
    watch = StackWatch(HERE, None)
    watch.start()
    gives_up_the_gil(time.monotonic() + 0.3)
    stacks, (nodes, samples, _) = watch.finish()

    assert stacks is not None and stacks.how == "thread"
    assert len(nodes) and len(samples)
    assert "py-spy is not installed" in watch.notes[0]


@pytest.mark.usefixtures("memory_is_closed")
def test_a_py_spy_that_may_not_read_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "py-spy"
    script.write_text("#!/bin/sh\necho 'Error: Permission Denied' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(spy, "_binary", lambda: str(script))
    watch = StackWatch(HERE, None)
    watch.start()
    gives_up_the_gil(time.monotonic() + 0.2)
    stacks, _ = watch.finish()

    assert stacks is None or stacks.how == "thread"
    assert "Permission Denied" in watch.notes[0]


def test_unwanted_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpySampler, "start", lambda self: pytest.fail("started"))
    monkeypatch.setattr(MemorySampler, "start", lambda self: pytest.fail("started"))
    before = threading.active_count()
    watch = StackWatch(HERE, None, wanted=False)
    watch.start()
    watch.begin()
    watch.tick()
    assert threading.active_count() == before
    assert watch.finish()[0] is None
    watch.abandon()


def test_it_is_no_child_of_the_users_run(outside: MemorySampler | SpySampler) -> None:
    from gpuprof.capture.process.host_sampler import HostSampler

    process = outside._process if isinstance(outside, MemorySampler) else outside._parts[0].process
    assert process is not None
    sampler = HostSampler()
    sampler.start()
    time.sleep(2.0)  # py-spy takes a while to begin where others have the cores
    table = sampler.stop()
    assert len(table) and process.pid not in sampler._children
    outside.finish(StackTree(HERE))
    assert not OWN


def test_the_reader_ends_with_its_process() -> None:
    script = (
        "import os, sys, time\n"
        "from gpuprof.capture.stacks.memory_sampler import MemorySampler\n"
        "sampler = MemorySampler()\n"
        "sampler.start()\n"
        "if os.fork() == 0:\n"  # it holds the pipe open, as a worker may
        "    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)\n"
        "    time.sleep(30)\n"
        "    os._exit(0)\n"
        "time.sleep(1)\n"
        "print(sampler._process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    reader = int(told.stdout)
    for _ in range(200):
        if not psutil.pid_exists(reader) or psutil.Process(reader).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)
    pytest.fail("the reader still runs")


def test_a_forked_worker_does_not_keep_it_from_ending(by_memory: MemorySampler) -> None:
    worker = os.fork()
    if worker == 0:  # pragma: no cover  - the other process
        time.sleep(20)
        os._exit(0)
    try:
        gives_up_the_gil(time.monotonic() + 0.5)
        assert by_memory.finish(StackTree(HERE))
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
    assert by_memory._output is not None and by_memory._output.closed
