"""What the close look says of results that nobody reads, over cells with a known fault and healthy ones.

    python benchmarks/unread_work.py FILE ... [--iterations 3] [--skip 2]

A cell is a file with `FAULTY` and `CURED`, or `GOOD`, as in benchmarks/rounds. Each runs plainly, in a process of its
own. The loop that trains (else the first one at the top) is looked at for a few turns. One line for each kind of unread
work, with its share of the operators' time. Unseen writes make the rules silent; here they only count. What is above
`low` in a cured or healthy cell is a false alarm.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_VARIANTS = ("FAULTY", "CURED", "GOOD")
_FILE = "<cell>"
_TURN = "__turn__"


class _Enough(BaseException):
    """The look has ended: the rest of the cell need not run."""


def marked(code: str, filename: str) -> Any:
    """The cell with a call at the head of the loop that is looked at."""
    tree = ast.parse(code, filename)
    loop = _loop(tree)
    if loop is not None:
        call = ast.parse(f"{_TURN}()").body[0]
        for node in ast.walk(call):
            ast.copy_location(node, loop.body[0])
        loop.body.insert(0, call)
    return compile(tree, filename, "exec")


def _loop(tree: ast.Module) -> ast.For | ast.While | None:
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    trains = [loop for loop in loops if _calls(loop, "step") and _calls(loop, "backward")]
    if trains:
        return max(trains, key=lambda loop: loop.lineno if not _within(loop, trains) else -loop.lineno)
    top = [node for node in tree.body if isinstance(node, ast.For | ast.While)]
    return top[0] if top else (loops[0] if loops else None)


def _within(loop: ast.AST, others: list[Any]) -> bool:
    """Whether one of the others lies in it."""
    return any(other is not loop and other in set(ast.walk(loop)) for other in others)


def _calls(loop: ast.AST, method: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
        for node in ast.walk(loop)
    )


def look_at(code: str, iterations: int, skip: int) -> str:
    """Run it, and say what is found."""
    import torch

    torch.set_num_threads(1)
    code = code.lstrip("\n")
    tables, facts = _looked(code, iterations, skip)
    return _told(code, tables, facts) if tables else f"not looked at: {facts.skipped}"


def _looked(code: str, iterations: int, skip: int) -> tuple[tuple[Any, ...], Any]:
    from torch.optim.optimizer import register_optimizer_step_post_hook

    from gpuprof.capture.look.close_look import CloseLook

    namespace: dict[str, Any] = {"__name__": "__main__"}
    look = CloseLook(_FILE, iterations=iterations, most_seconds=20.0, namespace=namespace)
    steps, turns, trains = [0], [0], ".step(" in code
    hook = register_optimizer_step_post_hook(lambda *_: steps.__setitem__(0, steps[0] + 1))

    def turn() -> None:
        turns[0] += 1
        if look.installed:
            look.iteration_ended()
            if not look.active:
                raise _Enough
        elif (steps[0] if trains else turns[0] - 1) >= skip and turns[0] > skip:
            look.start()

    namespace[_TURN] = turn
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(_Enough):
        exec(marked(code, _FILE), namespace)
    hook.remove()
    look.stop(lift=True)
    return look.result()


def _told(code: str, tables: tuple[Any, ...], facts: Any) -> str:
    from msgspec import structs

    from gpuprof.analyses.basics.result import Results
    from gpuprof.analyses.demand.unread_work import Unread, UnreadWork
    from gpuprof.model.context import Cell, RunContext
    from gpuprof.model.trace import Source, Trace, empty_tables

    unseen, facts = facts.unseen_writes, structs.replace(facts, unseen_writes=0)
    named = {**empty_tables(), **{table.schema.name: table for table in tables}}
    context = RunContext(look=facts, cell=Cell(source=code, filename=_FILE))
    began = time.perf_counter()
    found = Results(Trace(Source("look"), facts.names, named, 0, 1, context=context)).get(UnreadWork)
    said = [
        f"{len(tables[0])} operators, {facts.iterations} iterations ({facts.ended_by}), {found.time_ns / 1e6:.0f} ms, "
        f"{unseen} unseen writes, analyzed in {time.perf_counter() - began:.1f} s {found.reason}"
    ]
    source = code.splitlines()

    def line(row: int) -> str:
        if row < 0:
            return "-"
        place = facts.places[row]
        return f"{place.line}" if place.file else f"{place.line} `{source[place.line - 1].strip()[:44]}`"

    for kind in Unread:
        places = [each for each in found.places if each.kind is kind and each.place >= 0]
        share = sum(each.wasted_ns for each in places) / max(found.time_ns, 1)
        if share < 0.01:
            continue
        level = "high" if share >= 0.3 else "MEDIUM" if share >= 0.1 else "low" if share >= 0.05 else "-"
        back = sum(each.backward_ns for each in places) / found.time_ns
        said.append(f"  {kind.value:9} {share:6.1%} (+{back:.1%}) {level}")
        said += [
            f"      {each.wasted_ns / found.time_ns:6.1%} {each.operator} x{each.operators} "
            f"{each.elements_read}/{each.elements_made} at {line(each.place)} of {line(each.forward_place)} "
            f"taken {line(each.taken_at)}"
            for each in places[:3]
        ]
    return "\n".join(said)


def main(arguments: list[str]) -> int:
    """Each variant of each cell."""
    parser = argparse.ArgumentParser(description="what nobody reads, over cells")
    parser.add_argument("cells", nargs="+", type=Path, metavar="CELL")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--skip", type=int, default=2)
    parser.add_argument("--variant", choices=_VARIANTS)
    parser.add_argument("--seconds", type=float, default=120)
    chosen = parser.parse_args(arguments)
    for path in chosen.cells:
        spec = importlib.util.spec_from_file_location("cell", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for variant in _VARIANTS:
            if getattr(module, variant, None) is None or chosen.variant not in (None, variant):
                continue
            if chosen.variant is None:
                command = [sys.executable, __file__, str(path), "--variant", variant]
                command += ["--iterations", str(chosen.iterations), "--skip", str(chosen.skip)]
                try:
                    subprocess.run(command, check=False, timeout=chosen.seconds)
                except subprocess.TimeoutExpired:
                    print(path.stem, variant, "took too long", flush=True)
            else:
                said = look_at(getattr(module, variant), chosen.iterations, chosen.skip)
                print(path.stem, variant, said, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
