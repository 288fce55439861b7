"""`import gpuprof` and `%load_ext gpuprof` bring neither torch nor a plotting library with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "matplotlib", "holoviews", "pandas", "bokeh", "pynvml", "ipywidgets", "anywidget")
REPOSITORY = Path(__file__).resolve().parents[1]
LOAD = (
    "from IPython.core.interactiveshell import InteractiveShell\n"
    "shell = InteractiveShell.instance()\nbefore = set(sys.modules)\n"
    "shell.run_cell('%load_ext gpuprof').raise_error()\n"
    "assert 'gpuprofile' in shell.magics_manager.magics['cell']"
)


def loaded_by(code: str) -> list[str]:
    program = f"import sys\nbefore = set()\n{code}\nprint([m for m in {HEAVY} if m in sys.modules and m not in before])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert done.returncode == 0, done.stderr
    loaded: list[str] = eval(done.stdout.splitlines()[-1])
    return loaded


@pytest.mark.parametrize("code", ["import gpuprof", LOAD, "import gpuprof.errors, gpuprof.units"])
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert loaded_by(code) == []


def test_of_frameworks_only_the_names_are_read() -> None:
    code = "import sys, gpuprof.frameworks\nassert not [m for m in sys.modules if 'lightning' in m or 'keras' in m]"
    assert loaded_by(code) == []


def test_this_test_would_notice() -> None:
    assert "pandas" in loaded_by("import pandas")
