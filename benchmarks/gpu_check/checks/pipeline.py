"""Everything after the capture on a bare machine: a recording becomes a report though no notebook library is there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from benchmarks.gpu_check.check import Check

ABSENT = ("IPython", "ipywidgets", "holoviews", "bokeh", "anywidget", "pandas", "jinja2", "traitlets", "ipykernel")


class Without:
    """A finder that does not see some packages, as where they were never installed."""

    def __init__(self, finder: Any, absent: Sequence[str]):
        self._finder = finder
        self._absent = set(absent)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the finder finds, nothing for those."""
        if name.partition(".")[0] in self._absent:
            return None
        found: ModuleSpec | None = self._finder.find_spec(name, path, target)
        return found


def run(check: Check) -> None:
    there = [name for name in ABSENT if name in sys.modules]
    check.expect("nothing imported the notebook's libraries so far", not there)
    sys.meta_path[:] = [Without(finder, ABSENT) for finder in sys.meta_path]
    from benchmarks.gpu_check import cells, recorded, training
    from benchmarks.gpu_check.trim import trim
    from gpuprof.run import Run
    from gpuprof.whatif.predict import Replay

    size = "mini" if check.small else "host_bound"
    namespace: dict[str, Any] = training.sized(size, check.device, steps=6)
    cells.enter(training.SETUP, namespace)
    profiled = cells.play(training.CELL, namespace).run
    text = profiled.text()
    check.note(text=text[:4000], run=recorded.describe(profiled), modules=_imported())
    check.expect("the text report is there", "How far to trust this" in text)
    check.expect("rules judged", bool(profiled.findings) or bool(profiled.abstained))
    check.expect("the graph was replayed", profiled.report_data.results.get(Replay) is not None)
    with TemporaryDirectory() as folder:
        again = Run.load(trim(Path(str(profiled.folder)), Path(folder) / "trimmed"))
        check.expect("its trimmed recording loads and reports", len(again.text()) > 200)
    check.expect("nothing imported the notebook's libraries in the end", not set(ABSENT) & set(sys.modules))


def _imported() -> list[str]:
    """The packages outside the standard library that were used."""
    tops = {name.partition(".")[0] for name in sys.modules}
    return sorted(name for name in tops - set(sys.stdlib_module_names) if not name.startswith("_") and _installed(name))


def _installed(name: str) -> bool:
    return "-packages" in str(getattr(sys.modules[name], "__file__", "") or "")
