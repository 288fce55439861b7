"""What `fused=True` saves in healthy cells of earlier rounds: processor time, the least of three runs each, in turns.

    python benchmarks/fused_optimizers.py

One machine with two cores, torch 2.13 on the CPU, one thread, 2026-11-23 (foreseen: in one report each, on that day):

    | cell | foreseen | measured |
    |---|---|---|
    | k02_two_task_surgery | 9.3 % | 8.9 % |
    | h24_credit_checkpoints | 7.5 % | 7.6 % |
    | h19_ticket_router | 4.0 % | 2.3 % |
    | h08_sam_materials | 2.5 % | 1.9 % |
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

ROUNDS = Path(__file__).parent / "rounds"
CELLS = ("g/k02_two_task_surgery", "f/h24_credit_checkpoints", "f/h19_ticket_router", "f/h08_sam_materials")
RUN = """import resource, sys
exec(compile(sys.stdin.read(), "cell", "exec"), {"__name__": "__main__"})
used = resource.getrusage(resource.RUSAGE_SELF)
print("\\nseconds", used.ru_utime + used.ru_stime)
"""


def seconds(source: str) -> float:
    """Processor time of the cell in a process of its own."""
    done = subprocess.run([sys.executable, "-P", "-c", RUN], input=source, capture_output=True, text=True, check=True)
    return float(done.stdout.rpartition("seconds ")[2])


def main() -> None:
    """Print a line for each cell."""
    for name in CELLS:
        plain = runpy.run_path(str(ROUNDS / f"{name}.py"))["GOOD"]
        fused = re.sub(r"(torch\.optim\.\w+\(.*)\)\n", r"\1, fused=True)\n", plain, count=1)
        runs = [(seconds(plain), seconds(fused)) for _ in range(3)]
        before, after = (min(each) for each in zip(*runs, strict=True))
        print(
            f"{name.partition('/')[2]}: {before:.2f} s, fused {after:.2f} s, {1 - after / before:.1%} saved", flush=True
        )


if __name__ == "__main__":
    main()
