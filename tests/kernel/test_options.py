"""The options of `%%gpuprofile`, and the other magics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

WORK = "x = torch.ones(64, 64)\ny = x @ x\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--stepz 3", "unrecognized arguments: --stepz 3"),
        ("--steps many", "argument --steps: invalid int value: 'many'"),
        ("--steps 0", "--steps 0: expected a whole number of at least 1"),
        ("--display everything", "invalid choice: 'everything'"),
        ("--into 3x", "--into 3x: expected the name of a variable"),
        ("--compare nowhere", "there is no run 'nowhere'"),
        ("--report nowhere/out.html", "expected a file in a folder that exists"),
        ("--name 'open", "No closing quotation"),
    ],
)
def test_a_bad_option_is_one_error_and_the_cell_does_not_run(kernel: LiveKernel, line: str, says: str) -> None:
    ran = kernel.run(f"%%gpuprofile {line}\nran_anyway = True")
    assert ran.failed
    assert len(ran.outputs) == 1 and ran.traceback.startswith("UsageError: ") and says in ran.traceback
    assert "\n" not in ran.traceback
    assert kernel.value("'ran_anyway' in globals()") == "False"


def test_a_cell_without_code_is_a_usage_error(kernel: LiveKernel) -> None:
    ran = kernel.run("%%gpuprofile\n# nothing\n")
    assert "there is no code below" in ran.traceback and ran.failed


def test_into_assigns_the_run(kernel: LiveKernel) -> None:
    kernel.run(f"%%gpuprofile --into mine --name 'with a name' --quiet\n{WORK}")
    assert kernel.value("(type(mine).__name__, mine is gpuprof.last())") == "('Run', True)"
    assert kernel.value("mine.trace.context.cell.name") == "'with a name'"


def test_into_assigns_the_run_of_a_cell_that_raised(kernel: LiveKernel) -> None:
    kernel.run(f"%%gpuprofile --into mine --quiet\n{WORK}1 / 0")
    assert kernel.value("mine.trace.context.outcome.error") == "'ZeroDivisionError'"


@pytest.mark.parametrize("line", ["--quiet", "--display none"])
def test_quiet_shows_nothing_but_the_cells_own_output(kernel: LiveKernel, line: str) -> None:
    ran = kernel.run(f"%%gpuprofile {line}\n{WORK}print(1)\n2")
    assert [o.output_type for o in ran.outputs] == ["stream", "execute_result"]


def test_a_cell_without_torch_work_gets_one_line(kernel: LiveKernel) -> None:
    for live in (False, True):
        ran = kernel.run("%%gpuprofile\nprint('hello')", live=live)
        said = ran.displays[-1]
        assert ran.stream("stdout") == "hello\n"
        assert said["text/plain"].startswith("gpuprof: ") and said["text/plain"].count("\n") <= 1
        assert "no torch work to profile." in said["text/html"] and "<details" not in said["text/html"]
        assert not any("widget-view" in kind for kind in said)


def test_the_interactive_page_is_saved_on_request(kernel: LiveKernel) -> None:
    assert "<iframe" not in kernel.run(f"%%gpuprofile\n{WORK}").reports[0]["text/html"]
    assert "<iframe" in kernel.run(f"%%gpuprofile --embed\n{WORK}").reports[0]["text/html"]


def test_text_is_plain_text_only(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile --display text\n{WORK}")
    assert [set(display) for display in ran.displays] == [{"text/plain"}]


def test_nobody_in_front_means_no_widget_and_somebody_means_the_live_card_first(kernel: LiveKernel) -> None:
    view = "application/vnd.jupyter.widget-view+json"
    assert not any(view in display for display in kernel.run(f"%%gpuprofile\n{WORK}").displays)
    live = kernel.run(f"%%gpuprofile\n{WORK}", live=True).displays
    above, card, report = live
    assert above == {"text/plain": "", "text/html": ""}  # the status bar stood there
    assert view in card and view not in report
    assert view in kernel.run(f"%%gpuprofile --display widget\n{WORK}").displays[-1]
    assert len(kernel.run(f"%%gpuprofile --display report\n{WORK}", live=True).displays) == 1


def test_report_writes_the_page(kernel: LiveKernel, tmp_path: Path) -> None:
    page = tmp_path / "the page.html"
    ran = kernel.run(f"%%gpuprofile --display none --report '{page}'\n{WORK}os.chdir(os.getcwd())")
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert str(page) in ran.stream("stdout")


def test_compare_names_a_variable_a_saved_run_or_the_last_one(kernel: LiveKernel) -> None:
    kernel.run(f"%%gpuprofile --quiet --into first --name original\n{WORK}")
    for named in ("first", "original", "last"):
        ran = kernel.run(f"%%gpuprofile --display text --into first --compare {named}\n{WORK}")
        assert not ran.failed and ran.stream("stderr") == "", ran.stream("stderr")
        assert "before → after" in ran.reports[0]["text/plain"]
    assert kernel.value("type(gpuprof.last().compare(first)).__name__") == "'Comparison'"


def test_variables_are_expanded_as_in_other_magics(kernel: LiveKernel) -> None:
    kernel.run("label, shell = 'expanded', 'mine'")
    ran = kernel.run(f"%%gpuprofile --quiet --name {{label}}-$shell\n{WORK}")
    assert not ran.failed
    assert kernel.value("gpuprof.last().trace.context.cell.name") == "'expanded-mine'"


def test_another_magic_below_works(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%gpuprofile --display text --into timed\n%%time\n{WORK}y[0, 0].item()")
    assert "Wall time" in ran.stream("stdout") and ran.values == ["64.0"]
    assert len(ran.reports) == 1
    assert kernel.value("int(timed.tables['operators'].name.eq('aten::mm').sum())") == "1"


def test_another_magic_above_works(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%time\n%%gpuprofile --display text --into timed\n{WORK}y[0, 0].item()")
    assert "Wall time" in ran.stream("stdout") and ran.values == ["64.0"]
    assert [o.output_type for o in ran.outputs] == ["stream", "execute_result", "display_data"]
    assert kernel.value("int(timed.tables['operators'].name.eq('aten::mm').sum())") == "1"


def test_a_line_is_the_cells_below_another_magic_too(kernel: LiveKernel) -> None:
    kernel.run("def read(data):\n    return [x for x in torch.utils.data.DataLoader(data)]\n")
    ran = kernel.run("%%time\n%%gpuprofile --quiet --into timed\n\n\n\nread(torch.ones(8, 2))\n")
    assert not ran.failed
    assert kernel.value("[loader.line for loader in timed.trace.context.loaders]") == "[5]"


def test_a_syntax_error_below_another_magic_is_not_profiled(kernel: LiveKernel) -> None:
    before = kernel.value("gpuprof.history().__len__()")
    ran = kernel.run("%%time\n%%gpuprofile\nx = 1\nx +\n")
    assert [error.ename for error in ran.errors] == ["SyntaxError"] and not ran.displays
    assert kernel.value("gpuprof.history().__len__()") == before


def test_an_exception_below_another_magic_is_shown_once(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%time\n%%gpuprofile --display text\n{WORK}1 / 0")
    assert [error.ename for error in ran.errors] == ["ZeroDivisionError"]
    assert "1 / 0" in ran.traceback and "line 4" in ran.traceback
    assert "raised ZeroDivisionError" in ran.reports[0]["text/plain"]


def test_a_captured_cell_keeps_its_value_to_itself(kernel: LiveKernel) -> None:
    ran = kernel.run(f"%%capture caught\n%%gpuprofile --display text\n{WORK}print('mine')\n5")
    assert [o.output_type for o in ran.outputs] == ["display_data"]
    assert kernel.value("(caught.stdout, caught.outputs[0].data['text/plain'])") == "('mine\\n', '5')"


def test_a_bad_option_below_another_magic_is_one_error(kernel: LiveKernel) -> None:
    ran = kernel.run("%%time\n%%gpuprofile --stepz\nran_anyway = True")
    assert len(ran.errors) == 1 and "unrecognized arguments" in ran.traceback and "\n" not in ran.traceback
    assert kernel.value("'ran_anyway' in globals()") == "False"


def test_help_and_completion_know_the_magic(kernel: LiveKernel) -> None:
    reply = kernel.client.kc.inspect("%%gpuprofile", reply=True)
    text = reply["content"]["data"]["text/plain"]
    assert "--max-seconds" in text and "Profile this cell" in text
    assert not kernel.run("%%gpuprofile?").failed
    matches = kernel.client.kc.complete("%%gpu", reply=True)["content"]["matches"]
    assert "%%gpuprofile" in matches


def test_explain_prints_the_page_and_names_the_rules(kernel: LiveKernel) -> None:
    assert "input_stall" in kernel.run("%gpuexplain").stream("stdout")
    page = kernel.run("%gpuexplain input_stall").stream("stdout")
    assert "Why it costs" in page
    wrong = kernel.run("%gpuexplain nonsense")
    assert wrong.failed and "there is no rule 'nonsense'" in wrong.traceback and "\n" not in wrong.traceback


def test_history_lists_the_saved_runs(kernel: LiveKernel) -> None:
    kernel.run(f"%%gpuprofile --quiet --name remembered\n{WORK}")
    ran = kernel.run("%gpuhistory")
    assert "“remembered”" in ran.values[0].splitlines()[-1]
    assert kernel.value("gpuprof.history()[-1].load().trace.context.cell.name") == "'remembered'"


def test_a_cell_that_is_run_again_is_compared_with_its_previous_run(kernel: LiveKernel) -> None:
    # GIVEN a cell that was profiled, then one that has nothing to do with it
    cell = "%%gpuprofile --display text --into {}\nz = torch.ones(64, 64)\nfor _ in range(50): z = z @ z / 64"
    kernel.run(cell.format("original"))
    kernel.run(f"%%gpuprofile --quiet\n{WORK}")
    # WHEN it is changed a little and run again
    again = kernel.run(cell.format("changed").replace("range(50)", "range(60)")).reports[0]["text/plain"]
    # THEN the report compares it with its own earlier run, unless told not to
    said = kernel.value("' '.join(changed.compare(original).sentence().split())").strip("'\"")
    number = kernel.value("original.trace.context.run_number")
    assert f"run {number}" in said and said in " ".join(again.split())
    without = kernel.run(cell.format("changed").replace("--into", "--no-compare --into")).reports[0]["text/plain"]
    assert f"run {number}" not in without and "faster than" not in without
