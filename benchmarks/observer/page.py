"""The page of results: Markdown tables with the wanted figure beside each measured one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.observer import figures
from benchmarks.observer.figures import Ratio
from benchmarks.observer.measure import COLLATE, HOOKS, Runs
from benchmarks.observer.worker import EXACT, PLAIN, PROFILED, VARIANTS
from benchmarks.proving.tables import markdown

# written by hand: why a figure is not what was wanted
NOTES = Path(__file__).with_name("notes.md")
_CPU, _WALL = "cpu_s", "wall_s"
_CLOCKS = ("gpuprof", "stopwatch, same run", "stopwatch, plain run")
_HEAD = """# What gpuprof does to a cell, and whether its figures are right

`python -m benchmarks.observer fetch`, then `measure`, then `page --machine "…"` writes this page. Five programs that
nobody wrote for gpuprof (`benchmarks/observer/manifest.toml`), each as two cells of a notebook, with one thread of
torch and data made on the spot. Every figure is of fresh processes, in turns.
"""


def page(runs: Runs, names: Sequence[str], *, date: str, commit: str, machine: str) -> str:
    """The whole page, of the programs that ran in every way."""
    whole = [name for name in names if all(runs.get((name, variant)) for variant in VARIANTS if variant != EXACT)]
    loads = [each["load"] for found in runs.values() for each in found]
    said = f"{date}, commit `{commit}`, {machine}; load average {min(loads):.1f} to {max(loads):.1f}.\n"
    missing = (
        [f"Not measured: {', '.join(name for name in names if name not in whole)}.\n"] if whole != list(names) else []
    )
    parts = [_HEAD, said, *missing, _cells(runs, whole), _iterations(runs, whole), _lines(runs, whole)]
    notes = [NOTES.read_text(encoding="utf-8")] if NOTES.is_file() else []
    return "\n".join([*parts, _shares(runs, whole), _sampler(runs, whole), _collate(runs), *notes])


def _cells(runs: Runs, names: Sequence[str]) -> str:
    rows = []
    for name in names:
        wall, cpu = (figures.cell_ratio(runs, name, clock) for clock in (_WALL, _CPU))
        plain = [f"{figures.plain_seconds(runs, name, clock):.1f} s" for clock in (_WALL, _CPU)]
        added = figures.added(runs, name)
        within = Ratio.spread([each.ratio for each in added])
        first = added[0]
        parts = f"{first.recording:.2f} + {first.leaving:.2f} + {first.sampler:.2f} s"
        rounds = len(runs[name, PROFILED])
        verdict = _verdict(within, figures.MOST_CELL)
        rows.append((name, rounds, *plain, show(wall), show(cpu), show(within), parts, verdict))
    ratios = ("profiled ÷ plain, wall", "CPU", "within one run, CPU")
    head = (
        "program",
        "rounds",
        "plain, wall",
        "plain, CPU",
        *ratios,
        "recording + end + sampler",
        "within one run ≤ 1.10",
    )
    return f"""## The whole cell

Wanted: at most 1.10 × for cells of 10 s and more. The cell in `with gpuprof.profile()` over the plain cell: median of
the rounds (smallest to largest). CPU: processor time of the process and of the sampler's. Two runs of the same plain
cell differ by more than is asked for here, so *within one run* adds up what gpuprof added: its recorded iterations over
its own later ones, the end of the `with`, and the sampler's process (first round).

{markdown(head, rows)}
"""


def _iterations(runs: Runs, names: Sequence[str]) -> str:
    rows, hooks = [], [block for run in runs.get(("own", HOOKS), []) for block in run["blocks"]]
    cpu_s = figures.hook_seconds(hooks, _CPU) if hooks else 0.0
    for name in names:
        turns = figures.turns_ratio(runs, name, _CPU)
        across = figures.iteration_ratio(runs, name, _CPU)
        iteration = runs[name, PLAIN][0]["iterations"][_CPU]
        share = cpu_s / (sum(iteration) / len(iteration)) + figures.threads_share(runs, name)
        within = _verdict(turns, figures.MOST_ITERATION)
        rows.append((name, show(turns), turns.count, show(across), f"{1 + share:.4f}", within))
    head = ("program", "in turns, CPU", "blocks", "across processes, CPU", "by the hooks alone", "in turns ≤ 1.01")
    return f"""## Iterations without the recording

Wanted: at most 1.01 × plain. *In turns*: captures begin and end in the middle of one loop; blocks of 2.5 s after the
end of their recordings, over the plain blocks on both sides (mean, 95 % interval). *Across processes*: the iterations
after the recording over the same ones of a plain run (median of the rounds, smallest to largest). *By the hooks alone*:
in a loop that does next to nothing an iteration takes {cpu_s * 1e6:.0f} µs more processor time; what that is of this
program's iteration, with the share that gpuprof's sampling threads take.

{markdown(head, rows)}
"""


def _lines(runs: Runs, names: Sequence[str]) -> str:
    rows = []
    for name in names:
        found = figures.line_shares(runs, name)
        if not found:
            continue
        held = sum(each.points <= figures.MOST_POINTS for each in found)
        worst = found[0]
        where = f"{'cell' if worst.place[0] == '0' else 'cell before'}, line {worst.place[2:]}"
        rate = runs[name, PROFILED][0]["rate_hz"]
        samples = rate * runs[name, PROFILED][0][_WALL]
        error = 100 * (2 * worst.beside * (1 - worst.beside) / max(samples, 1)) ** 0.5
        percents = [f"{100 * each:.1f} %" for each in (worst.told, worst.beside, worst.stopwatch)]
        shares = (*percents, f"{worst.points:.1f}", f"{error:.1f}")
        rows.append((name, f"{rate:.0f} Hz", f"{held} of {len(found)}", where, *shares))
    head = ("program", "rate", "within 5 points", "worst line", *_CLOCKS, "points apart", "chance, one run")
    return f"""## Shares of lines

Wanted: every line above 5 % within 5 points. Samples of the whole cell, against a copy of the program that reads a
clock at every statement: in the same run, and in a run without gpuprof (medians of the rounds). *Points apart*: from
the same run, since shares differ between two runs, too. *Chance*: the standard error of so few samples at random
times, in points.

{markdown(head, rows)}
"""


def _shares(runs: Runs, names: Sequence[str]) -> str:
    rows: list[tuple[object, ...]] = []
    for name in names:
        for part, said in (("wait", "waiting for data"), ("optimizer", "optimizer")):
            found = figures.part_share(runs, name, part)
            if found is None:
                rows.append((name, said, "not known", "", "", "", "no"))
            elif found.told or found.stopwatch:
                values = [f"{100 * each:.1f} %" for each in (found.told, found.stopwatch, found.beside)]
                held = _yes(found.points <= figures.MOST_POINTS)
                rows.append((name, said, *values, f"{found.points:.1f}", held))
    head = ("program", "share", "gpuprof", "stopwatch, plain run", "stopwatch, same run", "points apart", "≤ 5 points")
    return f"""## Waiting for data, and the optimizer

Wanted: within 5 points of a stopwatch around `next(loader)` and around `optimizer.step()` in plain runs. gpuprof speaks
of the iterations after its recording. The stopwatch of the *same run* tells what the machine did from what gpuprof did.

{markdown(head, rows)}
"""


def _sampler(runs: Runs, names: Sequence[str]) -> str:
    rows = []
    for name in names:
        share, first = figures.sampler_share(runs, name), runs[name, PROFILED][0]
        held = _yes(share <= figures.MOST_SAMPLER)
        rows.append((name, first["how"], f"{first['rate_hz']:.0f} Hz", f"{100 * share:.2f} %", held))
    return f"""## The sampler of stacks

Wanted: at most 1 % of a core. The most of the rounds.

{markdown(("program", "by", "rate", "of a core", "≤ 1 %"), rows)}
"""


def _collate(runs: Runs) -> str:
    found = runs.get(("own", COLLATE), [])
    if not found:
        return ""
    rows = []
    for over, said in (("torch", "torch.profiler alone"), ("plain", "nothing")):
        wall, cpu = (figures.collate_ratio(found, over, clock) for clock in (0, 1))
        held = _verdict(cpu, figures.MOST_COLLATE) if over == "torch" else ""
        rows.append((said, show(wall), show(cpu), cpu.count, held))
    head = ("recorded step by gpuprof, over", "wall", "CPU", "rounds", "CPU ≤ 1.15")
    return f"""## A collate that reads every token

Wanted: at most 1.15 × torch.profiler alone. `int(token)` for each of 768 tokens and 96 `.to()` a batch,
{found[0]["steps"]} steps recorded; medians of the steps, mean of the rounds with its 95 % interval.

{markdown(head, rows)}
"""


def show(ratio: Ratio) -> str:
    """`1.05 (1.02 to 1.09)`."""
    digits = 3 if ratio.value < 1.1 else 2
    return f"{ratio.value:.{digits}f} ({ratio.low:.{digits}f} to {ratio.high:.{digits}f})"


def _verdict(ratio: Ratio, most: float) -> str:
    if ratio.value <= most:
        return "yes" if ratio.high <= most else "yes, but not surely"
    return "no" if ratio.low > most else "no, but not surely"


def _yes(held: bool) -> str:
    return "yes" if held else "no"
