"""Of what the processor does in iterations that are not recorded: how much of it is gpuprof's own.

A run of a minute under `gpuprof.profile()`, with py-spy beside it, which reads the stacks of all threads from outside.
What runs once (starting, ending, the window, the close look, imports) is told apart. The thread that reads the process
tells its own processor time, which is exact: py-spy may count it as running while it waits for the GIL or a core.
Blocks of plain and watched iterations (`worker NAME turns`) show all effects together, but scatter by more than is
asked for; this scatters by the root of the number of samples.

python -m benchmarks.observer.attributed NAME [--programs FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.observer.adapters import ADAPTERS
from benchmarks.observer.programs import default_folder, programs, source
from benchmarks.proving.fresh import write_json

RATE_HZ = 300
HOOKS, LOOKS, READINGS, USER, ONCE = (
    "hooks",
    "looks on the main thread",
    "thread that reads the process",
    "user",
    "once",
)
_OWN = "gpuprof/"
_ONCE = (
    *("session/session.py", "look/close_look.py", "look/mode_stack.py", "look/look_watch.py", "profiler/kineto.py"),
    *("look/operator_log.py", "look/operator_seen.py", "look/values.py"),
    # while kernels are recorded
    "stacks/thread_sampler.py",
    *("profiler/trace_file.py", "<frozen importlib", "gpuprof/ingest/", "gpuprof/profiling/", "gpuprof/analyses/"),
)
# py-spy leaves out the first folders of a path
_USERS = ("torch/", "benchmarks/", "observer/")
# each with the frame that tells it
_KINDS = (("base/main_thread.py", LOOKS), ("process/host_sampler.py", READINGS), ("gpuprof/capture/", HOOKS))


def kind_of(stack: list[str]) -> str:
    """What runs, by the frames of one stack, outermost first. Below a hook the user's own code goes on: it is the
    user's."""
    own = [at for at, frame in enumerate(stack) if _OWN in frame and "benchmarks/" not in frame]
    if not own:
        return USER
    if any(part in frame for frame in stack[own[0] :] for part in _ONCE):
        return ONCE
    kind = next((kind for part, kind in _KINDS if any(part in stack[at] for at in own)), ONCE)
    below = stack[own[-1] + 1 :]
    goes_on = any(part in frame for frame in below for part in _USERS)
    return USER if kind == HOOKS and (goes_on or _calls_on(stack[own[-1]])) else kind


def _calls_on(frame: str) -> bool:
    """Whether it is a wrapper that py-spy saw between itself and what it wraps."""
    return "timed_fetch" in frame


def shares(lines: Iterable[str]) -> dict[str, float]:
    """Of the samples on other threads than the reading one, without those of what runs once, from py-spy's raw format:
    `outer;inner 12`."""
    found = Counter[str]()
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        found[kind_of(stack.split(";"))] += int(count)
    steady = found.total() - found[ONCE] - found[READINGS]
    return {kind: found[kind] / steady for kind in (HOOKS, LOOKS)} if steady else {}


def main() -> None:
    parser = argparse.ArgumentParser(description="gpuprof's own share of the processor")
    parser.add_argument("name", choices=sorted(ADAPTERS))
    parser.add_argument("--programs", type=Path, default=default_folder())
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.play:
        _play(chosen.name, chosen.programs, chosen.play)
        return
    with tempfile.TemporaryDirectory() as folder:
        raw, told = Path(folder) / "raw", Path(folder) / "told"
        programs_at = ["--programs", str(chosen.programs)]
        again = [sys.executable, "-m", __spec__.name, chosen.name, *programs_at, "--play", str(told)]
        spy = [
            str(Path(sys.executable).with_name("py-spy")),
            "record",
            "--nonblocking",
            "-r",
            str(RATE_HZ),
            "-f",
            "raw",
        ]
        subprocess.run([*spy, "-o", str(raw), "--", *again], check=True, stdout=subprocess.DEVNULL)
        found = shares(raw.read_text().splitlines()) | {READINGS: json.loads(told.read_text())["threads_share"]}
    each = ", ".join(f"{kind} {share:.2%}" for kind, share in found.items())
    print(f"{chosen.name}: {each}; in all {sum(found.values()):.2%}")


def _play(name: str, folder: Path, output: Path) -> None:
    from benchmarks.observer.worker import PROFILED, play

    text = source(programs()[name], folder.resolve())
    with tempfile.TemporaryDirectory() as work:
        write_json(output, play(text, ADAPTERS[name].for_a_minute(), PROFILED, Path(work)))
        os.chdir("/")


if __name__ == "__main__":
    main()
