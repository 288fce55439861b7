from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from gpuprof.capture.base.frame_exit import when_frame_returns
from gpuprof.capture.base.main_thread import MainThreadCall, call_on_main_thread


def busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def ask_soon(callback: object) -> None:
    threading.Timer(0.05, call_on_main_thread, [callback]).start()


def test_runs_on_the_main_thread_in_the_middle_of_a_loop() -> None:
    seen: list[tuple[threading.Thread, float]] = []
    ask_soon(lambda: seen.append((threading.current_thread(), time.monotonic())))
    busy(0.4)
    assert [thread for thread, _ in seen] == [threading.main_thread()]
    assert seen[0][1] < time.monotonic() - 0.1


def test_runs_after_a_sleep() -> None:
    seen: list[float] = []
    began = time.monotonic()
    ask_soon(lambda: seen.append(time.monotonic() - began))
    time.sleep(0.3)
    busy(0.05)
    assert len(seen) == 1
    assert seen[0] >= 0.3


def test_its_operators_are_not_recorded_and_those_of_the_cell_are() -> None:
    import torch

    data, seen = torch.ones(4), list[object]()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        ask_soon(lambda: seen.append(torch.cumsum(data, 0).detach().numpy()))
        while not seen:
            busy(0.01)
        torch.cumprod(data, 0)
    names = {each.key for each in profiler.key_averages()}
    assert "aten::cumprod" in names
    assert not names & {"aten::cumsum", "aten::detach", "aten::resolve_conj"}


def test_one_that_is_asked_for_while_another_sets_a_trace_function_runs_too() -> None:
    """CPython 3.11 would otherwise never come out of the next call of a Python function."""
    code = textwrap.dedent("""
        import sys, threading, time
        from gpuprof.capture.base.main_thread import call_on_main_thread
        seen = []
        def plain(number):
            seen.append(number)
        def first():
            threading.Timer(0.05, call_on_main_thread, [lambda: plain(2)]).start()
            sys.settrace(lambda *_: None)
            time.sleep(0.3)
            plain(1)
        threading.Timer(0.05, call_on_main_thread, [first]).start()
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            pass
        print(*seen)
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.split() == ["1", "2"]


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_reaches_the_code_an_error_does_not() -> None:
    def fail() -> None:
        raise ValueError("dropped")

    def interrupt() -> None:
        raise KeyboardInterrupt

    ask_soon(fail)
    busy(0.2)
    ask_soon(interrupt)
    with pytest.raises(KeyboardInterrupt):
        busy(2)


def test_after_a_frame_has_returned() -> None:
    order: list[str] = []

    def inner() -> None:
        import sys

        assert when_frame_returns(sys._getframe(1), lambda: order.append("after outer"))
        order.append("inner")

    def outer() -> None:
        inner()
        order.append("outer")

    outer()
    order.append("caller")
    assert order == ["inner", "outer", "after outer", "caller"]


def test_not_beside_another_profile_function() -> None:
    import sys

    sys.setprofile(lambda *_: None)
    try:
        assert not when_frame_returns(sys._getframe(), lambda: None)
    finally:
        sys.setprofile(None)


def test_what_runs_there_is_not_compiled(tmp_path: Path) -> None:
    """GIVEN a compiled function with a break in it, in which the call is asked for."""
    script = tmp_path / "compiled.py"
    script.write_text(
        textwrap.dedent("""\
        import torch
        from gpuprof.capture.base.main_thread import call_on_main_thread
        ran, graphs = [], []

        def backend(graph, inputs):
            graphs.append([str(each.target) for each in graph.graph.nodes])
            return graph.forward

        def ours():
            ran.append(torch.ones(3).tanh())

        @torch.compile(backend=backend)
        def cell(x):
            y = x.sum().item()
            call_on_main_thread(ours)
            for each in range(3):
                y = y + x.cos().sum().item()
            return y

        for _ in range(4):
            cell(torch.ones(4))
        print(len(ran) > 0, len(graphs) > 0, any("tanh" in str(each) for each in graphs))
    """)
    )
    told = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert told.stdout == "True True False\n", told.stderr


def test_nothing_runs_while_a_syntax_tree_is_made() -> None:
    """GIVEN a call that is asked for while `ast.parse` runs, as a callback of the garbage collector lets it: a tree
    that the callback makes, or what it imports, would fail the user's one. It runs when it is asked for again."""
    ran: list[bool] = []
    call = MainThreadCall(lambda: ran.append(True))
    exec(compile("call._run()", ast.__file__, "exec"), {"call": call})
    assert not ran and not call.waiting
    call.ask()
    busy(0.05)
    assert ran == [True]


def test_a_look_at_values_waits_for_the_end_of_a_transform() -> None:
    torch = pytest.importorskip("torch")
    ran: list[str] = []
    anywhere = MainThreadCall(lambda: ran.append("anywhere"))
    outside = MainThreadCall(lambda: ran.append("outside"), in_transforms=False)

    def f(x: object) -> object:
        anywhere._run()
        outside._run()
        return torch.sin(x)

    torch.func.vmap(f)(torch.ones(3))
    assert ran == ["anywhere"]
    outside._run()
    assert ran == ["anywhere", "outside"]
