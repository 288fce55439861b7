"""The main thread says at which line it is, to a thread that asks."""

from __future__ import annotations

import gc
import itertools
import threading
import time
import weakref

import torch

from gpuprof.capture.session.main_line import MainLine, Whereabouts


def test_each_question_is_answered_by_the_line_that_ran() -> None:
    line = MainLine(__file__)
    found: list[Whereabouts] = []
    asked = 0
    done = threading.Event()

    def ask() -> None:
        nonlocal asked
        for number in range(30):
            found.extend(line.ask(number))
            asked += 1
            time.sleep(0.002)
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    while not done.is_set():
        sum(range(100))
    thread.join()
    found.extend(line.ask(30))
    places = {each.place for each in found}
    assert asked - 2 <= len(found) <= asked + 1 and -1 not in places
    assert all(each.path[0].function.startswith("test_each") for each in found)
    # heap readings and times are those of the questions, in order
    assert [each.heap_bytes for each in found] == list(range(len(found)))
    assert all(one.at_ns <= other.at_ns for one, other in itertools.pairwise(found))


def test_what_was_asked_in_one_long_call_is_answered_at_its_end() -> None:
    line = MainLine(__file__)
    found: list[Whereabouts] = []

    def ask() -> None:
        time.sleep(0.05)
        for number in range(5):
            found.extend(line.ask(number))
            time.sleep(0.01)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.5)
    thread.join()
    assert not found
    found.extend(line.ask(5))
    assert len(found) >= 5 and len({each.place for each in found[:5]}) == 1


def test_nothing_of_the_user_lives_longer() -> None:
    line = MainLine(__file__)
    answered: list[Whereabouts] = []
    done = threading.Event()

    def ask() -> None:
        while not answered:
            answered.extend(line.ask(0))
        done.set()

    def work() -> weakref.ref[torch.Tensor]:
        tensor = torch.ones(3)
        threading.Thread(target=ask).start()
        while not done.is_set():
            sum(range(100))
        return weakref.ref(tensor)

    gc.collect()
    gc.disable()
    try:
        assert work()() is None
    finally:
        gc.enable()
