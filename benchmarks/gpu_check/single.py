"""One check in a process of its own: `python -m benchmarks.gpu_check.single MODULE [ARGUMENT …] --record FILE …`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from pathlib import Path

from benchmarks.gpu_check.check import AbsentError, Check
from benchmarks.gpu_check.item import Item


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_check.single")
    parser.add_argument("module")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cpu")
    parser.add_argument("--size", choices=("full", "small"), default="small")
    parser.add_argument("--limit-s", type=float, default=60.0)
    parser.add_argument("--files", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    item = Item(chosen.module, tuple(chosen.arguments))
    check = Check(
        name=item.name,
        device=chosen.device,
        size=chosen.size,
        folder=chosen.files,
        record=chosen.record,
        ends_at=time.monotonic() + chosen.limit_s,
        arguments=item.arguments,
    )
    try:
        module = importlib.import_module(f"benchmarks.gpu_check.checks.{chosen.module}")
        module.run(check)
    except AbsentError as error:
        check.write(status="absent", why=str(error))
        return 0
    except BaseException:  # noqa: BLE001 - the traceback is the result, and the other checks go on
        check.write(status="crashed", traceback=traceback.format_exc())
        traceback.print_exc()
        return 1
    check.write(finished=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
