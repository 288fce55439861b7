"""A profiled cell behaves exactly like the plain cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel import OWN_FRAMES, LiveKernel

pytestmark = pytest.mark.kernel

WORK = "x = torch.ones(64, 64)\ny = x @ x\n"


def test_the_last_value_is_displayed_and_kept(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}y.sum().item()")
    assert ran.values == ["262144.0"]
    assert not ran.failed and not ran.errors and ran.stream("stderr") == "" and ran.stream("stdout") == ""
    assert len(ran.reports) == 1
    assert kernel.value(f"(_, Out[{ran.count}])") == "(262144.0, 262144.0)"


def test_the_report_is_one_output_after_the_cells_own_without_a_widget(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}print('mine')\n7")
    assert [o.output_type for o in ran.outputs] == ["stream", "execute_result", "display_data"]
    assert set(ran.reports[0]) == {"text/plain", "text/html"}
    assert "Where the time went" in ran.reports[0]["text/plain"]
    assert "Where the time went" in ran.reports[0]["text/html"]


def test_a_semicolon_keeps_the_value_quiet(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile --display none\n{WORK}y.sum();")
    assert ran.outputs == []


def test_an_exception_leaves_one_traceback_and_a_marked_report(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}1 / 0")
    assert ran.failed
    assert [error.ename for error in ran.errors] == ["ZeroDivisionError"]
    assert ran.stream("stderr") == ""
    assert "line 4" in ran.traceback and "1 / 0" in ran.traceback
    assert OWN_FRAMES not in ran.traceback
    assert "raised ZeroDivisionError" in ran.reports[0]["text/plain"]
    assert "raised ZeroDivisionError" in ran.reports[0]["text/html"]


def test_run_all_stops_at_an_exception(kernel: LiveKernel) -> None:
    from nbclient.exceptions import CellExecutionError

    from tests.support.kernel import kernel_environment, notebook_of

    book = notebook_of(
        "%load_ext gpuprof", "%%gpuprofile\nimport torch\ntorch.ones(2) + 1\nraise KeyError('k')", "after = 1"
    )
    from nbclient import NotebookClient

    with pytest.raises(CellExecutionError, match="KeyError"):
        NotebookClient(book, timeout=120).execute(env=kernel_environment())
    assert book.cells[2].execution_count is None
    assert [o.output_type for o in book.cells[1].outputs] == ["error", "display_data"]


def test_an_interrupt_stops_the_cell_and_is_reported(kernel: LiveKernel, flag: Path) -> None:
    kernel.interrupt_when(flag)
    ran = kernel.run(
        f"%%gpuprofile\n{WORK}open({str(flag)!r}, 'w').close()\nfor _ in range(10**9):\n    y = x @ x\nnever = 1"
    )
    assert ran.failed
    assert [error.ename for error in ran.errors] == ["KeyboardInterrupt"]
    assert "raised KeyboardInterrupt" in ran.reports[0]["text/plain"]
    assert kernel.value("'never' in globals()") == "False"
    assert kernel.value("torch.autograd._profiler_enabled()") == "False"


def test_a_system_exit_is_reported_and_the_kernel_lives(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}raise SystemExit(3)")
    assert ran.failed
    assert [error.ename for error in ran.errors] == ["SystemExit"]
    assert "raised SystemExit" in ran.reports[0]["text/plain"]
    assert kernel.value("y.shape[0]") == "64"


@pytest.mark.parametrize("wrong", ["a = = 1", "  indented\nnot", "for x in y", "return 3", "break"])
def test_a_syntax_error_is_one_error_without_a_report(kernel: LiveKernel, wrong: str) -> None:
    saved = kernel.value("len(gpuprof.history())")
    ran = kernel.run(f"%%gpuprofile\n{wrong}")
    assert ran.failed
    assert len(ran.errors) == 1 and ran.errors[0].ename in ("SyntaxError", "IndentationError")
    assert ran.displays == [] and ran.stream("stderr") == ""
    assert kernel.value("len(gpuprof.history())") == saved


def test_top_level_await_works(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}await asyncio.sleep(0.01)\ny[0, 0].item()")
    assert ran.values == ["64.0"]
    assert len(ran.reports) == 1 and not ran.failed


def test_an_interrupted_await_is_reported(kernel: LiveKernel, flag: Path) -> None:
    kernel.interrupt_when(flag)
    ran = kernel.run(
        f"%%gpuprofile --display text\n{WORK}open({str(flag)!r}, 'w').close()\n"
        "for _ in range(600):\n    await asyncio.sleep(0.1)"
    )
    assert ran.failed and len(ran.errors) == 1
    assert len(ran.reports) == 1
    assert kernel.value("torch.autograd._profiler_enabled()") == "False"


def test_line_magics_and_shell_commands_work(kernel: LiveKernel) -> None:
    ran = kernel.run(
        "%%gpuprofile\n%matplotlib inline\nimport matplotlib.pyplot as plt\n"
        f"{WORK}plt.plot([1, 2])\n!echo from the shell"
    )
    assert not ran.failed
    assert "from the shell" in ran.stream("stdout")
    assert any("image/png" in display for display in ran.displays)
    assert len(ran.reports) == 1


def test_a_future_import_on_the_first_line_of_code_works(kernel: LiveKernel) -> None:
    ran = kernel.run("%%gpuprofile --quiet\nfrom __future__ import annotations\ndef f(a: Nowhere): return 1\nf(2)")
    assert ran.values == ["1"] and not ran.failed


def test_a_cell_outside_the_history_is_profiled(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile\n{WORK}", store_history=False)
    assert len(ran.reports) == 1 and not ran.failed
    assert kernel.value("gpuprof.last().trace.context.cell.execution_count") == "None"


def test_three_profiles_in_a_row_each_hold_their_own_operators(kernel: LiveKernel) -> None:
    for size in (1, 2, 3):
        kernel.run(
            f"%%gpuprofile --quiet --into run_{size}\nfor _ in range({size}):\n    torch.ones(8, 8) @ torch.ones(8, 8)"
        )
    counted = "[r.tables['operators'].name.eq('aten::mm').sum() for r in (run_1, run_2, run_3)]"
    assert kernel.value(f"list(map(int, {counted}))") == "[1, 2, 3]"


def test_the_source_keeps_its_line_numbers(kernel: LiveKernel) -> None:
    ran = kernel.run(f"# a title\n%%gpuprofile --quiet --name lines\n{WORK}")
    assert not ran.failed
    source = kernel.value("gpuprof.last().trace.context.cell.source.splitlines()[:3]")
    assert source == "['# a title', '# %%gpuprofile --quiet --name lines', 'x = torch.ones(64, 64)']"
    assert kernel.value("gpuprof.last().trace.context.cell.execution_count") == str(ran.count)
