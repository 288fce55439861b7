"""The same magic under papermill, nbconvert and in a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pexpect
import pytest

from tests.support.kernel import kernel_environment, notebook_of

pytestmark = pytest.mark.kernel

SETUP = "%load_ext gpuprof"
PROFILED = "%%gpuprofile\nimport torch\nx = torch.ones(64, 64)\n(x @ x).sum().item()"


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in kernel_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_papermill(importable: Path) -> None:
    import papermill

    source, target = importable / "in.ipynb", importable / "out.ipynb"
    nbformat.write(notebook_of(SETUP, PROFILED), source)
    papermill.execute_notebook(source, target, kernel_name="python3", progress_bar=False)
    outputs = nbformat.read(target, as_version=4).cells[-1].outputs
    assert [o.output_type for o in outputs] == ["execute_result", "display_data"]
    assert set(outputs[1].data) == {"text/plain", "text/html"}


def test_papermill_stops_at_a_bad_option(importable: Path) -> None:
    import papermill

    source, target = importable / "in.ipynb", importable / "out.ipynb"
    nbformat.write(notebook_of(SETUP, "%%gpuprofile --stepz\n1", "after = 1"), source)
    with pytest.raises(papermill.PapermillExecutionError, match="unrecognized arguments: --stepz"):
        papermill.execute_notebook(source, target, kernel_name="python3", progress_bar=False)
    assert nbformat.read(target, as_version=4).cells[-1].execution_count is None


def test_nbconvert_execute(importable: Path) -> None:
    nbformat.write(notebook_of(SETUP, PROFILED), importable / "in.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "in.ipynb", "--output", "out.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    page = (importable / "out.html").read_text(encoding="utf-8")
    assert "262144.0" in page and "Where the time went</strong>" in page
    assert '<script type="application/vnd.jupyter.widget-view+json"' not in page


def test_a_terminal_gets_the_plain_text(importable: Path) -> None:
    shell = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", "--colors=NoColor"],
        cwd=str(importable),
        env={**kernel_environment(), "IPYTHONDIR": str(importable / "ipython"), "TERM": "dumb"},
        encoding="utf-8",
        timeout=60,
        dimensions=(50, 200),
    )
    shell.expect_exact("In [1]: ")
    shell.sendline("%load_ext gpuprof")
    shell.expect_exact("In [2]: ")
    # two empty lines end a cell magic at this prompt, ours as any other
    for line in (*PROFILED.splitlines(), "", ""):
        shell.sendline(line)
    shell.expect_exact("Out[2]: 262144.0")
    shell.expect_exact("In [3]: ")
    report = shell.before or ""
    assert "Where the time went: " in report and "How far to trust this" in report
    assert "Traceback" not in report and "<div" not in report
    shell.sendline("1 + 1")
    shell.expect_exact("Out[3]: 2")
    # it leaves by itself: a killed one may need longer than pexpect waits
    shell.sendline("exit")
    shell.expect(pexpect.EOF)


def test_a_plain_shell_object_runs_the_magic(importable: Path) -> None:
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"shell.run_cell({SETUP!r})\n"
        f"result = shell.run_cell({PROFILED!r}, store_history=True)\n"
        "assert result.result == 262144.0, result\n"
        "import gpuprof\n"
        "cell = gpuprof.last().trace.context.cell\n"
        "assert cell.execution_count == result.execution_count, (cell, result)\n"
        "assert cell.filename.startswith('<ipython-input-1-'), cell.filename\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False, cwd=importable
    )
    assert done.returncode == 0, done.stderr
