"""`%gpuprof on`: one line below every cell that takes long, without profiling it."""

from __future__ import annotations

from typing import Any

from IPython.display import display

from gpuprof.magics.messages import MagicUsageError
from gpuprof.magics.transformer import NAME

_LEAST_S = 5.0
_ON = "hints are on: a cell of 5 s or more gets one line below it. `%gpuprof off` ends that."
_OFF = "hints are off."


class Hints:
    """The state of one shell. Off until `turn("on")`, or where IPython's configuration has `c.Gpuprof.hints = True`."""

    def __init__(self, shell: Any):
        self._shell = shell
        self._depth = 0
        self._watch: Any = None
        self.on = bool(shell.config.get("Gpuprof", {}).get("hints", False))

    def turn(self, line: str) -> str:
        """`on` or `off`; without either, how it is. The answer is one line."""
        word = line.strip()
        if word not in ("", "on", "off"):
            raise MagicUsageError(f"%gpuprof {word}: expected `on` or `off`")
        self.on = self.on if not word else word == "on"
        return _ON if self.on else _OFF

    def pre_run_cell(self, info: Any) -> None:
        """IPython calls this before a cell runs, nested ones included."""
        self._depth += 1
        if self.on and self._depth == 1 and NAME not in info.raw_cell:
            self._watch = self._begin(info)

    def post_run_cell(self, result: Any) -> None:
        """IPython calls this after a cell has run; `result` is None where it was cancelled."""
        self._depth = 0 if result is None else max(self._depth - 1, 0)
        if self._depth:
            return
        watch, self._watch = self._watch, None
        if watch is None:
            return
        if watch.elapsed_s() < _LEAST_S:
            watch.abandon()
            return
        said = self._told(watch)
        if said:
            display({"text/plain": f"gpuprof: {said}"}, raw=True)

    def close(self) -> None:
        """For `%unload_ext`."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.abandon()

    def _begin(self, info: Any) -> Any:
        from gpuprof.capture.session.ambient import AmbientWatch
        from gpuprof.model.context import Cell

        try:
            transformed = getattr(info, "transformed_cell", None) or self._shell.transform_cell(info.raw_cell)
            filename = self._shell.compile.get_code_name(info.raw_cell, transformed, self._shell.execution_count)
            watch = AmbientWatch(Cell(source=info.raw_cell, filename=filename), self._shell.user_ns)
            watch.start()
        except Exception:  # noqa: BLE001 - the user's cell must run whatever becomes of a hint
            return None
        return watch

    def _told(self, watch: Any) -> str:
        from gpuprof.analyses.basics.result import Results
        from gpuprof.ingest.load import load_captured
        from gpuprof.report.hint import hint

        try:
            captured = watch.stop()
            if captured is None:
                return ""
            trace = load_captured(captured)
            return hint(trace, Results(trace))
        except Exception:  # noqa: BLE001 - the cell has run; a hint that fails is no hint
            return ""
