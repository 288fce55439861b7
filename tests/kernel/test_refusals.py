"""Where gpuprof cannot profile, or fails itself, the user's cell runs all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

WORK = "x = torch.ones(64, 64)\ny = x @ x\n"


def one_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1 and lines[0].startswith("gpuprof: "), text
    return lines[0]


def works(kernel: LiveKernel) -> bool:
    """Whether a profiled cell works now: the test after every accident."""
    ran = kernel.run(f"%%gpuprofile --quiet --into after\n{WORK}")
    return not ran.outputs and int(kernel.value("len(after.tables['operators'])")) > 0


def test_a_profiler_of_the_users_is_left_alone(kernel: LiveKernel) -> None:
    kernel.run("outer = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])\nouter.start()")
    ran = kernel.run(f"%%gpuprofile\n{WORK}y[0, 0].item()")
    assert "not profiled" in one_line(ran.stream("stderr")) and "profiler" in ran.stream("stderr")
    assert ran.values == ["64.0"] and ran.displays == [] and not ran.failed
    kernel.run("outer.stop()")
    assert kernel.value("sum(event.key == 'aten::mm' for event in outer.key_averages())") == "1"
    assert works(kernel)


def test_the_context_manager_refuses_before_its_block_runs(kernel: LiveKernel) -> None:
    kernel.run("outer = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])\nouter.start()")
    ran = kernel.run("began = False\nwith gpuprof.profile():\n    began = True")
    assert [error.ename for error in ran.errors] == ["ProfilerBusyError"]
    kernel.run("torch.ones(3) + 1\nouter.stop()")
    assert kernel.value("(began, sum(event.key == 'aten::add' for event in outer.key_averages()))") == "(False, 1)"


def test_a_profile_inside_a_profiled_cell_is_refused_and_the_outer_one_goes_on(kernel: LiveKernel) -> None:
    ran = kernel.run(
        "%%gpuprofile --display text --into outer\n"
        "def inner():\n    return get_ipython().run_cell_magic('gpuprofile', '', 'y @ y')\n"
        f"{WORK}inner()"
    )
    assert "inside a profiled cell" in one_line(ran.stream("stderr"))
    assert not ran.failed and len(ran.values) == 1 and len(ran.reports) == 1
    assert kernel.value("int(outer.tables['operators'].name.eq('aten::mm').sum())") == "2"


def test_a_context_manager_inside_a_profiled_cell_is_refused(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}with gpuprof.profile():\n    pass")
    assert [error.ename for error in ran.errors] == ["ProfilerBusyError"]
    assert "raised ProfilerBusyError" in ran.reports[0]["text/plain"]


def test_a_cell_run_by_the_profiled_cell_belongs_to_it(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile --into outer\n{WORK}done = get_ipython().run_cell('y @ y; 5')\nx @ x\n6")
    assert ran.values[-1] == "6" and len(ran.reports) == 1
    assert kernel.value("int(outer.tables['operators'].name.eq('aten::mm').sum())") == "3"


def test_a_cell_raising_inside_another_leaves_the_outer_profile(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile --into outer\n{WORK}done = get_ipython().run_cell('1 / 0')\nx @ x\n6")
    assert ran.values == ["6"] and len(ran.reports) == 1
    assert "raised" not in ran.reports[0]["text/plain"]


def test_an_interrupted_report_is_one_line_and_stops_run_all(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.run import Run\nimport signal\nmade = Run._from_captured\n"
        "def interrupted(captured):\n    signal.raise_signal(signal.SIGINT)\n    return made(captured)\n"
        "Run._from_captured = interrupted"
    )
    ran = kernel.run(f"%%gpuprofile --name cut\n{WORK}8")
    kernel.run("Run._from_captured = made")
    assert "the report was interrupted" in one_line(ran.stream("stderr"))
    assert ran.values == ["8"] and ran.failed and ran.displays == []
    assert kernel.value("gpuprof.last().trace.context.cell.name") == "'cut'"
    assert works(kernel)


def test_an_interrupt_that_python_swallows_still_stops_run_all(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.run import Run\nimport signal\nmade = Run._from_captured\n"
        "def interrupted(captured):\n"
        "    try:\n        signal.raise_signal(signal.SIGINT)\n    except KeyboardInterrupt:\n        pass\n"
        "    return made(captured)\n"
        "Run._from_captured = interrupted"
    )
    ran = kernel.run(f"%%gpuprofile --display text\n{WORK}8")
    kernel.run("Run._from_captured = made")
    assert ran.values == ["8"] and len(ran.reports) == 1 and ran.failed
    assert works(kernel)


def test_an_interrupt_while_the_capture_stops_keeps_the_recording(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.capture.profiler.kineto import KinetoRecording\nimport signal\nstop = KinetoRecording.stop\n"
        "def interrupted(self):\n    KinetoRecording.stop = stop\n    signal.raise_signal(signal.SIGINT)\n"
        "    return stop(self)\nKinetoRecording.stop = interrupted"
    )
    ran = kernel.run(f"%%gpuprofile --display text --into kept\n{WORK}8")
    kernel.run("KinetoRecording.stop = stop")
    assert ran.values == ["8"] and len(ran.reports) == 1
    assert ran.failed, "the user pressed stop: Run All must not go on"
    assert kernel.value("int(kept.tables['operators'].name.eq('aten::mm').sum())") == "1"
    assert kernel.value("torch.autograd._profiler_enabled()") == "False"
    assert works(kernel)


def test_an_interrupt_while_the_capture_starts_keeps_the_cell_from_running(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.capture.session.session import Session\nbegin = Session.start\n"
        "def interrupted(self):\n    signal.raise_signal(signal.SIGINT)\n    return begin(self)\n"
        "import signal\nSession.start = interrupted"
    )
    ran = kernel.run(f"%%gpuprofile\n{WORK}ran_anyway = True")
    kernel.run("Session.start = begin")
    assert ran.failed and len(ran.errors) == 1 and "interrupted while gpuprof was starting" in ran.traceback
    assert kernel.value("'ran_anyway' in globals()") == "False"
    assert kernel.value("1 + 1") == "2"
    assert works(kernel)


def test_a_failure_of_ours_is_one_line_and_the_cell_is_untouched(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.run import Run\nmade = Run._from_captured\n"
        "def broken(captured):\n    raise RuntimeError('two\\nlines')\nRun._from_captured = broken"
    )
    ran = kernel.run(f"%%gpuprofile --into stale\n{WORK}9")
    kernel.run("Run._from_captured = made")
    assert "RuntimeError: two lines" in one_line(ran.stream("stderr"))
    assert ran.values == ["9"] and not ran.failed and ran.displays == []
    assert kernel.value("stale is None") == "True"


def test_a_report_that_cannot_be_drawn_falls_back_to_text(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.run import Run\nbundle = Run._display_bundle\n"
        "def broken(self, **_):\n    raise ValueError('no')\nRun._display_bundle = broken"
    )
    ran = kernel.run(f"%%gpuprofile\n{WORK}")
    kernel.run("Run._display_bundle = bundle")
    assert "ValueError: no" in one_line(ran.stream("stderr"))
    assert [set(report) for report in ran.reports] == [{"text/plain"}]


def test_without_torch_the_cell_runs_and_one_line_says_why(kernel: LiveKernel) -> None:
    kernel.run("import sys\nkept = sys.modules['torch']\nsys.modules['torch'] = None")
    ran = kernel.run("%%gpuprofile\n3 + 4")
    kernel.run("sys.modules['torch'] = kept")
    assert "not profiled" in one_line(ran.stream("stderr")) and "torch" in ran.stream("stderr")
    assert ran.values == ["7"] and not ran.failed


def test_a_cuda_error_at_the_end_leaves_a_partial_report(kernel: LiveKernel) -> None:
    kernel.run(
        "from gpuprof.capture.profiler import kineto\n"
        "kept = kineto.device_available, torch.cuda.synchronize, torch.cuda.is_initialized\n"
        "def poisoned(*_):\n    raise RuntimeError('CUDA error: device-side assert triggered')\n"
        "kineto.device_available = lambda: True"
    )
    ran = kernel.run(
        f"%%gpuprofile --display text\n{WORK}torch.cuda.synchronize = poisoned\n"
        "torch.cuda.is_initialized = lambda: True\ntorch.cuda.synchronize()"
    )
    kernel.run("kineto.device_available, torch.cuda.synchronize, torch.cuda.is_initialized = kept")
    assert [error.ename for error in ran.errors] == ["RuntimeError"] and ran.stream("stderr") == ""
    assert "raised RuntimeError" in ran.reports[0]["text/plain"]
    assert "the device reported an error" in kernel.value("gpuprof.last().trace.context.notes")
    assert kernel.value("int(gpuprof.last().tables['operators'].name.eq('aten::mm').sum())") == "1"
    assert works(kernel)


def test_a_cell_that_another_extension_rejects_is_not_reported(kernel: LiveKernel) -> None:
    kernel.run(
        "from IPython.core.error import InputRejected\n"
        "class Reject:\n"
        "    def visit(self, node):\n"
        "        get_ipython().ast_transformers.remove(self)\n"
        "        raise InputRejected('not this one')"
    )
    saved = kernel.value("len(gpuprof.history())")
    kernel.run(
        "get_ipython().events.register('post_run_cell', enter := lambda result: (get_ipython().events"
        ".unregister('post_run_cell', enter), get_ipython().ast_transformers.append(Reject())))"
    )
    ran = kernel.run("%%gpuprofile\n1")
    assert [error.ename for error in ran.errors] == ["InputRejected"] and ran.displays == []
    assert kernel.value("len(gpuprof.history())") == saved
    assert works(kernel)


def test_unloading_and_reloading_leave_nothing_twice(kernel: LiveKernel) -> None:
    counts = "[len(get_ipython().input_transformers_cleanup), *map(len, get_ipython().events.callbacks.values())]"
    loaded = kernel.value(counts)
    kernel.run("%reload_ext gpuprof")
    assert kernel.value(counts) == loaded
    ran = kernel.run(f"%%gpuprofile --display text\n{WORK}1")
    assert len(ran.reports) == 1 and ran.values == ["1"]
    kernel.run("%unload_ext gpuprof")
    assert kernel.value(counts) != loaded
    ran = kernel.run("%%gpuprofile\n1")
    assert ran.failed or "not found" in ran.stream("stderr")
    assert kernel.value("'gpuprofile' in get_ipython().magics_manager.magics['cell']") == "False"
    kernel.run("%load_ext gpuprof")
    assert kernel.value(counts) == loaded
    assert works(kernel)


def test_reloading_inside_a_profiled_cell_drops_that_run(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}%reload_ext gpuprof\n4")
    assert "unloaded while a cell was being profiled" in ran.stream("stderr")
    assert ran.values == ["4"] and ran.displays == []
    assert works(kernel)


def test_the_stop_button_between_profiled_cells_harms_nothing(kernel: LiveKernel, flag: Path) -> None:
    flag.touch()
    kernel.interrupt_when(flag).join()
    assert works(kernel)
