"""The notebook side: IPython, widgets, JupyterLab."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator

from gpuprof.doctor.check import Check


def checks() -> Iterator[Check]:
    """Versions, and which front end this process talks to."""
    yield Check("front end", "works", _front_end())
    for name, mend in (("ipywidgets", "pip install ipywidgets"), ("anywidget", "pip install anywidget")):
        version = _version(name)
        if version:
            yield Check(name, "works", version)
        else:
            yield Check(name, "broken", "is not installed: no dashboard", mend)
    lab = _version("jupyterlab")
    if lab:
        widgets = _version("jupyterlab_widgets")
        if widgets:
            yield Check("JupyterLab", "works", f"{lab}, widgets by jupyterlab_widgets {widgets}")
        else:
            yield Check(
                "JupyterLab",
                "warning",
                f"{lab} without jupyterlab_widgets in this environment",
                "pip install jupyterlab_widgets where JupyterLab runs, then reload the page",
            )


def _front_end() -> str:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module else None
    if shell is None:
        return "none: this is not a notebook"
    kind = type(shell).__name__
    return {"ZMQInteractiveShell": "a Jupyter kernel", "TerminalInteractiveShell": "terminal IPython"}.get(kind, kind)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
