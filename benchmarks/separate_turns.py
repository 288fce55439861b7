"""What the close look says of loops over small pieces, by a close look at the whole of each cell.

python -m benchmarks.separate_turns FILE_OR_FOLDER ... [--seconds 30] [--operators 60000]

As benchmarks/repeated_work.py. A row for each variant: `found` whether the loops take a share that is reported, then
each loop: its line, turns, share and operators.
"""

from __future__ import annotations

import _thread
import argparse
import contextlib
import io
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from benchmarks.repeated_work import VARIANTS

_CELL = "<cell>"
_TIMEOUT_S = 600


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="loops over small pieces in cells, by a close look at each")
    parser.add_argument("cells", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0, help="the look's own budget")
    parser.add_argument("--operators", type=int, default=60_000)
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.variant:
        print(row(chosen.cells[0], chosen.variant, chosen.seconds, chosen.operators))
        return 0
    print("| cell | variant | operators | ended by | found | loops |", "|---" * 6 + "|", sep="\n", flush=True)
    for path in (
        each for given in chosen.cells for each in (sorted(given.glob("*.py")) if given.is_dir() else [given])
    ):
        for variant in VARIANTS:
            if f"\n{variant} = " in f"\n{path.read_text(encoding='utf-8')}":
                print(_apart(path, variant, chosen.seconds, chosen.operators), flush=True)
    return 0


def _apart(path: Path, variant: str, seconds: float, operators: int) -> str:
    command = [sys.executable, "-m", "benchmarks.separate_turns", str(path), "--variant", variant]
    command += ["--seconds", str(seconds), "--operators", str(operators)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"| {path.stem} | {variant} | – | took more than {_TIMEOUT_S} s |"
    if ended.returncode:
        return f"| {path.stem} | {variant} | – | {(ended.stderr.strip().splitlines() or ['?'])[-1]} |"
    return ended.stdout.strip().splitlines()[-1]


def looked(path: Path, variant: str, seconds: float, operators: int) -> Any:
    """The Trace of a look at that variant, run here."""
    import torch

    from gpuprof.capture.look.close_look import CloseLook
    from gpuprof.model.context import Cell, RunContext
    from gpuprof.model.look_schema import LOOKED
    from gpuprof.model.trace import Source, Trace, empty_tables

    torch.set_num_threads(1)
    source = runpy.run_path(str(path))[variant].lstrip("\n")
    namespace = {"__name__": "__main__"}
    look = CloseLook(_CELL, most_operators=operators, most_seconds=seconds, most_bytes=1 << 36, namespace=namespace)
    ended = threading.Event()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(KeyboardInterrupt), look:
        threading.Thread(target=_stop_with, args=(look, ended), daemon=True).start()
        exec(compile(source, _CELL, "exec"), namespace)
        ended.set()
    tables, said = look.result()
    return Trace(
        source=Source(path.name),
        names=said.names,
        tables={**empty_tables(), **{each.name: table for each, table in zip(LOOKED, tables, strict=True)}},
        span_start_ns=said.start_ns,
        span_end_ns=said.end_ns,
        context=RunContext(look=said, cell=Cell(source=source, filename=_CELL)),
    )


def _stop_with(look: Any, ended: threading.Event) -> None:
    """What the cell does after the look is of no interest."""
    while not ended.wait(0.1):
        if not look.active:
            _thread.interrupt_main()
            return


def row(path: Path, variant: str, seconds: float, operators: int) -> str:
    """Run that variant here and say which loops it has."""
    from gpuprof.analyses.basics.result import Results
    from gpuprof.analyses.turns.separate_turns import SeparateTurns
    from gpuprof.rules.needless.pieces_one_by_one import PiecesOneByOne

    trace = looked(path, variant, seconds, operators)
    results, rule, places = Results(trace), PiecesOneByOne(), trace.context.look.places
    loops = results.get(SeparateTurns).loops
    share = sum(each.share for each in loops)
    words = "; ".join(
        f"line {places[each.head].line}: {each.turns:.0f} × {each.runs}, {each.share:.0%}, "
        f"{', '.join(each.names[:3])}, {each.made} elements {each.indexed}"
        for each in loops
    )
    return (
        f"| {path.stem} | {variant} | {len(trace.looked_operators)} | {trace.context.look.ended_by} | "
        f"{'yes' if share >= rule.work_share else 'no'} | {words} |"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
