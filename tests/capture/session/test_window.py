from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest
import torch

from gpuprof.capture.process import heap
from gpuprof.capture.session import window as recording_window
from gpuprof.capture.session.captured import Captured
from gpuprof.capture.session.limits import EventLimit, UnusedHeap
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Window
from gpuprof.units import NS_PER_S
from tests.capture.cells import events, loader, model, named, train, train_from
from tests.support.torch_versions import TELLS_WHAT_GRAPHS_KEEP

NewSession = Callable[..., Session]
STEP = "Optimizer.step#SGD.step"


@pytest.fixture(autouse=True)
def warm() -> None:
    train(1)  # the first optimizer of a process imports for a second


def profiled(session: Session, cell: Callable[[], object]) -> tuple[Captured, Window]:
    session.start()
    cell()
    captured = session.stop()
    assert captured.context.window is not None
    assert not torch.autograd._profiler_enabled()
    return captured, captured.context.window


def open_spans(captured: Captured) -> list[str]:
    return [event["name"] for event in events(captured.kineto) if event.get("args", {}).get("finished") is False]


def test_ends_after_the_chosen_steps_with_the_last_one_whole(new_session: NewSession) -> None:
    captured, window = profiled(new_session(steps=5, skip=1), lambda: train(20, pause_s=0.002))
    assert (window.ended_by, window.steps_seen, window.first_step, window.steps_recorded) == ("steps", 20, 0, 6)
    assert len(named(events(captured.kineto), STEP)) == 6
    assert open_spans(captured) == []
    assert window.end_ns < window.cell_end_ns - 20_000_000


def test_by_default_goes_on_until_a_second_of_steps(new_session: NewSession) -> None:
    _, window = profiled(new_session(), lambda: train(200, pause_s=0.01))
    assert window.ended_by == "steps"
    assert window.steps_recorded > 40
    assert 1e9 < window.end_ns - window.start_ns < 1.6e9


def busy(steps: int, operators: int = 2_000) -> None:
    """About 5 events per operator."""
    optimizer, x = torch.optim.SGD(model().parameters(), lr=0.01), torch.zeros(4)
    for _ in range(steps):
        for _ in range(operators):
            x + 1
        optimizer.step()


def test_eight_steps_of_many_events_are_enough(new_session: NewSession) -> None:
    _, window = profiled(new_session(), lambda: busy(90))
    # the heap is read 50 times a second at most: a busy machine makes some more steps until then
    assert window.ended_by == "steps" and 10 <= window.steps_recorded <= 60


def test_few_long_steps_are_enough(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_window, "_LONG_NS", 200_000_000)
    _, window = profiled(new_session(), lambda: train(20, pause_s=0.05))
    assert window.ended_by == "steps" and 6 <= window.steps_recorded <= 8
    _, window = profiled(new_session(steps=14), lambda: train(20, pause_s=0.05))
    assert window.steps_recorded == 16


def test_of_short_steps_more_than_twenty_but_not_a_second(new_session: NewSession) -> None:
    _, window = profiled(new_session(), lambda: busy(600, operators=100))
    assert window.ended_by == "steps" and 22 <= window.steps_recorded < 300


def test_short_steps_are_counted_where_the_heap_can_only_be_read_seldom(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = heap.heap_counts

    def slow() -> tuple[int, int] | None:
        time.sleep(0.01)
        return counts()

    monkeypatch.setattr(heap, "heap_counts", slow)
    _, window = profiled(new_session(), lambda: busy(600, operators=100))
    assert window.ended_by == "steps" and 22 <= window.steps_recorded < 300


def test_steps_that_were_asked_for_are_recorded_whatever_they_hold(new_session: NewSession) -> None:
    _, window = profiled(new_session(steps=14, skip=1), lambda: busy(20))
    assert (window.ended_by, window.steps_recorded) == ("steps", 15)


def test_with_a_loader_ends_where_the_next_batch_is_asked_for(new_session: NewSession) -> None:
    def cell() -> None:
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for (x,) in loader(20):
            net(x).sum().backward()
            optimizer.step()
            with torch.profiler.record_function("after the step"):
                torch.ones(2)

    captured, window = profiled(new_session(steps=4, skip=1), cell)
    assert (window.ended_by, window.steps_seen, window.steps_recorded) == ("steps", 20, 5)
    found = events(captured.kineto)
    assert len(named(found, STEP)) == len(named(found, "after the step")) == 5
    assert len(named(found, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")) == 5


def test_without_an_optimizer_batches_are_steps(new_session: NewSession) -> None:
    def cell() -> None:
        net = model()
        for (x,) in loader(20):
            net(x)

    _, window = profiled(new_session(steps=4, skip=1), cell)
    # the call that finds the loader exhausted shows that the work on the last batch has ended
    assert (window.ended_by, window.steps_seen, window.steps_recorded) == ("steps", 20, 5)


def evaluate(seconds: float) -> None:
    end, x = time.monotonic() + seconds, torch.ones(8)
    while time.monotonic() < end:
        x.mul(2)
        time.sleep(0.01)


def test_ends_where_no_step_comes_for_long(new_session: NewSession) -> None:
    """Training and then an evaluation."""

    def cell() -> None:
        train(15, pause_s=0.002)
        evaluate(4)

    captured, window = profiled(new_session(), cell)
    assert (window.ended_by, window.steps_seen, window.steps_recorded) == ("pause", 15, 15)
    assert window.cell_end_ns - window.end_ns > 1e9
    assert len(named(events(captured.kineto), STEP)) == 15
    assert named(events(captured.kineto), "aten::mul")


def test_not_where_its_steps_were_asked_for_or_there_are_few(new_session: NewSession) -> None:
    def cell(steps: int) -> None:
        train(steps, pause_s=0.002)
        evaluate(2.6)

    for session, steps in ((new_session(steps=20), 15), (new_session(), 5)):
        _, window = profiled(session, lambda steps=steps: cell(steps))  # type: ignore[misc]
        assert window.ended_by == "cell"


def serve(seconds: float) -> None:
    """Work that goes round: results of other sizes are kept each time."""
    end, kept = time.monotonic() + seconds, []
    while time.monotonic() < end:
        x = torch.ones(1_000 + len(kept))
        kept.append(x.mul(2).add(1))
        time.sleep(0.01)


def test_where_few_steps_are_followed_by_work_that_goes_round(new_session: NewSession) -> None:
    def cell() -> None:
        train(5, pause_s=0.002)
        serve(6)

    captured, window = profiled(new_session(), cell)
    assert (window.ended_by, window.steps_seen, window.steps_recorded) == ("pause", 5, 5)
    assert window.cell_end_ns - window.end_ns > 1e9
    assert named(events(captured.kineto), "aten::mul")


def test_more_steps_after_that_are_recorded_in_place_of_the_few(new_session: NewSession) -> None:
    def cell() -> None:
        train(5, pause_s=0.002)
        serve(6)
        train(60, pause_s=0.002)

    _, window = profiled(new_session(), cell)
    assert window.started_late and window.steps_recorded >= 20


def test_two_optimizers_in_turn_make_one_step(new_session: NewSession) -> None:
    def cell() -> None:
        nets = [model(), model()]
        optimizers = [torch.optim.SGD(net.parameters(), lr=0.01) for net in nets]
        for (x,) in loader(12):
            for net, optimizer in zip(nets, optimizers, strict=True):
                net(x).sum().backward()
                optimizer.step()

    captured, window = profiled(new_session(steps=3, skip=1), cell)
    assert (window.steps_seen, window.steps_recorded) == (12, 4)
    assert len(named(events(captured.kineto), STEP)) == 8


def test_an_optimizer_inside_backward_cannot_leave_the_profiler_on(new_session: NewSession) -> None:
    def cell() -> None:
        net = model()
        optimizers = {p: torch.optim.SGD([p], lr=0.01) for p in net.parameters()}
        for parameter in net.parameters():
            parameter.register_post_accumulate_grad_hook(lambda p: optimizers[p].step())
        for (x,) in loader(12):
            net(x).sum().backward()

    _, window = profiled(new_session(steps=3, skip=1), cell)
    assert (window.ended_by, window.steps_seen, window.steps_recorded) == ("steps", 12, 4)


def test_with_stacks_python_keeps_its_profile_function(new_session: NewSession) -> None:
    _, window = profiled(new_session(steps=3, skip=1, stacks=True), lambda: train(10))
    assert (window.ended_by, window.steps_recorded) == ("steps", 4)
    assert sys.getprofile() is None


def python_loop() -> None:
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        pass


def torch_loop() -> None:
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        torch.ones(8, 8) @ torch.ones(8, 8)


@pytest.mark.parametrize("cell", [python_loop, torch_loop])
def test_a_cell_without_steps_is_cut_at_the_time_cap(new_session: NewSession, cell: Callable[[], None]) -> None:
    captured, window = profiled(new_session(max_seconds=0.3), cell)
    assert (window.ended_by, window.steps_seen) == ("seconds", 0)
    assert 0.3e9 < window.end_ns - window.start_ns < 0.8e9
    assert captured.context.cost is not None
    assert captured.context.cost.pause_ns


def test_a_sleeping_cell_is_cut_when_it_wakes(new_session: NewSession) -> None:
    _, window = profiled(new_session(max_seconds=0.2), lambda: (time.sleep(0.8), torch_loop()))
    assert window.ended_by == "seconds"
    assert 0.8e9 <= window.end_ns - window.start_ns < 1.1e9


def test_the_time_cap_waits_for_the_step_to_end(new_session: NewSession) -> None:
    captured, window = profiled(new_session(max_seconds=0.3), lambda: train(8, pause_s=0.1))
    assert window.ended_by == "seconds"
    assert len(named(events(captured.kineto), STEP)) == window.steps_recorded < 8
    assert open_spans(captured) == []


def slow_start() -> None:
    for _ in range(6):
        torch.ones(2)
        time.sleep(0.1)


def test_starts_over_when_steps_come_late(new_session: NewSession) -> None:
    def cell() -> None:
        slow_start()
        train_from(loader(20))

    captured, window = profiled(new_session(max_seconds=0.3, steps=5, skip=1), cell)
    assert window.started_late
    assert (window.ended_by, window.steps_seen) == ("steps", 20)
    assert window.steps_recorded >= 5
    assert len(named(events(captured.kineto), STEP)) == window.steps_recorded
    assert window.start_ns > window.cell_start_ns + 400_000_000


def test_the_events_of_a_recording_that_another_took_the_place_of_are_told(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cell() -> None:
        slow_start()
        train_from(loader(20))

    captured, window = profiled(new_session(steps=5, skip=1), lambda: train_from(loader(20)))
    assert not window.started_late and captured.context.sampling["discarded_events"] == 0
    monkeypatch.setattr(EventLimit, "events", 1234)
    captured, window = profiled(new_session(max_seconds=0.3, steps=5, skip=1), cell)
    assert window.started_late and captured.context.sampling["discarded_events"] == 1234


def test_batches_only_give_way_to_an_optimizer(new_session: NewSession) -> None:
    def cell() -> None:
        for (x,) in loader(20):
            x.sum()
        train(20)

    captured, window = profiled(new_session(steps=5, skip=1), cell)
    assert (window.started_late, window.ended_by, window.steps_seen) == (True, "steps", 20)
    assert len(named(events(captured.kineto), STEP)) == window.steps_recorded == 6


def test_does_not_start_over_inside_a_range_that_was_cut(new_session: NewSession) -> None:
    def cell() -> None:
        with torch.profiler.record_function("everything"):
            slow_start()
            train(10)

    captured, window = profiled(new_session(max_seconds=0.3), cell)
    assert not window.started_late
    assert (window.ended_by, window.steps_recorded, window.steps_seen) == ("seconds", 0, 10)
    assert any("could not be started again" in note for note in captured.context.notes)


def test_too_many_events_end_it(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuprof.capture.session.limits.EventLimit.passed", lambda *_, **__: True)
    _, window = profiled(new_session(), torch_loop)
    assert window.ended_by == "bytes"
    assert window.end_ns - window.start_ns < 0.5e9


def test_a_loop_over_single_elements_ends_it_on_a_fast_machine_too(new_session: NewSession) -> None:
    session = new_session()

    def cell() -> None:
        table, end = torch.zeros(64, 64), time.monotonic() + 30
        while time.monotonic() < end and session.live().state == "recording":
            for row in range(64):
                table[row, 3] = 1.0

    _, window = profiled(session, cell)
    assert window.ended_by == "bytes"


@pytest.mark.usefixtures("ctrl_c")
def test_a_ctrl_c_while_it_is_cut_reaches_the_cell(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    from gpuprof.capture.profiler.kineto import KinetoRecording

    stop = KinetoRecording.stop

    def interrupted(recording: KinetoRecording) -> None:
        signal.raise_signal(signal.SIGINT)
        stop(recording)

    session = new_session(max_seconds=0.2)
    session.start()
    monkeypatch.setattr(KinetoRecording, "stop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        python_loop()
    monkeypatch.undo()
    window = session.stop(KeyboardInterrupt()).context.window
    assert window is not None
    assert window.ended_by == "seconds"


@pytest.mark.skipif(not TELLS_WHAT_GRAPHS_KEEP, reason="torch does not tell what graphs keep")
def test_hundreds_of_mebibytes_of_activations_do_not_end_it(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN steps that allocate 480 MiB, 8 at a time, and free it."""
    # they fragment the heap by 2 to 3 GiB here: where the machine has little memory free, that ends it
    monkeypatch.setattr(UnusedHeap, "passed", lambda *_: False)

    def cell() -> None:
        weight = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for _ in range(9):
            x = torch.ones(2 * 1024**2) * weight
            for _ in range(60):
                x = x * weight
            x.mean().backward()
            optimizer.step()

    _, window = profiled(new_session(steps=4, skip=1), cell)
    # on a busy machine the first one may hold it for so long that it looks like events: then another begins
    assert (window.ended_by, window.steps_recorded) == ("steps", 5)


def test_where_memory_ends_it_within_the_first_steps_it_begins_again(
    new_session: NewSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN steps that hold memory for longer than it takes to tell it from events, unless their length is known."""

    def passed(limit: EventLimit, heap_bytes: int, *, device: bool) -> bool:
        return limit._held_ns <= NS_PER_S // 2

    monkeypatch.setattr(EventLimit, "passed", passed)
    _, window = profiled(new_session(steps=3, skip=1), lambda: train(8, pause_s=0.5))
    assert (window.ended_by, window.steps_recorded, window.started_late) == ("steps", 4, True)
