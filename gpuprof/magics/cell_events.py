"""Starts and stops the capture around cells: IPython's run events, and the cell magic where no event will come.

`%%gpuprofile` on top of a cell: the transformer makes it a comment, `pre_run_cell` starts, the cell runs as IPython
always runs it, `post_run_cell` stops and shows. `%%gpuprofile` inside another magic's body or a nested `run_cell`:
the real cell magic starts, executes and stops; its report follows when the outer cell has ended.
"""

from __future__ import annotations

import asyncio
from typing import Any

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.magics.execution import Body, Rejection, compiles
from gpuprof.magics.messages import MagicUsageError, describe, notice
from gpuprof.magics.options import CellOptions, parse
from gpuprof.magics.profiled_cell import ProfiledCell, find_earlier
from gpuprof.magics.transformer import NAME, Transformer, comment_out, find_magic_line, has_code
from gpuprof.magics.warm_up import WarmUp
from gpuprof.model.context import Cell


class CellEvents:
    """The state of one shell: which cells run, and which one of them is profiled."""

    def __init__(self, shell: Any):
        self._shell = shell
        self._running: list[Any] = []
        self._profiled: ProfiledCell | None = None
        self._profiled_info: Any = None
        self._waiting: list[ProfiledCell] = []
        self.transformer = Transformer(self._understand, lambda: bool(self._running))
        self.warm_up = WarmUp(shell, lambda: bool(self._running))

    def pre_run_cell(self, info: Any) -> None:
        """IPython calls this before a cell runs, nested ones included."""
        try:
            if not self._running:
                self._start_cell(info)
        except GpuprofError as error:
            notice(f"not profiled: {error}")
        except KeyboardInterrupt:
            Rejection(self._shell, "interrupted while gpuprof was starting; the cell was not run")
        self._running.append(info)

    def post_run_cell(self, result: Any) -> None:
        """IPython calls this after a cell has run; `result` is None where it was cancelled."""
        ended = self._forget(result)
        completed = True
        if self._profiled is not None and ended is not None and ended is self._profiled_info:
            profiled, self._profiled, self._profiled_info = self._profiled, None, None
            completed = _finish(profiled, result)
        if not self._running:
            waiting, self._waiting = self._waiting, []
            for cell in waiting:
                completed = cell.present() and completed
        if not completed and result is not None and result.success:
            # the user pressed stop: Run All must not go on, as it would not have in the plain cell
            result.error_in_exec = KeyboardInterrupt("while gpuprof was making the report")

    def profile_body(self, line: str, cell: str) -> Any:
        """Profile the body that another magic hands over, and return its last value."""
        __tracebackhide__ = True
        options = self._understand(line, cell.splitlines(keepends=True))
        source = f"# %%gpuprofile {line}".rstrip() + f"\n{cell}"
        body = Body(self._shell, source, cell)
        profiled = self._start(options, Cell(source=source, name=options.capture.name, filename=body.filename))
        if profiled is None:
            return body.execute()
        self._profiled = profiled
        error: BaseException | None = None
        try:
            return body.execute()
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._profiled = None
            interrupted = not profiled.stop(error)
            if self._running:
                self._waiting.append(profiled)
            else:
                profiled.present()
            if interrupted and error is None:
                raise KeyboardInterrupt

    def close(self) -> None:
        """Stop what is being profiled; for `%unload_ext`."""
        self.warm_up.end()
        profiled, self._profiled, self._waiting = self._profiled, None, []
        if profiled is not None:
            profiled.discard()
            notice("the extension was unloaded while a cell was being profiled; that run was dropped")

    def _understand(self, line: str, body: list[str]) -> CellOptions:
        try:
            if not has_code(body):
                raise UsageError("there is no code below %%gpuprofile")
            options = parse(_expanded(self._shell, line))
            if options.compare is not None:
                find_earlier(self._shell, options.compare)
        except (GpuprofError, OSError) as error:
            raise MagicUsageError(str(error)) from None
        return options

    def _start_cell(self, info: Any) -> None:
        if NAME not in info.raw_cell:
            return
        lines = self._cleaned(info.raw_cell)
        magic = find_magic_line(lines)
        if magic is None:
            return
        try:
            transformed = getattr(info, "transformed_cell", None) or self._shell.transform_cell(info.raw_cell)
        except Exception:  # noqa: BLE001 - whatever a transformer refuses, IPython is about to show
            return
        if not compiles(self._shell, transformed):
            return
        options = self._understand(magic.arguments, lines[magic.index + 1 :])
        number = self._number_of(info)
        filename = self._shell.compile.get_code_name(info.raw_cell, transformed, number or self._shell.execution_count)
        cell = Cell(
            source="".join(comment_out(lines, magic)),
            execution_count=number,
            name=options.capture.name,
            filename=filename,
            cell_id=getattr(info, "cell_id", None),
        )
        self._profiled = self._start(options, cell)
        self._profiled_info = info

    def _start(self, options: CellOptions, cell: Cell) -> ProfiledCell | None:
        from gpuprof.capture.session.interrupts import interrupts_held

        profiled = None
        with interrupts_held() as interrupt:
            try:
                if self._profiled is not None:
                    raise GpuprofError("%%gpuprofile inside a profiled cell; the recording of that cell covers it")
                self.warm_up.finish_verdict()
                profiled = ProfiledCell.start(self._shell, options, cell)
            except Exception as error:  # noqa: BLE001 - the user's cell must run whatever becomes of us
                notice(f"not profiled: {describe(error)}")
        if interrupt.arrived:
            if profiled is not None:
                profiled.discard()
            raise KeyboardInterrupt
        return profiled

    def _cleaned(self, raw: str) -> list[str]:
        """The lines as our transformer gets them."""
        lines = (raw if raw.endswith("\n") else f"{raw}\n").splitlines(keepends=True)
        for transform in self._shell.input_transformers_cleanup:
            if transform is self.transformer:
                break
            lines = transform(lines)
        return lines

    def _number_of(self, info: Any) -> int | None:
        if not info.store_history:
            return None
        history = self._shell.history_manager
        # IPython 9 counts up before this event, earlier ones after the cell; the history gets the cell after it
        counted = int(self._shell.execution_count)
        return counted if history is None else min(counted, len(history.input_hist_parsed))

    def _forget(self, result: Any) -> Any:
        """The `info` that was running and has now ended, or None."""
        if result is None:
            ended, self._running = (self._running[:1] or [None])[0], []
            return ended
        for at in range(len(self._running) - 1, -1, -1):
            if _same_cell(self._running[at], result.info):
                ended = self._running[at]
                del self._running[at:]
                return ended
        return None


def _finish(profiled: ProfiledCell, result: Any) -> bool:
    if result is None:
        error: BaseException | None = asyncio.CancelledError("the cell was cancelled")
    elif result.error_before_exec is not None:
        profiled.discard()
        return True
    else:
        error = result.error_in_exec
    stopped = profiled.stop(error)
    return profiled.present() and stopped


def _same_cell(left: Any, right: Any) -> bool:
    # IPython makes a new info where the cell ended in an unusual way
    return left is right or (
        left.raw_cell == right.raw_cell and getattr(left, "cell_id", 0) == getattr(right, "cell_id", 0)
    )


def _expanded(_gpuprof_shell: Any, _gpuprof_line: str) -> str:
    """`{expression}` and `$variable` replaced, as in the line of any other magic."""
    # IPython looks into the caller's locals too: names that hide none of the user's
    return str(_gpuprof_shell.var_expand(_gpuprof_line))
