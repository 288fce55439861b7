"""How much of each cell's operator time repeats what was done before, by a close look at the whole cell.

python -m benchmarks.repeated_work FILE_OR_FOLDER ... [--seconds 30] [--operators 60000]

The files are cells as benchmarks/rounds/README.md describes them. Each variant runs once, in a process of its own,
under `CloseLook`, until its end or the end of the look's budget. A table in Markdown: `repeated` is the share of
calculations of at least 2% each, `found` whether that is above low severity, `lines` those that would be named,
`fault` whether one of them is the fault's. A healthy or cured cell with `yes` under `found` needs an explanation, or is
a fault of ours.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import runpy
import subprocess
import sys
from pathlib import Path

VARIANTS = ("FAULTY", "CURED", "GOOD")
_CELL = "<cell>"
_TIMEOUT_S = 600
_HEAD = "| cell | variant | operators | ended by | fingerprinted | repeated | round trips | found | lines | fault |"


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="repeated work of cells, by a close look at each")
    parser.add_argument("cells", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0, help="the look's own budget")
    parser.add_argument("--operators", type=int, default=60_000)
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.variant:
        print(row(chosen.cells[0], chosen.variant, chosen.seconds, chosen.operators))
        return 0
    print(_HEAD, "|---" * _HEAD.count(" | ") + "|---|", sep="\n", flush=True)
    for path in (
        each for given in chosen.cells for each in (sorted(given.glob("*.py")) if given.is_dir() else [given])
    ):
        for variant in VARIANTS:
            if f"\n{variant} = " in f"\n{path.read_text(encoding='utf-8')}":
                print(_apart(path, variant, chosen.seconds, chosen.operators), flush=True)
    return 0


def _apart(path: Path, variant: str, seconds: float, operators: int) -> str:
    command = [sys.executable, "-m", "benchmarks.repeated_work", str(path), "--variant", variant]
    command += ["--seconds", str(seconds), "--operators", str(operators)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"| {path.stem} | {variant} | – | took more than {_TIMEOUT_S} s |"
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["?"])[-1]
        return f"| {path.stem} | {variant} | – | {last} |"
    return ended.stdout.strip().splitlines()[-1]


def row(path: Path, variant: str, seconds: float, operators: int) -> str:
    """Run that variant here and say what repeats."""
    import torch

    from gpuprof.analyses.basics.result import Results
    from gpuprof.analyses.dataflow.conversion_trips import ConversionTrips
    from gpuprof.analyses.dataflow.repeated_work import RepeatedWork
    from gpuprof.capture.look.close_look import CloseLook
    from gpuprof.model.context import Cell, RunContext
    from gpuprof.model.look_schema import LOOKED
    from gpuprof.model.trace import Source, Trace, empty_tables
    from gpuprof.rules.needless.repeated_work import RepeatedOperators, named_lines

    torch.set_num_threads(1)
    facts = runpy.run_path(str(path))
    source = facts[variant].lstrip("\n")
    namespace = {"__name__": "__main__"}
    look = CloseLook(_CELL, most_operators=operators, most_seconds=seconds, most_bytes=1 << 36, namespace=namespace)
    with contextlib.redirect_stdout(io.StringIO()), look:
        exec(compile(source, _CELL, "exec"), namespace)
    tables, said = look.result()
    named = {schema.name: table for schema, table in zip(LOOKED, tables, strict=True)}
    trace = Trace(
        source=Source(path.name),
        names=said.names,
        tables={**empty_tables(), **named},
        span_start_ns=said.start_ns,
        span_end_ns=said.end_ns,
        context=RunContext(look=said, cell=Cell(source=source, filename=_CELL)),
    )
    results, rule = Results(trace), RepeatedOperators()
    large = tuple(each for each in results.get(RepeatedWork).chains if each.share >= rule.chain_share)
    share, trips = sum(each.share for each in large), results.get(ConversionTrips).share
    lines = named_lines(results, large) if share >= rule.work_share else ()
    found = "yes" if share >= rule.low_share else "low" if share >= rule.work_share else "no"
    faults = fault_lines(source, facts.get("FAULT_LINES") or [])
    hit = ("yes" if faults & set(lines) else "no") if variant == "FAULTY" else ""
    return (
        f"| {path.stem} | {variant} | {len(trace.looked_operators)} | {said.ended_by} | "
        f"{said.fingerprinted_share:.0%} | {share:.1%} | {trips:.1%} | {found} | {', '.join(map(str, lines))} | {hit} |"
    )


def fault_lines(source: str, given: list[str | int]) -> set[int]:
    """The numbers of the lines that a cell says its fault lies in, by text or number."""
    lines = source.splitlines()
    found = {each for each in given if isinstance(each, int)}
    texts = [each.strip() for each in given if isinstance(each, str)]
    return found | {number for number, line in enumerate(lines, 1) if any(text in line for text in texts)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
