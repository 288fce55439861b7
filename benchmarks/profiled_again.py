"""Whether a cell of a round runs to its end under gpuprof, again and again: each time in a kernel of its own.

    python -m benchmarks.profiled_again benchmarks/rounds/h/l12_raman_fit.py CURED --times 30

What depends on where a look happens to begin or end shows in some runs only.
"""

from __future__ import annotations

import argparse
import runpy
import tempfile
from pathlib import Path

from nbclient.exceptions import CellExecutionError

from benchmarks.rounds.sight import kernel, run


def main() -> None:
    """Print what failed, and how many runs did not."""
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("cell", type=Path)
    given.add_argument("which", choices=["FAULTY", "CURED", "GOOD"])
    given.add_argument("--times", type=int, default=10)
    options = given.parse_args()
    source, passed = str(runpy.run_path(str(options.cell))[options.which]).lstrip("\n"), 0
    for _ in range(options.times):
        with tempfile.TemporaryDirectory() as folder, kernel(Path(folder)) as client:
            run(client, "%load_ext gpuprof")
            try:
                run(client, f"%%gpuprofile --display text\n{source}")
                passed += 1
            except CellExecutionError as error:
                print(str(error).splitlines()[-1], flush=True)
    print(f"{passed} of {options.times} runs came to their end")


if __name__ == "__main__":
    main()
